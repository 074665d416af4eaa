package nexmark

import (
	"math/bits"
	"strconv"
	"sync"
)

// channels is how many channels there are beside the hot ones.
const channels = 10_000

var hotChannels = [...]string{"Google", "Facebook", "Baidu", "Apple"}

// bidFields are the columns of a bid, in the published order.
var bidFields = []field{
	{"auction", integer, ints(func(m *model, id int64) int64 {
		if draw(id, dieHotAuction, m.hotAuction) > 0 {
			return m.firstAuction + m.lastAuction(id)/m.auctionGroup*m.auctionGroup
		}
		return m.firstAuction + m.someAuction(id, dieAuction)
	})},
	{"bidder", integer, ints(func(m *model, id int64) int64 {
		if draw(id, dieHotBidder, m.hotBidder) > 0 {
			return m.firstPerson + m.lastPerson(id)/m.bidderGroup*m.bidderGroup + 1
		}
		return m.firstPerson + m.somePerson(id, dieBidder)
	})},
	{"price", integer, ints(func(_ *model, id int64) int64 { return price(id, diePrice) })},
	{"channel", characters, texts(func(m *model, dst []byte, id int64) []byte {
		n, hot := m.channel(id)
		if hot {
			return append(dst, hotChannels[n]...)
		}
		return strconv.AppendInt(append(dst, "channel-"...), n, 10)
	})},
	{"url", characters, texts(func(m *model, dst []byte, id int64) []byte {
		n, hot := m.channel(id)
		if hot {
			n += channels
		}
		return append(dst, addresses()[n]...)
	})},
	{"date_time", timestamp, eventTime},
	{"extra", characters, texts(func(m *model, dst []byte, id int64) []byte {
		r := roll(id, dieBidExtra)
		return append(dst, cut(letters, r, extraSize(r, 8*4, int(m.bidSize)))...)
	})},
}

// channel draws where a bid came from: a hot channel, or one of the others.
func (m *model) channel(id int64) (n int64, hot bool) {
	if draw(id, dieHotChannel, m.hotChannel) > 0 {
		return draw(id, dieChannel, int64(len(hotChannels))), true
	}
	return draw(id, dieChannel, channels), false
}

// addresses has the address of each channel, the hot ones last.
var addresses = sync.OnceValue(func() [][]byte {
	all := make([][]byte, channels+len(hotChannels))
	for i := range all {
		all[i] = address(int64(i))
	}
	return all
})

// address makes the address of a channel. Nine in ten of those that are not hot name their channel in it.
func address(channel int64) []byte {
	r := roll(channel, dieURL)
	dst := []byte("https://www.nexmark.com/")
	for i := range uint(3) {
		dst = append(append(dst, cut(letters, r>>(16*i), 5)...), '/')
	}
	dst = append(dst, "item.htm?query=1"...)
	if channel < channels && draw(channel, dieQuery, 10) > 0 {
		dst = append(dst, "&channel_id="...)
		n := int64(int32(bits.Reverse32(uint32(channel))))
		dst = strconv.AppendInt(dst, max(n, -n), 10)
	}
	return dst
}
