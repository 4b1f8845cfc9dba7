package vivado_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/vivado"
)

// TestBitstream has a stand-in for Vivado run all scripts for a board with a PS. It must know every command, and the
// block design must be complete, and the one that the driver and the budget expect.
func TestBitstream(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	type way struct {
		board, model string
		flow         vivado.IPBackend
		sequences    bool // of different lengths
	}
	cases := []way{
		{"zcu104", "digits-mlp-w2a2", vivado.IPBackendHLS, false},
		{"pynq-z1", "bilstm-h32-w4a8", vivado.IPBackendHLS, true},
		{"kv260", "digits-cnn-w4a4", vivado.IPBackendHLS, false},
		{"zcu104", "digits-mlp-w2a2", vivado.IPBackendRTL, false},
		{"pynq-z1", "bilstm-h32-w4a8", vivado.IPBackendRTL, true},
	}
	for _, board := range []string{"zcu104", "pynq-z1", "kv260"} {
		for _, model := range networks {
			for _, flow := range []vivado.IPBackend{vivado.IPBackendHLS, vivado.IPBackendRTL} {
				if c := (way{board, model, flow, false}); !slices.Contains(cases, c) {
					cases = append(cases, c)
				}
			}
		}
	}
	for _, c := range soon(cases, func(c way) bool { return takesLong(c.model, c.flow) }) {
		t.Run(fmt.Sprintf("%s %s %s %t", c.board, c.model, c.flow, c.sequences), func(t *testing.T) {
			t.Parallel()
			d := designOf(t, c.model, c.board, c.flow, c.sequences)
			w := open(t, d, c.flow, verilogOf(t, d, c.flow))
			if said, failed := w.run(nil, "make", "bitstream"); failed {
				t.Fatal(said)
			}
			g := w.graph(t)
			for _, wrong := range append(g.check(), g.agrees(d, w.windows(), w.system.HostSystem())...) {
				t.Error(wrong)
			}
			for _, ext := range []string{".bit", ".hwh", ".xsa"} {
				if _, err := os.Stat(filepath.Join(w.dir, "vivado/build", w.system.Top+ext)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// streamed has the weights of a design streamed.
func streamed(t *testing.T, d *dataflow.Design) {
	t.Helper()
	g, err := d.Model.Graph.WithRunTimeLoadedTables(d.Model.Graph.LoadableWeightLimitsByNode())
	if err != nil {
		t.Fatal(err)
	}
	d.Model.Graph, d.Target.Loader = g, true
}

// TestLoader checks that streamed weights have a mover of their own, which the budget counts and whose registers the
// driver finds. It checks the same for a card.
func TestLoader(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	for _, board := range []string{"zcu104", "pynq-z1"} {
		d := designOf(t, "digits-mlp-w2a2", board, vivado.IPBackendRTL, false)
		streamed(t, d)
		w := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL))
		if said, failed := w.run(nil, "make", "bitstream"); failed {
			t.Fatal(said)
		}
		g, windows := w.graph(t), w.windows()
		for _, wrong := range append(g.check(), g.agrees(d, windows, w.system.HostSystem())...) {
			t.Errorf("%s: %s", board, wrong)
		}
		loader := w.system.Movers[len(w.system.Movers)-1]
		var f found
		g.mover(&f, d, "read_s_axis_weights", "hlsgen_read", "m_axis",
			deploy.HostStream{Port: "s_axis_weights", Bytes: 4, Words: 1}, w.system.Hash, 0)
		if loader.Name != "read_s_axis_weights" || len(f) > 0 || g.peer("accelerator/s_axi_control") == "" {
			t.Errorf("%s: %s is the last mover; %v", board, loader.Name, f)
		}
	}
	d := designOf(t, "digits-mlp-w2a2", "alveo-u250", vivado.IPBackendRTL, false)
	streamed(t, d)
	cfg, texts := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL)).texts(t)
	c, f := parsed(cfg, texts)
	g := c.graph(&f)
	g.wires(&f)
	g.links(&f)
	c.mover(&f, g, "read_s_axis_weights", "m_axis", deploy.HostStream{Port: "s_axis_weights", Bytes: 4, Words: 1},
		d.Target.Board.MemoryPorts[0])
	for _, wrong := range f {
		t.Errorf("the card: %s", wrong)
	}
}

// external has the weights of the first three layers come with every frame.
func external(t *testing.T, d *dataflow.Design) {
	t.Helper()
	rooms := d.Model.Graph.LoadableWeightLimitsByNode()
	for i, n := range d.Model.Graph.Nodes {
		if _, ok := n.Op.(dataflow.HasLoadableWeights); ok && i < 3 {
			rooms[i].External, d.Folds[i].Memory = true, dataflow.NoMemory
		}
	}
	g, err := d.Model.Graph.WithRunTimeLoadedTables(rooms)
	if err != nil {
		t.Fatal(err)
	}
	d.Model.Graph, d.Target.Loader = g, true
}

// TestExternal checks that weights for every frame have movers that begin again, each with a memory port of its own,
// and that the budget counts them. It checks the same for a card.
func TestExternal(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	for _, board := range []string{"zcu104", "pynq-z1"} {
		d := designOf(t, "digits-mlp-w2a2", board, vivado.IPBackendRTL, false)
		external(t, d)
		w := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL))
		if said, failed := w.run(nil, "make", "bitstream"); failed {
			t.Fatal(said)
		}
		g := w.graph(t)
		for _, wrong := range append(g.check(), g.agrees(d, w.windows(), w.system.HostSystem())...) {
			t.Errorf("%s: %s", board, wrong)
		}
		ports, again := map[string]bool{}, 0
		for _, m := range w.system.Movers {
			if again++; m.Passes == 0 {
				again--
				continue
			}
			if ports[m.Port] || m.Port == w.system.Movers[0].Port {
				t.Errorf("%s: %s shares port %s", board, m.Name, m.Port)
			}
			ports[m.Port] = true
		}
		if again != len(d.ExternalWeights()) || again < 3 {
			t.Errorf("%s: %d movers of weights for %d layers", board, again, len(d.ExternalWeights()))
		}
	}
	d := designOf(t, "digits-mlp-w2a2", "alveo-u250", vivado.IPBackendRTL, false)
	external(t, d)
	cfg, texts := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL)).texts(t)
	c, f := parsed(cfg, texts)
	g := c.graph(&f)
	g.wires(&f)
	g.links(&f)
	for k, p := range templates.WeightPortsOf(d) {
		c.mover(&f, g, "read_"+p.Axis, "m_axis", deploy.HostStream{Port: p.Axis, Bytes: p.Port.TDATABits() / 8,
			Words: p.Port.Words}, d.Target.Board.MemoryPorts[1+k])
	}
	for _, wrong := range f {
		t.Errorf("the card: %s", wrong)
	}
}

