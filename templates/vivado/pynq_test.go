package vivado_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/maketest"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/vivado"
)

// A pythonOfBoard is a Python of boards, and the versions of PYNQ that run on it.
type pythonOfBoard struct {
	version string
	pynq    []string
}

// pythons are the environments that internal/setup/pynq.sh makes.
var pythons = []pythonOfBoard{{"3.8", []string{"2.7.0"}}, {"3.10", []string{"3.0.1", "3.1.2"}},
	{"3.12", []string{"4.0.0"}}, {"3.13", []string{"4.0.0"}}}

// TestPYNQ has PYNQ's own code, of several versions and Pythons, read the block design of each network on each kind of
// board. Pins and addresses are those of host.json. The driver finds its interrupt by this code. It runs on a stand-in
// of the board, and by itself with each version of numpy.
func TestPYNQ(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	tier.Needs(t, "tclsh", "make", "sh", "g++")
	folder := filepath.Join(tier.Root(t), "bin", "pynq")
	if _, err := os.Stat(filepath.Join(folder, "src", "pynq-4.0.0")); err != nil {
		t.Fatal("PYNQ is not here: internal/setup/pynq.sh bin/pynq fetches it, make test-long calls it")
	}
	type made struct{ board, hwh, deploy, lib string }
	var all []made
	for _, board := range []string{"zcu104", "pynq-z1", "kv260"} {
		for _, model := range networks {
			d := designOf(t, model, board, vivado.IPBackendHLS, false)
			m := made{board: board}
			m.hwh, m.deploy = handoffOf(t, d)
			if model == networks[0] && board != "kv260" {
				m.lib = maketest.Library(t, filepath.Join(filepath.Dir(m.deploy), "hls"), "lib", "CXXFLAGS=-O1")
			}
			all = append(all, m)
		}
	}
	for _, p := range pythons {
		for _, pynq := range p.pynq {
			t.Run(fmt.Sprint("python", p.version, " pynq ", pynq), func(t *testing.T) {
				python := filepath.Join(folder, p.version, "bin", "python")
				if _, err := os.Stat(python); err != nil {
					t.Skipf("python%s was not here when internal/setup/pynq.sh looked for it", p.version)
				}
				for _, m := range all {
					args := []string{"testdata/board.py", filepath.Join(folder, "src", "pynq-"+pynq), m.hwh,
						filepath.Join(m.deploy, "host", "host.json")}
					if m.lib != "" {
						args = append(args, m.deploy, m.lib)
					}
					programs := [][]string{args}
					if m.lib != "" {
						beside := filepath.Dir(m.deploy)
						programs = append(programs, []string{"../../internal/build/testdata/driver.py", m.deploy, m.lib,
							filepath.Join(beside, "x.npy"), filepath.Join(beside, "y.npy")})
					}
					for _, args := range programs {
						said, err := exec.Command(python, args...).CombinedOutput()
						if err != nil || !strings.Contains(string(said), "PASS") {
							t.Errorf("%s: %v\n%s", m.board, err, said)
						}
						t.Logf("%s: %s", m.board, said)
					}
				}
			})
		}
	}
}

// handoffOf writes the .hwh of a design's block design, and the folder deploy with its host.json beside a folder hls.
// It returns the paths of the first two.
func handoffOf(t *testing.T, d *dataflow.Design) (hwh, folder string) {
	t.Helper()
	w := open(t, d, vivado.IPBackendHLS, verilogOf(t, d, vivado.IPBackendHLS))
	if said, failed := w.run(nil, "make", "bitstream"); failed {
		t.Fatal(said)
	}
	text, err := w.graph(t).hwh(w.system.Top, [2]int{w.system.Clock.Div0, w.system.Clock.Div1})
	if err != nil {
		t.Fatal(err)
	}
	files, err := deploy.GenerateFiles(d, templates.Options{}, true, w.system.HostSystem())
	if err != nil {
		t.Fatal(err)
	}
	project, err := templates.GenerateHLSProject(d, templates.TestVectors{}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := append(files, project...).WriteBelow(to); err != nil {
		t.Fatal(err)
	}
	hwh = filepath.Join(to, "net.hwh")
	w.write(t, hwh, string(text))
	return hwh, filepath.Join(to, "deploy")
}
