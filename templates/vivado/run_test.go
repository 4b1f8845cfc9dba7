package vivado_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
	"hlsgen/templates/vivado"
)

// designOf folds a model for a board; sequences are of 1 to 16 steps where asked for.
func designOf(t *testing.T, model, board string, flow vivado.IPBackend, sequences bool) *dataflow.Design {
	t.Helper()
	var d diag.List
	var lengths *frontend.AxisLengthRange
	if sequences {
		lengths = &frontend.AxisLengthRange{Axis: "inp.25:0", Min: 1, Max: 16}
	}
	m, err := frontend.Import(model, onnxOf(t, model), frontend.Options{Lengths: lengths}, &d)
	if err != nil || m == nil || m.Model == nil {
		t.Fatal(err, d.Diags)
	}
	b, err := boards.FindBoard(board)
	if err != nil {
		t.Fatal(err)
	}
	target := dataflow.Target{Board: b, ClockMHz: b.ClockMHz}
	if flow == vivado.IPBackendRTL {
		target.Backend = dataflow.BackendRTL
	}
	made, err := folding.FindBestDesign(context.Background(), m.Model, target, folding.Goal{FPS: 10}, &d)
	if err != nil || made == nil {
		t.Fatal(err, d.Diags)
	}
	return made.Design
}

// onnxOf is the text of a model: one of the repository's, or, so that no other test has to run it, of testdata.
func onnxOf(t *testing.T, model string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", model+".onnx"))
	if err != nil {
		return models.Find(t, model).Read(t, "model.onnx")
	}
	return text
}

// networks lists the networks that every flow takes to every kind of board.
var networks = []string{"digits-mlp-w2a2", "digits-cnn-w4a4", "digits-resnet-w4a4", "bilstm-h32-w4a8"}

// takesLong is whether a flow writes half a minute of text for a network.
func takesLong(model string, flow vivado.IPBackend) bool {
	return flow == vivado.IPBackendRTL && model != networks[0]
}

// soon returns the cases that a tier runs. Cases that take long run in the long tier only.
func soon[C any](cases []C, long func(C) bool) []C {
	if !tier.Long() {
		cases = slices.DeleteFunc(cases, long)
	}
	return cases[:tier.CasesToRun(len(cases))]
}

// A workshop is a project in a folder, with stand-ins for Vivado and v++.
type workshop struct {
	dir, tools string
	system     *vivado.System
}

// standIn runs testdata/vivado.tcl as if it were Vivado.
const standIn = "#!/bin/sh\nexec tclsh '%s' \"$@\"\n"

// open writes a project for the IP of a flow, with an IP that has the ports of the Verilog that was written for it.
func open(t *testing.T, d *dataflow.Design, flow vivado.IPBackend, verilog []byte) workshop {
	t.Helper()
	s, err := vivado.NewSystem(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return opened(t, s, flow, verilog)
}

func opened(t *testing.T, s *vivado.System, flow vivado.IPBackend, verilog []byte) workshop {
	t.Helper()
	files, err := s.GenerateFiles(flow)
	if err != nil {
		t.Fatal(err)
	}
	w := workshop{dir: filepath.Join(t.TempDir(), "a [b] $c"), tools: t.TempDir(), system: s}
	ip := "hls/build.ip/" + s.Top + "_ip/component.xml"
	if flow == vivado.IPBackendRTL {
		ip = "rtl/build/ip/" + s.Top + "/component.xml"
	}
	files = append(files, templates.GeneratedFile{Path: ip, Data: []byte("hlsgen hls " + s.Top + " 1.0\n")})
	if err := files.WriteBelow(w.dir); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, filepath.Join(w.tools, "vivado"), fmt.Sprintf(standIn, filepath.Join(here, "vivado.tcl")))
	w.write(t, filepath.Join(w.tools, "table.tcl"), accelerator(t, s.Top, verilog))
	return w
}