// TestCounters checks that the registers of an accelerator with counters are one more slave, at the address in the
// drivers' table. For a card, its kernel has them.
func TestCounters(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	for _, board := range []string{"zcu104", "pynq-z1"} {
		d := designOf(t, "digits-mlp-w2a2", board, vivado.IPBackendRTL, false)
		d.Target.Counters = true
		w := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL))
		if said, failed := w.run(nil, "make", "bitstream"); failed {
			t.Fatal(said)
		}
		g, windows := w.graph(t), w.windows()
		for _, wrong := range append(g.check(), g.agrees(d, windows, w.system.HostSystem())...) {
			t.Errorf("%s: %s", board, wrong)
		}
		last := windows[len(windows)-1]
		if last.Bus != "accelerator" || len(windows) != 1+len(w.system.Movers) {
			t.Errorf("%s: the accelerator is not at the end of %v", board, windows)
		}
		if g.peer("accelerator/s_axi_control") == "" {
			t.Errorf("%s: nothing reads the accelerator's registers", board)
		}
	}
	d := designOf(t, "digits-mlp-w2a2", "alveo-u250", vivado.IPBackendRTL, false)
	d.Target.Counters = true
	w := open(t, d, vivado.IPBackendRTL, verilogOf(t, d, vivado.IPBackendRTL))
	_, texts := w.texts(t)
	for _, want := range []string{`hwControlProtocol="user_managed"`, `<port name="s_axi_control" mode="slave"`} {
		if kernel := texts[w.system.Top]; !strings.Contains(kernel, want) {
			t.Errorf("no %s in\n%s", want, kernel)
		}
	}
}
