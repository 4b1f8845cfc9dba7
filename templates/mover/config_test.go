package mover_test

import (
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/mover"
)

// TestOf checks that a stream's mover has its words and frames, and bursts of 1 KiB on a bus with such bursts.
func TestOf(t *testing.T) {
	t.Parallel()
	port := func(tdata, words int) templates.AXIStreamPort {
		return templates.AXIStreamPort{Name: "in0", TDATA: tdata, Port: dataflow.Port{Words: words}}
	}
	for _, c := range []struct {
		name                   string
		port                   templates.AXIStreamPort
		dataBits, beats, steps int
		stream, frame, burst   int // 0: it is refused
	}{
		{"Zynq-7000", port(8, 10), 64, 16, 5, 1, 2, 16},
		{"ZynqMP", port(24, 10), 128, 64, 1, 3, 30, 64},
		{"Alveo", port(1024, 7), 512, 16, 7, 128, 128, 16},
		{"narrow", port(8, 1), 32, 256, 1, 1, 1, 256},
		{"no such bus", port(8, 10), 96, 64, 1, 0, 0, 0},
		{"too wide a bus", port(8, 10), 1024, 8, 1, 0, 0, 0},
		{"no such burst", port(8, 10), 64, 24, 1, 0, 0, 0},
		{"no words", port(8, 0), 64, 16, 1, 0, 0, 0},
		{"no such steps", port(8, 10), 64, 16, 3, 0, 0, 0},
		{"no steps", port(8, 10), 64, 16, 0, 0, 0, 0},
	} {
		got, err := mover.ConfigForStream(c.port, true, c.dataBits, c.beats, c.steps, 0xfedcba9876543210)
		if (err != nil) != (c.burst == 0) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := mover.Config{Writes: true, DataBits: c.dataBits, StreamBytes: c.stream, MaxBeats: c.burst,
			Outstanding: 4, FrameBytes: c.frame, Steps: c.steps, Hash: 0xfedcba9876543210}
		if err == nil && got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// TestParameters checks that the parameters are those of the modules. Only a mover that writes bounds the steps itself.
func TestParameters(t *testing.T) {
	t.Parallel()
	c := mover.Config{DataBits: 64, StreamBytes: 3, MaxBeats: 16, Outstanding: 2, FrameBytes: 9, Steps: 7, Hash: 0xab}
	want := []mover.ModuleParameter{{"DATA_BITS", "64"}, {"STREAM_BYTES", "3"}, {"MAX_BEATS", "16"}, {"OUTSTANDING",
		"2"},
		{"FRAME_BYTES", "9"}, {"PERIOD", "0"}, {"HASH", "64'h00000000000000ab"}}
	if got := c.ModuleParameters(); !slices.Equal(got, want) || c.ModuleName() != "hlsgen_read" {
		t.Errorf("%s has %v, want %v", c.ModuleName(), got, want)
	}
	c.Writes = true
	want[5] = mover.ModuleParameter{Name: "STEPS", Value: "7"}
	if got := c.ModuleParameters(); !slices.Equal(got, want) || c.ModuleName() != "hlsgen_write" {
		t.Errorf("%s has %v, want %v", c.ModuleName(), got, want)
	}
	c.Reports = true
	want = append(want, mover.ModuleParameter{Name: "REPORTS", Value: "1'b1"})
	if got := c.ModuleParameters(); !slices.Equal(got, want) {
		t.Errorf("one that reports has %v, want %v", got, want)
	}
	if c.Writes = false; mover.SourceFiles().ContentsOf(c.ModuleName()+".sv") == nil {
		t.Errorf("there is no file of %s", c.ModuleName())
	}
}
