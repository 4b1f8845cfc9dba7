package main

import "testing"

func TestPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples  int
		interval float64
		want     string
	}{
		{1, 1, "one every clock"}, {1, 12.5, "one every 12.5 clocks"}, {4, 1, "4 every clock"},
		{1024, 2000, "1,024 every 2,000 clocks"},
	} {
		if got := pace(c.samples, c.interval); got != c.want {
			t.Errorf("%d samples every %v: %q, want %q", c.samples, c.interval, got, c.want)
		}
	}
}
