package vivado_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/vivado"
)

// ofILA are mistakes in a block design that watches both streams of a network.
var ofILA = []mistake{
	{"a probe of another width", "C_SLOT_0_AXIS_TDATA_WIDTH 8", "C_SLOT_0_AXIS_TDATA_WIDTH 16", "width"},
	{"too few slots", "C_NUM_MONITOR_SLOTS 2", "C_NUM_MONITOR_SLOTS 1", "unknown-pin"},
	{"a slot too many", "C_NUM_MONITOR_SLOTS 2", "C_NUM_MONITOR_SLOTS 3", "open-bus"},
	{"a slot of another interface", "axis_rtl:1.0", "axi_rtl:1.0", "wrong-type"},
	{"a slot at the wrong stream", "link accelerator/m_axis_0 ila/SLOT_0_AXIS",
		"link accelerator/s_axis_0 ila/SLOT_0_AXIS", "ila"},
	{"an ILA without a clock", " ila/clk", "", "open-input"},
	{"an ILA that is held in reset", " ila/resetn", "", "open-input"},
	{"an ILA of another depth", "C_DATA_DEPTH 1024", "C_DATA_DEPTH 1000", "wrong-type"},
	{"probes that nobody finds", "write_debug_probes", "write_probes", "unknown-command"},
}

// TestILA checks that the streams that are asked for are watched, by probes as wide as they are, and that other names
// are refused.
func TestILA(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	d := designOf(t, "digits-mlp-w2a2", "zcu104", vivado.IPBackendHLS, false)
	s, err := vivado.NewSystem(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ names, reason, hint string }{
		{"m_axis_1", `the accelerator has no stream "m_axis_1"`,
			"did you mean m_axis_0? Its streams are s_axis_0, m_axis_0"},
		{"MVAU_0", `the accelerator has no stream "MVAU_0"`, "its streams are s_axis_0, m_axis_0"},
		{"s_axis_0,s_axis_0", "the stream s_axis_0 is named twice", "name every stream once"},
		{"", `the accelerator has no stream ""`, "its streams are s_axis_0, m_axis_0"},
	} {
		wrong := new(vivado.ILAError)
		if err := s.WatchStreams(strings.Split(c.names, ",")); !errors.As(err, &wrong) || wrong.Reason != c.reason ||
			wrong.Hint != c.hint || len(s.ILA) > 0 {
			t.Errorf("%s: %+v", c.names, wrong)
		}
	}
	watched := []string{"m_axis_0", "s_axis_0"}
	if err := s.WatchStreams(watched); err != nil {
		t.Fatal(err)
	}
	w := opened(t, s, vivado.IPBackendHLS, verilogOf(t, d, vivado.IPBackendHLS))
	if said, failed := w.run(nil, "make", "bitstream"); failed {
		t.Fatal(said)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "vivado/build", s.Top+".ltx")); err != nil {
		t.Error(err)
	}
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if bits, clocks := s.ILAStorage(); bits != face.In[0].TDATA+face.Out[0].TDATA+6 || clocks != 1024 {
		t.Errorf("the ILA stores %d bits in each of %d clocks", bits, clocks)
	}
	bits := map[string]int{face.In[0].Name: face.In[0].TDATA, face.Out[0].Name: face.Out[0].TDATA}
	w.catch(t, "block_design.tcl", ofILA, func(g *graph) found {
		f := g.agrees(d, w.windows(), w.system.HostSystem())
		for k, name := range watched {
			slot := fmt.Sprintf("ila/SLOT_%d_AXIS", k)
			if g.peer(slot) != "accelerator/"+name || g.bus(slot).Bits != bits[name] {
				f.add("ila", "%s watches %s with %d bits, want %s with %d", slot, g.peer(slot), g.bus(slot).Bits, name,
					bits[name])
			}
		}
		return f
	})
}

// TestWideILA checks the limit of an ILA, and that a card's linker is asked for one.
func TestWideILA(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	s, _, _ := wide(t)
	var names []string
	for k := range 17 {
		s.Movers = append(s.Movers, vivado.Mover{Name: fmt.Sprint("read_x", k), Stream: fmt.Sprint("x", k)})
		names = append(names, fmt.Sprint("x", k))
	}
	if err := s.WatchStreams(names); err == nil || !strings.Contains(err.Error(), "17 streams are more than the 16") {
		t.Error(err)
	}
	d := designOf(t, "digits-mlp-w2a2", "alveo-u250", vivado.IPBackendHLS, false)
	card, err := vivado.NewSystem(d, templates.Options{})
	if err != nil || card.WatchStreams([]string{"s_axis_0"}) != nil {
		t.Fatal(err)
	}
	cfg, _ := workshop{system: card}.texts(t)
	if !strings.HasSuffix(cfg, "\n[debug]\nchipscope=accelerator:s_axis_0\n") {
		t.Errorf("link.cfg is\n%s", cfg)
	}
}