func (w workshop) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in the folder vivado. It returns the output, and whether the command failed.
func (w workshop) run(env []string, command ...string) (said string, failed bool) {
	c := exec.Command(command[0], command[1:]...)
	if command[0] == "vivado" {
		c = exec.Command(filepath.Join(w.tools, "vivado"), command[1:]...)
	}
	c.Dir = filepath.Join(w.dir, "vivado")
	c.Env = append(append(os.Environ(), "PATH="+w.tools+":"+os.Getenv("PATH"), "MAKEFLAGS=",
		"GRAPH="+filepath.Join(w.tools, "graph.json"), "TABLES="+filepath.Join(w.tools, "table.tcl")), env...)
	out, err := c.CombinedOutput()
	return string(out), err != nil
}

// graph reads the block design that the last script has built.
func (w workshop) graph(t *testing.T) *graph {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.tools, "graph.json"))
	if err != nil {
		t.Fatal(err)
	}
	var g graph
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &g
}

// windows is the table that package vivado has for drivers.
func (w workshop) windows() (list []mapped) {
	for _, m := range w.system.RegisterAddressMap() {
		list = append(list, mapped{Bus: m.Name, Base: m.Base, Bytes: m.Bytes})
	}
	return list
}

var signal = regexp.MustCompile(`axis:1.0 (\w+) (TDATA|TLAST)" \*\)\n *(input|output) +wire (?:\[(\d+):0\] )?\w+`)

var registers = regexp.MustCompile(`input +wire \[(\d+):0\] s_axi_control_ARADDR`)

// accelerator is a row of the table of IPs for the Verilog of an accelerator.
func accelerator(t *testing.T, top string, verilog []byte) string {
	t.Helper()
	var row strings.Builder
	fmt.Fprintf(&row, "from {the Verilog that is written} 2020.1-2024.2\nip hlsgen:hls:%s:1.0 {} {\n", top)
	row.WriteString("    pin ap_clk in clock 1\n    pin ap_rst_n in resetn 1\n")
	last := map[string]bool{}
	found := signal.FindAllStringSubmatch(string(verilog), -1)
	for _, m := range found {
		last[m[1]] = last[m[1]] || m[2] == "TLAST"
	}
	for _, m := range found {
		high, _ := strconv.Atoi(m[4])
		if m[2] == "TDATA" {
			mode := map[string]string{"input": "slave", "output": "master"}[m[3]]
			has := 0
			if last[m[1]] {
				has = 1
			}
			fmt.Fprintf(&row, "    bus %s %s axis ap_clk bits %d last %d\n", m[1], mode, high+1, has)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no streams in\n%s", verilog)
	}
	if address := registers.FindSubmatch(verilog); address != nil {
		high, _ := strconv.Atoi(string(address[1]))
		fmt.Fprintf(&row, "    bus s_axi_control slave aximm ap_clk bits 32 segments {reg0 0x0 0x%x}\n", 2<<high)
	}
	row.WriteString("}\n")
	return row.String()
}

// verilogOf is the top of the IP that a flow makes.
func verilogOf(t *testing.T, d *dataflow.Design, flow vivado.IPBackend) []byte {
	t.Helper()
	if flow == vivado.IPBackendRTL {
		n, err := rtl.New(d, templates.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return text(t, n.Files, "rtl/ip/"+n.Top+"_ip.v")
	}
	files, err := templates.GenerateHLSProject(d, templates.TestVectors{}, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	face, err := templates.IPInterfaceOf(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return text(t, files, "hls/rtl/"+face.Top+".v")
}

// text returns the contents of the file with the path. The test fails if there is none.
func text(t *testing.T, files templates.ProjectFiles, path string) []byte {
	t.Helper()
	i := slices.IndexFunc(files, func(f templates.GeneratedFile) bool { return f.Path == path })
	if i < 0 {
		t.Fatalf("no file %s", path)
	}
	return files[i].Data
}

// topOf is the Verilog of the network itself, whose nets are its streams.
func topOf(t *testing.T, d *dataflow.Design, flow vivado.IPBackend) string {
	t.Helper()
	if flow == vivado.IPBackendHLS {
		return string(verilogOf(t, d, flow))
	}
	n, err := rtl.New(d, templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text(t, n.Files, "rtl/"+n.Top+".sv"))
}
