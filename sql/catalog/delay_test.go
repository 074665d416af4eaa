package catalog

import "testing"

// Epochs have the delay that was in force, that of an ALTER still the one before it, whatever came of the same epoch.
func TestDelayIn(t *testing.T) {
	w := &Watermark{DelayMicros: 10}
	first := w.Altered(&Watermark{DelayMicros: 20}, 5)
	both := first.Altered(&Watermark{DelayMicros: 30}, 9).Altered(&Watermark{DelayMicros: 40}, 9)
	for n, want := range map[uint64]int64{0: 10, 5: 10, 6: 20, 9: 20, 10: 40, 1 << 60: 40} {
		if got := both.DelayIn(n); got != want {
			t.Errorf("epoch %d: %d, want %d", n, got, want)
		}
	}
	if same := both.Altered(&Watermark{DelayMicros: 40, IdleMicros: 1}, 12); len(same.Past) != 2 || same.IdleMicros != 1 || same.DelayIn(7) != 20 || same.DelayIn(13) != 40 {
		t.Errorf("the delay that it has: %+v", same)
	}
	other := first.Altered(&Watermark{DelayMicros: 50}, 7) // does not write over both's past
	if w.DelayIn(1) != 10 || first.DelayIn(6) != 20 || first.DelayIn(10) != 20 || other.DelayIn(10) != 50 || both.DelayIn(9) != 20 {
		t.Error("a watermark was changed by its ALTER")
	}
}
