package mover_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/mover"
)

// configs are movers that differ in all that a parameter can change: words narrower than the bus, as wide, wider,
// powers of two and others; short and long bursts, one at a time and many; frames of one word and of many.
func configs() (list []instance) {
	for _, c := range []struct {
		name string
		mover.Config
		steps int
	}{
		{"w64s8", mover.Config{DataBits: 64, StreamBytes: 8, MaxBeats: 16, Outstanding: 4, FrameBytes: 64}, 5},
		{"w64s8again", mover.Config{DataBits: 64, StreamBytes: 8, MaxBeats: 16, Outstanding: 4, FrameBytes: 120,
			Period: 1080}, 3},
		{"w128s3again", mover.Config{DataBits: 128, StreamBytes: 3, MaxBeats: 64, Outstanding: 4, FrameBytes: 30,
			Period: 240}, 5},
		{"w128s20", mover.Config{DataBits: 128, StreamBytes: 20, MaxBeats: 64, Outstanding: 4, FrameBytes: 20}, 9},
		{"w32s17", mover.Config{DataBits: 32, StreamBytes: 17, MaxBeats: 4, Outstanding: 1, FrameBytes: 34}, 3},
		{"w64s3", mover.Config{DataBits: 64, StreamBytes: 3, MaxBeats: 128, Outstanding: 3, FrameBytes: 3}, 40},
		{"w512s4", mover.Config{DataBits: 512, StreamBytes: 4, MaxBeats: 256, Outstanding: 2, FrameBytes: 20}, 11},
		{"w32s1", mover.Config{DataBits: 32, StreamBytes: 1, MaxBeats: 16, Outstanding: 2, FrameBytes: 5}, 7},
		{"w128s16", mover.Config{DataBits: 128, StreamBytes: 16, MaxBeats: 16, Outstanding: 4, FrameBytes: 784}, 3},
		{"w256s64", mover.Config{DataBits: 256, StreamBytes: 64, MaxBeats: 2, Outstanding: 8, FrameBytes: 128}, 4},
	} {
		for _, c.Writes = range []bool{false, true} {
			if c.Writes && c.Period > 0 {
				continue
			}
			c.Steps, c.Hash = c.steps, 0x0123456789abcdef
			c.Reports = c.Writes && c.DataBits >= mover.MinReportBits
			name := "read-" + c.name
			if c.Writes {
				name = "write-" + c.name
			}
			list = append(list, instance{name: name, Config: c.Config, steps: c.steps})
		}
	}
	return list
}

// TestTransfers runs random transfers, with stalls and without, of random lengths at random addresses, and faulty ones.
// Every byte must be in its place, every error in the register, and the monitor must report nothing. If neither the
// memory nor the stream stalls, at least 95 % of the clocks from the first beat of a transfer to its last one must move
// a beat.
func TestTransfers(t *testing.T) {
	t.Parallel()
	list, transfers, optimise := configs(), 50, "-O0"
	switch {
	case tier.Long():
		transfers, optimise = 5000, "-O1"
	case tier.Full():
		list, transfers, optimise = list[:10], 1000, "-O1"
	default:
		list = list[:4]
	}
	b := build(t, list, optimise)
	for k, r := range b.run(t, 1, transfers, "any") {
		if len(r.faults) > 0 || r.moved != transfers {
			t.Errorf("%s: %d of %d transfers, %q", b.list[k].name, r.moved, transfers, r.faults)
		}
	}
	for k, r := range b.run(t, 1, 1, "fast") {
		i := b.list[k]
		if len(r.faults) > 0 || r.moved != 1 || r.beats < 65536*8/i.DataBits {
			t.Errorf("%s: %d beats, %q", i.name, r.beats, r.faults)
		}
		t.Logf("%s: %d beats in %d clocks, %.1f %%", i.name, r.beats, r.clocks, 100*float64(r.beats)/float64(r.clocks))
		if i.StreamBytes*8 >= i.DataBits && i.MaxBeats*i.Outstanding >= 64 && 100*r.beats < 95*r.clocks {
			t.Errorf("%s: %d beats in %d clocks", i.name, r.beats, r.clocks)
		}
	}
}

