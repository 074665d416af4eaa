package nexmark

// Limits of the texts of an auction.
const (
	itemLimit        = 20
	descriptionLimit = 100
)

// auctionFields are the columns of an auction, in the published order.
var auctionFields = []field{
	{"id", integer, ints(func(m *model, id int64) int64 { return m.lastAuction(id) + m.firstAuction })},
	{"item_name", characters, texts(func(_ *model, dst []byte, id int64) []byte {
		return append(dst, text(words, roll(id, dieItem), itemLimit)...)
	})},
	{"description", characters, texts(func(_ *model, dst []byte, id int64) []byte {
		return append(dst, text(words, roll(id, dieDescription), descriptionLimit)...)
	})},
	{"initial_bid", integer, ints(func(_ *model, id int64) int64 { return price(id, dieInitialBid) })},
	{"reserve", integer, ints(func(_ *model, id int64) int64 { return price(id, dieInitialBid) + price(id, dieReserve) })},
	{"date_time", timestamp, eventTime},
	{"expires", timestamp, ints(func(m *model, id int64) int64 { return 1000 * m.expires(id) })},
	{"seller", integer, ints((*model).seller)},
	{"category", integer, ints(func(m *model, id int64) int64 { return m.firstCategory + draw(id, dieCategory, m.categories) })},
	{"extra", characters, texts(auctionExtra)},
}

// expires gives when an auction ends, in milliseconds: about when as many have begun as are to be in flight.
func (m *model) expires(id int64) int64 {
	t := m.millis(id)
	horizon := m.millis(id+m.inFlight*m.round()/m.auctions) - t
	return t + 1 + draw(id, dieExpires, max(2*horizon, 1))
}

func (m *model) seller(id int64) int64 {
	if draw(id, dieHotSeller, m.hotSeller) > 0 {
		return m.firstPerson + m.lastPerson(id)/m.sellerGroup*m.sellerGroup
	}
	return m.firstPerson + m.somePerson(id, dieSeller)
}

// auctionExtra brings an auction to the size that the configuration asks for: 8 bytes of each number and time, and its texts.
func auctionExtra(m *model, dst []byte, id int64) []byte {
	have := 8*7 + len(text(words, roll(id, dieItem), itemLimit)) + len(text(words, roll(id, dieDescription), descriptionLimit))
	r := roll(id, dieAuctionExtra)
	return append(dst, cut(letters, r, extraSize(r, have, int(m.auctionSize)))...)
}
