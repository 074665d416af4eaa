package catalog

import "slices"

// PastDelay is a delay that a watermark had.
type PastDelay struct {
	Until       uint64 // the last epoch with it, that of the ALTER
	DelayMicros int64
}

// Altered gives the watermark that w becomes with epoch n: from the next one on it has the delay of to, and remembers the one before if that is another. Neither is changed.
func (w *Watermark) Altered(to *Watermark, n uint64) *Watermark {
	out := *to
	out.Past = slices.Clip(w.Past)
	if k := len(out.Past); w.DelayMicros != to.DelayMicros && (k == 0 || out.Past[k-1].Until < n) {
		out.Past = append(out.Past, PastDelay{n, w.DelayMicros})
	}
	return &out
}

// DelayIn gives the delay in epoch n, microseconds.
func (w *Watermark) DelayIn(n uint64) int64 {
	delay := w.DelayMicros
	for _, p := range slices.Backward(w.Past) { // most ask for the newest
		if n > p.Until {
			break
		}
		delay = p.DelayMicros
	}
	return delay
}

// Delay says by what a watermark that a column carries is behind the greatest event time: by the greatest of Micros and the delays of the streams in
// the epoch at hand, which ALTER may change. It is immutable.
type Delay struct {
	Streams []OID `json:",omitempty"` // ascending
	Micros  int64 `json:",omitempty"`
}

// Or gives the greater of two delays.
func (d Delay) Or(o Delay) Delay {
	all := slices.Concat(d.Streams, o.Streams)
	slices.Sort(all)
	return Delay{slices.Compact(all), max(d.Micros, o.Micros)}
}

// In gives the delay when a stream's is of(stream), microseconds.
func (d Delay) In(of func(stream OID) int64) int64 {
	most := d.Micros
	for _, s := range d.Streams {
		most = max(most, of(s))
	}
	return most
}

// DelayIn gives the delay of a stream's watermark in epoch n, microseconds; 0 if there is no such stream, or none of its watermark.
func (c *Catalog) DelayIn(stream OID, n uint64) int64 {
	if r := c.ByOID(stream); r != nil && r.Watermark != nil {
		return r.Watermark.DelayIn(n)
	}
	return 0
}