// planted lists faults in the SystemVerilog, each with the monitor's name for it.
var planted = []struct {
	is     string
	writes bool
	mutant
}{
	{"4KB", false, mutant{"hlsgen_read.sv", "MAX_BEATS * BYTES > 4096 ? 4096 / BYTES : MAX_BEATS", "MAX_BEATS"}},
	{"4KB", true, mutant{"hlsgen_write.sv", "MAX_BEATS * BYTES > 4096 ? 4096 / BYTES : MAX_BEATS", "MAX_BEATS"}},
	{"length", true, mutant{"hlsgen_write.sv", "4096 / BYTES : MAX_BEATS", "4096 / BYTES : 2 * MAX_BEATS"}},
	{"size", false, mutant{"hlsgen_read.sv", "arsize = 3'(BEAT)", "arsize = 3'(BEAT - 1)"}},
	{"range", false, mutant{"hlsgen_read.sv", "OWED'(BYTES - 1))", "OWED'(BYTES))"}},
	{"range again", false, mutant{"hlsgen_read.sv", "again ? first : at", "at"}},
	{"stable AR", false, mutant{"hlsgen_read.sv", "        if (may) begin\n", "        begin\n"}},
	{"stable AW", true, mutant{"hlsgen_write.sv", "if (may) m_axi_gmem_awvalid <= ask", "m_axi_gmem_awvalid <= ask"}},
	{"stable W", true, mutant{"hlsgen_write.sv", "m_axi_gmem_wvalid && m_axi_gmem_wready", "m_axi_gmem_wvalid"}},
	{"stable T", false, mutant{"hlsgen_mover_gearbox.sv", "gives = out_valid && out_ready", "gives = out_valid"}},
	{"stable B", true, mutant{"hlsgen_mover_control.sv", "if (!bvalid || bready) bvalid", "bvalid"}},
	{"stable R", false, mutant{"hlsgen_mover_control.sv", "if (!rvalid || rready) rvalid", "rvalid"}},
	{"wlast", true, mutant{"hlsgen_write.sv", "wlast = sent_end || &pop_at", "wlast = &pop_at"}},
	{"strobe", true, mutant{"hlsgen_write.sv", "sent_end ? last_keep : {BYTES{1'b1}}", "{BYTES{1'b1}}"}},
	{"orphan", true, mutant{"hlsgen_write.sv", "there && granted != '0", "there"}},
	{"outstanding", true, mutant{"hlsgen_write.sv", " && asked != ASKED'(OUTSTANDING) && may", " && may"}},
	{"response", true, mutant{"hlsgen_write.sv", "ready == '0 && asked == '0", "ready == '0 && !m_axi_gmem_awvalid"}},
	{"data kept", true, mutant{"hlsgen_mover_control.sv", "start && !(REPORTS && frames == 32'd0)", "start"}},
	{"data report", true, mutant{"hlsgen_write.sv", "'({error, HASH})", "'({error, 64'd0})"}},
	{"stuck report", true, mutant{"hlsgen_write.sv", "beat_end = moved_end || reports", "beat_end = moved_end"}},
	{"strobe report", true, mutant{"hlsgen_write.sv", "moved_keep | {BYTES{reports}}", "moved_keep"}},
}

// TestPlanted checks that the monitor reports each planted fault before anything else does, under its name. RLAST at a
// wrong place is a fault of the memory alone, and is planted there.
func TestPlanted(t *testing.T) {
	t.Parallel()
	var list []instance
	for k, p := range planted {
		i := instance{name: fmt.Sprintf("planted%d", k), steps: 5, mutant: p.mutant}
		i.Config = mover.Config{Writes: p.writes, DataBits: 64, StreamBytes: 4, MaxBeats: 8, Outstanding: 2,
			FrameBytes: 20, Steps: 5}
		switch p.is {
		case "4KB":
			i.DataBits, i.StreamBytes, i.MaxBeats, i.FrameBytes = 512, 64, 128, 448
		case "range again":
			i.Period = 40
		case "data kept", "data report", "stuck report", "strobe report":
			i.DataBits, i.Hash, i.Reports = 128, 0x0123456789abcdef, true
		case "outstanding":
			i.StreamBytes, i.FrameBytes, i.MaxBeats = 8, 24, 2
		}
		list = append(list, i)
	}
	sound := instance{name: "sound", steps: 5}
	sound.Config = mover.Config{DataBits: 64, StreamBytes: 4, MaxBeats: 8, Outstanding: 2, FrameBytes: 20}
	b := build(t, append(list, sound), "-O0")
	for k, r := range b.run(t, 1, 100, "any") {
		switch {
		case k == len(planted):
			if len(r.faults) > 0 {
				t.Errorf("without a fault there is %q", r.faults)
			}
		case len(r.faults) == 0 || !strings.HasPrefix(planted[k].is+" ", r.faults[0]+" "):
			t.Errorf("%s in %s: the monitor tells %q", planted[k].is, planted[k].file, r.faults)
		}
	}
	r := b.run(t, 1, 100, "any", "rlast")[len(planted)]
	if !slices.Contains(r.faults, "rlast") {
		t.Errorf("rlast: the monitor tells %q", r.faults)
	}
}
