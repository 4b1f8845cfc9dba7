// Package training trains networks with PyTorch and Brevitas, and runs the notebooks of python/notebooks, with the
// wheels installed. It has tests alone. They need the environment that make train makes.
//
// In comes the module, out comes whether tests pass. install_test.go installs the wheels, training_test.go runs the
// programs of testdata.
package training

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hlsgen/internal/testsupport/tier"
)

var update = flag.Bool("update", false, "write the outputs of the notebooks")

// notebooks is the folder of the notebooks, from the module's root.
const notebooks = "python/notebooks"

// TestTraining trains networks and runs the notebooks, with the wheels installed.
func TestTraining(t *testing.T) {
	t.Parallel()
	e := install(t)
	t.Run("Brevitas", e.brevitas)
	t.Run("notebooks", e.notebooks)
}

// trained matches what testdata/brevitas_test.py says of the networks that it has trained.
var trained = regexp.MustCompile(`(?m)(\w+): of 141 samples (\d+) equal, (\d+) ties$`)

// brevitas trains a perceptron, a convolutional and a recurrent network on the digits of an example, in two minutes of
// CPU time, and compares them with what hlsgen predicts. It tries what goes wrong in an export, too.
func (e environment) brevitas(t *testing.T) {
	const most = 2 * time.Minute
	cmd := e.command(filepath.Join("testdata", "brevitas_test.py"),
		filepath.Join(tier.Root(t), "internal", "examples", "digits-mlp-w2a2"))
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var names []string
	for _, found := range trained.FindAllStringSubmatch(string(said), -1) {
		names = append(names, found[1])
		t.Log(found[0])
	}
	if slices.Sort(names); !slices.Equal(names, []string{"CNN", "LSTM", "MLP"}) {
		t.Errorf("trained %q\n%s", names, said)
	}
	if took := cmd.ProcessState.UserTime(); took > most {
		t.Errorf("it took %v of CPU time, more than %v", took, most)
	}
}

// A notebook is a file of Jupyter, with what its outputs depend on beside hlsgen.
type notebook struct {
	Cells []struct {
		Source  []string `json:"source"`
		Outputs []map[string]any
	} `json:"cells"`
	Metadata struct {
		MadeWith map[string]string `json:"made_with"`
	} `json:"metadata"`
}

// notebooks runs all notebooks. Their outputs are the committed ones, to the last byte of each picture. Where PyTorch
// has other sums, or a package another version, networks are trained to other weights: then outputs have to be of the
// same kinds.
func (e environment) notebooks(t *testing.T) {
	root := tier.Root(t)
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(notebooks), "*.ipynb"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%v: %d notebooks", err, len(files))
	}
	to := t.TempDir()
	if *update {
		to = filepath.Join(root, filepath.FromSlash(notebooks))
	}
	cmd := e.command(append([]string{"-W", "ignore", filepath.Join("testdata", "notebooks.py"), to}, files...)...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, file := range files {
		got, want := read(t, filepath.Join(to, filepath.Base(file))), read(t, file)
		if bytes.Equal(got, want) {
			continue
		}
		g, w := parse(t, got), parse(t, want)
		if !reflect.DeepEqual(g.Metadata, w.Metadata) {
			t.Logf("%s was made with %v; here are %v: kinds of outputs are compared", filepath.Base(file),
				w.Metadata.MadeWith, g.Metadata.MadeWith)
			if !reflect.DeepEqual(g.kinds(), w.kinds()) {
				t.Errorf("%s: outputs of kinds %q, want %q", filepath.Base(file), g.kinds(), w.kinds())
			}
			continue
		}
		t.Errorf("%s has other outputs (go test ./internal/training -update writes them)", filepath.Base(file))
		for i, c := range w.Cells {
			if i < len(g.Cells) && !reflect.DeepEqual(g.Cells[i], c) {
				t.Errorf("cell %d:\n%s\ngot\n%s\nwant\n%s", i, strings.Join(c.Source, ""), text(g.Cells[i].Outputs),
					text(c.Outputs))
			}
		}
	}
}

// kinds returns the kinds of the outputs of each cell.
func (n notebook) kinds() (all [][]string) {
	for _, c := range n.Cells {
		var kinds []string
		for _, o := range c.Outputs {
			kind, _ := o["output_type"].(string)
			data, _ := o["data"].(map[string]any)
			for name := range data {
				kind += " " + name
			}
			parts := strings.Fields(kind)
			slices.Sort(parts)
			kinds = append(kinds, strings.Join(parts, " "))
		}
		all = append(all, kinds)
	}
	return all
}

// parse reads a notebook.
func parse(t *testing.T, data []byte) (n notebook) {
	t.Helper()
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// text returns the first 2,000 bytes of outputs.
func text(outputs []map[string]any) string {
	data, err := json.MarshalIndent(outputs, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data[:min(len(data), 2000)])
}

// read returns the contents of a file.
func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
