package vivado_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates/mover"
	"hlsgen/templates/vivado"
)

// TestConcat has Yosys compute what joins ten interrupts: each input is the bit of its number. A Zynq UltraScale+ has
// two inputs of eight, so there are two of them.
func TestConcat(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "yosys")
	s, _, _ := wide(t)
	files, err := s.GenerateFiles(vivado.IPBackendRTL)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{8: true, 5: true, 13: false} {
		name := fmt.Sprintf("hlsgen_concat_%d", n)
		var verilog []byte
		for _, f := range files {
			if f.Path == "vivado/ip/"+name+".v" {
				verilog = f.Data
			}
		}
		if (verilog != nil) != want {
			t.Fatalf("%s is there: %t", name, verilog != nil)
		}
		if !want {
			continue
		}
		file := filepath.Join(t.TempDir(), name+".v")
		if err := os.WriteFile(file, verilog, 0o666); err != nil {
			t.Fatal(err)
		}
		script := "read_verilog " + file + "; proc; "
		for i := range n {
			script += "eval"
			for k := range n {
				bit := 0
				if k == i {
					bit = 1
				}
				script += fmt.Sprintf(" -set In%d %d", k, bit)
			}
			script += " -show dout; "
		}
		out, err := exec.Command("yosys", "-QT", "-p", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for i := range n {
			want := fmt.Sprintf(`\dout = %d'%0*b.`, n, n, 1<<i)
			if !strings.Contains(string(out), want) {
				t.Errorf("In%d of %d: no %s in\n%s", i, n, want, out)
			}
		}
	}
}

// TestKernelBursts checks that every kernel of a card is packed with what its mover does on the memory's bus.
func TestKernelBursts(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, _ := wide(t)
	var err error
	if s.Board, err = boards.FindBoard("alveo-u250"); err != nil {
		t.Fatal(err)
	}
	for i := range s.Movers {
		s.Movers[i].Port, s.Movers[i].Base = s.Board.MemoryPorts[0], 0
		s.Movers[i].DataBits, s.Movers[i].MaxBeats = 512, 16
	}
	s.Movers[1].MaxBeats = 2
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	if said, failed := w.run(nil, "make", "build/kernels"); failed {
		t.Fatal(said)
	}
	for _, m := range s.Movers {
		packed, err := os.ReadFile(filepath.Join(w.dir, "vivado/build/ip", m.KernelName(), "component.xml"))
		if err != nil {
			t.Fatal(err)
		}
		way := "READ"
		if m.Writes {
			way = "WRITE"
		}
		want := fmt.Sprintf("m_axi_gmem {SUPPORTS_NARROW_BURST 0 READ_WRITE_MODE %s_ONLY MAX_BURST_LENGTH %d "+
			"NUM_%s_OUTSTANDING %d}\n", way, m.MaxBeats, way, mover.OutstandingBursts)
		if _, said, _ := strings.Cut(string(packed), "\n"); said != want {
			t.Errorf("%s is packed with %q, want %q", m.Name, said, want)
		}
	}
}
