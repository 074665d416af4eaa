package nexmark

import "github.com/tidemarkdb/tidemark/sql/batch"

// kind is which of the three an event is.
type kind uint8

const (
	person kind = iota
	auction
	bid
)

func (k kind) String() string { return [...]string{"Person", "Auction", "Bid"}[k] }

// model is what the events are like: the published generator's configuration.
type model struct {
	people, auctions, bids int64 // of each round of events
	baseTime               int64 // of event 0, milliseconds since 1970
	rate                   int64 // events a second of event time
	outOfOrder             int64 // the size of the groups within which events are shuffled

	activePeople, inFlight           int64
	personLead, auctionLead          int64
	hotSeller, hotAuction, hotBidder int64 // one in so many is not hot
	hotChannel                       int64
	sellerGroup                      int64 // one in so many ids is a hot one
	auctionGroup                     int64
	bidderGroup                      int64
	firstPerson, firstAuction        int64
	firstCategory, categories        int64
	personSize, auctionSize, bidSize int64
	firstEvent                       int64 // what the first event's number is
}

// round is how many events have the proportions.
func (m *model) round() int64 { return m.people + m.auctions + m.bids }

// kindOf says what an event is, by its place in its round.
func (m *model) kindOf(id int64) kind {
	switch at := id % m.round(); {
	case at < m.people:
		return person
	case at < m.people+m.auctions:
		return auction
	}
	return bid
}

// id gives the number of the event that comes n-th: events are shuffled within their group.
func (m *model) id(n int64) int64 {
	n += m.firstEvent
	if m.outOfOrder <= 1 {
		return n
	}
	return n - n%m.outOfOrder + n*953%m.outOfOrder
}

// millis gives an event's time.
func (m *model) millis(id int64) int64 { return m.baseTime + id*1000/m.rate }

// lastPerson gives the last person before or at an event, from 0.
func (m *model) lastPerson(id int64) int64 {
	return id/m.round()*m.people + min(id%m.round(), m.people-1)
}

// lastAuction gives the last auction before or at an event, from 0; -1 if there is none.
func (m *model) lastAuction(id int64) int64 {
	round, at := id/m.round(), id%m.round()
	if at < m.people {
		return round*m.auctions - 1
	}
	return round*m.auctions + min(at-m.people, m.auctions-1)
}

// somePerson draws one of those who are active, or of those who will come next.
func (m *model) somePerson(id int64, d dice) int64 {
	all := m.lastPerson(id) + 1
	active := min(all, m.activePeople)
	return all - active + draw(id, d, active+m.personLead)
}

// someAuction draws one of those that are in flight, or of those that will come next.
func (m *model) someAuction(id int64, d dice) int64 {
	last := m.lastAuction(id)
	first := max(last-m.inFlight, 0)
	return first + draw(id, d, last-first+1+m.auctionLead)
}

// fill appends one column of the events ids.
type fill func(m *model, v *batch.Vector, ids []int64)

// ints makes a fill of a number.
func ints(f func(m *model, id int64) int64) fill {
	return func(m *model, v *batch.Vector, ids []int64) {
		v.Resize(len(ids))
		for i, id := range ids {
			v.I64[i] = f(m, id)
		}
	}
}

// texts makes a fill of a text, which f appends.
func texts(f func(m *model, dst []byte, id int64) []byte) fill {
	return func(m *model, v *batch.Vector, ids []int64) {
		for _, id := range ids {
			v.Data = f(m, v.Data, id)
			v.Off = append(v.Off, uint32(len(v.Data)))
		}
		v.N = len(ids)
	}
}

// eventTime fills an event's time.
var eventTime = ints(func(m *model, id int64) int64 { return 1000 * m.millis(id) })
