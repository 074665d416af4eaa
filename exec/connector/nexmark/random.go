package nexmark

import "math"

// dice are the numbers that an event's fields draw: each field its own, so that none depends on which others were drawn.
type dice uint8

const (
	dieHotSeller dice = iota
	dieSeller
	dieCategory
	dieInitialBid
	dieReserve
	dieExpires
	dieItem
	dieDescription
	dieAuctionExtra
	dieHotAuction
	dieAuction
	dieHotBidder
	dieBidder
	diePrice
	dieHotChannel
	dieChannel
	dieURL
	dieQuery
	dieBidExtra
	dieFirstName
	dieLastName
	dieMailbox
	dieHost
	dieCard
	dieCity
	dieState
	diePersonExtra
	numDice
)

// roll gives 64 random bits for one field of one event: SplitMix64's finish of their number.
func roll(event int64, d dice) uint64 {
	x := (uint64(event)*uint64(numDice) + uint64(d) + 1) * 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// below gives a number from 0 to n-1; n is less than 2^32.
func below(bits uint64, n int64) int64 { return int64((bits >> 32) * uint64(n) >> 32) }

// draw is a number from 0 to n-1 for one field of one event.
func draw(event int64, d dice, n int64) int64 { return below(roll(event, d), n) }

// priceSteps is how finely each of the two factors of a price is drawn.
const priceSteps = 1 << 11

// prices are the two factors of a price: 10^(6u)*100 for u in coarse steps, and 10^(6u) within one of them.
var prices = func() (t [2][priceSteps]float64) {
	for i := range t[0] {
		t[0][i] = 100 * math.Pow(10, 6*float64(i)/priceSteps)
		t[1][i] = math.Pow(10, 6*float64(i)/priceSteps/priceSteps)
	}
	return t
}()

// price draws a price in cents, 100 to 100 million, its logarithm uniform.
func price(event int64, d dice) int64 {
	r := roll(event, d)
	return int64(prices[0][r>>53]*prices[1][r>>42&(priceSteps-1)] + 0.5)
}

// The texts that nobody reads are cut from two pools, which repeat after poolSize: letters, and words, which have a space here and there.
const poolSize = 1 << 16

var letters, words = pool(false), pool(true)

func pool(spaces bool) []byte {
	p := make([]byte, 2*poolSize)
	for i := range poolSize {
		r := roll(int64(i), 0)
		p[i] = 'a' + byte(below(r<<16, 26))
		if spaces && below(r, 13) == 0 {
			p[i] = ' '
		}
	}
	copy(p[poolSize:], p[:poolSize])
	return p
}

// cut gives n bytes of a pool, n at most poolSize.
func cut(pool []byte, bits uint64, n int) []byte {
	at := int(bits & (poolSize - 1))
	return pool[at : at+n]
}

// text cuts a text of 3 to limit-1 bytes.
func text(pool []byte, bits uint64, limit int64) []byte {
	return cut(pool, bits, int(3+below(bits, limit-3)))
}

// extraSize gives the length of the text that brings an event of size have to about want: up to a fifth more or less of what is missing.
func extraSize(bits uint64, have, want int) int {
	if have >= want {
		return 0
	}
	missing := want - have
	delta := (missing + 2) / 5
	if delta == 0 {
		return missing
	}
	return missing - delta + int(below(bits, int64(2*delta)))
}
