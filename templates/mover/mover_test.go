package mover_test

import (
	"testing"

	"hlsgen/internal/tier"
	"hlsgen/templates/mover"
)

// configs are movers that differ in all that a parameter can change: words narrower than the bus, as wide, wider, powers
// of two and others; short and long bursts, one at a time and many; frames of one word and of many.
func configs() (list []instance) {
	for _, c := range []struct {
		name string
		mover.Config
		steps int
	}{
		{"w32s1", mover.Config{DataBits: 32, StreamBytes: 1, MaxBeats: 16, Outstanding: 2, FrameBytes: 5}, 7},
		{"w32s17", mover.Config{DataBits: 32, StreamBytes: 17, MaxBeats: 4, Outstanding: 1, FrameBytes: 34}, 3},
		{"w64s8", mover.Config{DataBits: 64, StreamBytes: 8, MaxBeats: 16, Outstanding: 4, FrameBytes: 64}, 5},
		{"w64s3", mover.Config{DataBits: 64, StreamBytes: 3, MaxBeats: 16, Outstanding: 3, FrameBytes: 3}, 40},
		{"w64s20", mover.Config{DataBits: 64, StreamBytes: 20, MaxBeats: 128, Outstanding: 2, FrameBytes: 20}, 9},
		{"w128s16", mover.Config{DataBits: 128, StreamBytes: 16, MaxBeats: 64, Outstanding: 4, FrameBytes: 784}, 3},
		{"w128s6", mover.Config{DataBits: 128, StreamBytes: 6, MaxBeats: 256, Outstanding: 4, FrameBytes: 66}, 6},
		{"w256s64", mover.Config{DataBits: 256, StreamBytes: 64, MaxBeats: 2, Outstanding: 8, FrameBytes: 128}, 4},
		{"w512s4", mover.Config{DataBits: 512, StreamBytes: 4, MaxBeats: 16, Outstanding: 2, FrameBytes: 20}, 11},
		{"w512s100", mover.Config{DataBits: 512, StreamBytes: 100, MaxBeats: 64, Outstanding: 2, FrameBytes: 300}, 3},
	} {
		for _, c.Writes = range []bool{false, true} {
			c.Steps, c.Hash = c.steps, 0x0123456789abcdef
			name := "read-" + c.name
			if c.Writes {
				name = "write-" + c.name
			}
			list = append(list, instance{name: name, Config: c.Config, steps: c.steps})
		}
	}
	return list
}

// TestTransfers: random transfers, with stalls and without, of random lengths at random addresses, and such with something
// wrong: every byte is where it belongs, every error is in the register, and the monitor has nothing to say.
func TestTransfers(t *testing.T) {
	t.Parallel()
	b := build(t, configs())
	transfers := 25
	if tier.Full() {
		transfers = 10000 / len(b.list)
	}
	if tier.Long() {
		transfers *= 10
	}
	for k, r := range b.run(t, 1, transfers, "any") {
		if len(r.faults) > 0 || r.moved != transfers {
			t.Errorf("%s: %d of %d transfers, %q", b.list[k].name, r.moved, transfers, r.faults)
		}
	}
}
