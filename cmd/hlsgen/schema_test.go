package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/schema"
	"hlsgen/internal/testsupport/tier"
)

// reports is a folder with reports of HLS.
var reports, _ = filepath.Abs("../../internal/synthesis/testdata/reports")

// forms lists the types of the JSON that commands print.
var forms = []struct {
	name, title string
	of          any
	by          []string // command lines whose output has the form
}{
	{"build", "what hlsgen build --json prints", built{}, []string{
		"build " + iris + " --board pynq-z1 --no-csim --json",
		"build --board zcu104 --no-csim --verify 0 --latency --max-use 0.5 --json --out other",
		"build " + iris + " --board arty-a7-35 --no-csim --interval 4 --cost finn --json --out third",
		"build " + iris + " --board pynq-z1 --backend rtl --weights stream --no-csim --json --out streamed",
	}},
	{"pareto", "what hlsgen build --pareto --json prints", frontJSON{}, []string{
		"build " + iris + " --board pynq-z1 --pareto --points 3 --json",
	}},
	{"check", "what hlsgen check --json prints", checked{}, []string{"check --json",
		"check " + iris + " --acc-bits 3 --json"}},
	{"stats", "what hlsgen stats --json prints", counted{}, []string{"stats --json",
		"stats " + iris + " --json --plot x.svg"}},
	{"simulate", "what hlsgen simulate --json prints", simulated{}, []string{
		"simulate --json",
		"simulate " + iris + " --input " + irisInputs + " --json --compare " +
			irisInputs[:len(irisInputs)-len("inputs.npy")] + "outputs.npy",
		"simulate " + iris + " --input " + irisInputs + " --json --engine cycle --board zcu104",
	}},
	{"sweep", "what hlsgen sweep --json prints", swept{}, []string{
		"sweep " + iris + " --board pynq-z1,zcu104 --fps 1000,1e12 --json",
		"sweep " + iris + " --board zcu104 --bound --json --out bounds",
		"sweep --board zcu104 --requantize wa=2 --json --out precisions",
	}},
	{"weights", "what hlsgen weights --json prints", weighed{}, []string{
		"weights " + iris + " --for loaded --json",
	}},
	{"convert", "what hlsgen convert --json prints", converted{}, []string{
		"convert " + iris + " --to qoperator --json", "convert --clean --json --out clean.onnx",
	}},
	{"graph", "what hlsgen graph --json prints", graphMade{}, []string{"graph --json", "graph --json --out g.onnx"}},
	{"report", "what hlsgen report --json prints", reportMade{}, []string{"report built --json"}},
	{"latencies", "what hlsgen latencies --json prints", latenciesMade{}, []string{
		"latencies " + reports + " --json",
	}},
	{"formats", "what hlsgen formats --json prints", compared{}, []string{
		"formats --json", "formats --length 64 --models " + examples.IrisName + " --json",
	}},
	{"error", "what a command with --json prints that has no result", failure{}, []string{
		"build --board nothing --json", "build --bord zcu104 --json", "check no.onnx --json",
		"sweep --board zcu104 --fps x --json", "sweep --collect none --json",
		"build " + iris + " --board zcu104 --fps 1e12 --no-csim --json --out fourth",
	}},
	{"boards", "what hlsgen boards --json prints: board files", []boards.Board{}, []string{"boards --json"}},
}

// TestSchemas checks that the JSON of every command has the form of its schema.
func TestSchemas(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			form, dir := schema.Of(t, f.name, f.title, f.of), filesIn(t, nil)
			switch f.name {
			case "weights":
				say(dir, nil, strings.Fields("build "+iris+" --board zcu104 --backend rtl --weights runtime --no-csim "+
					"--out loaded")...)
			case "report":
				say(dir, nil, strings.Fields("build "+iris+" --board zcu104 --no-csim --verify 0 --out built")...)
			}
			for _, line := range f.by {
				got := say(dir, nil, strings.Fields(line)...)
				if got.stdout == "" {
					t.Errorf("%s prints nothing: %s", line, got.stderr)
				}
				form.Check(t, []byte(got.stdout))
			}
		})
	}
}

// TestSchemasAreListed checks that every schema describes something that hlsgen writes, and that the page names all
// schemas.
func TestSchemasAreListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/schemas/*.json")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"log": true, // of TestObjects
		"sweep-points": true,                  // of package sweep
		"trace":        true,                  // of package simulate
		"synth":        true, "collect": true} // of tests that have tools
	for _, f := range forms {
		known[f.name] = true
	}
	for _, name := range []string{"manifest", "host", "weights-plan", "layers", "page", "nodes", "certificate",
		"resources",
		"cycle_simulation", "estimate_layer_cycles", "estimate_layer_resources", "estimate_network_performance",
		"op_and_param_counts"} {
		known[name] = true // of package compiler
	}
	page, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		base := filepath.Base(f)
		if !known[base[:len(base)-len(".json")]] {
			t.Errorf("%s is of nothing that hlsgen gives", f)
		}
		expect(t, "docs/json.md", string(page), "](schemas/"+base+")")
	}
	if len(files) != len(known) {
		t.Errorf("%d schemas, %d forms", len(files), len(known))
	}
}
