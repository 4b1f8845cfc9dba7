package convert

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/golden"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// convert runs a conversion. It returns a line about the result, followed by a line per diagnostic.
func convert(t *testing.T, name string, onnx []byte, o Options) (*ConvertedModel, string) {
	t.Helper()
	var d diag.List
	r := ConvertModel(name, onnx, o, &d)
	if (r == nil) != d.HasErrors() {
		t.Fatalf("%s: result %v, but %v", name, r != nil, d.Diags)
	}
	var b strings.Builder
	if r != nil {
		var ops []string
		for _, c := range r.After {
			ops = append(ops, fmt.Sprintf("%d %s", c.Nodes, c.Op[strings.LastIndex(c.Op, ":")+1:]))
		}
		fmt.Fprintf(&b, "same %s: %s\n", r.Proof, strings.Join(ops, ", "))
	}
	for _, x := range d.Diags {
		if r == nil && x.Severity != diag.SeverityError {
			continue
		}
		fmt.Fprintf(&b, "  %s: %s: %s\n", x.Severity, x.Node, x.Msg)
	}
	return r, b.String()
}

// written lists the exports that Brevitas made of a model.
var written = []string{"model.onnx", "qcdq.onnx"}

// table returns the outcomes of converting a model's exports to every dialect. Each converted file must compute the
// same as the model, on some samples, too, and must convert back. table calls use with every converted file.
func table(t *testing.T, m models.Model, use func(path string, b []byte)) string {
	var b strings.Builder
	for _, file := range written {
		onnx, err := os.ReadFile(m.Path(file))
		if err != nil {
			continue
		}
		for _, to := range DialectNames {
			r, line := convert(t, file, onnx, Options{To: Dialect(to)})
			fmt.Fprintf(&b, "%s to %s: %s", file, to, line)
			if r == nil {
				continue
			}
			use(m.Name+"-"+file+"-"+to, r.ONNX)
			sameOutputs(t, m.Name+" "+file+" to "+to, onnx, r.ONNX)
			if again, _ := convert(t, file, onnx, Options{To: Dialect(to)}); !bytes.Equal(r.ONNX, again.ONNX) {
				t.Errorf("%s: another run gives other bytes", m.Name)
			}
			if to == string(DialectQCDQ) {
				back, line := convert(t, file, r.ONNX, Options{To: DialectQONNX})
				if back == nil {
					if strings.Contains(line, "its zero point is odd") {
						continue
					}
					t.Errorf("%s in qcdq does not go back: %s", m.Name, line)
				} else {
					sameOutputs(t, m.Name+" there and back", onnx, back.ONNX)
				}
			}
		}
		r, line := convert(t, file, onnx, Options{Clean: true})
		fmt.Fprintf(&b, "%s, clean: %s", file, line)
		if r != nil {
			use(m.Name+"-"+file+"-clean", r.ONNX)
			sameOutputs(t, m.Name+" "+file+" clean", onnx, r.ONNX)
		}
	}
	return b.String()
}

// sameOutputs runs two files independently on a few inputs, by the meaning of their operators, and compares the
// outputs.
func sameOutputs(t *testing.T, what string, a, b []byte) {
	t.Helper()
	var refs [2]*dataflow.Model
	for i, file := range [][]byte{a, b} {
		var d diag.List
		im := frontend.ImportForReference("model.onnx", file, frontend.Options{}, &d)
		if im.Model == nil {
			return // of dynamic axes or formats that the user has to bind
		}
		refs[i] = im.Model
	}
	for k := range 2 {
		var in []dataflow.RealTensor
		for _, r := range refs[0].In {
			in = append(in, sample(r, k+100))
		}
		x, err := refs[0].Reference(in)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		y, err := refs[1].Reference(in)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i := range x {
			if !slices.Equal(x[i].Data, y[i].Data) {
				t.Errorf("%s: sample %d, output %d: %v, want %v", what, k, i, y[i].Data, x[i].Data)
			}
		}
	}
}

// TestModels checks which models convert, and the reasons why others do not.
func TestModels(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := golden.Dir(t, "testdata")
	for _, m := range models.InRepository(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir.Case(t, m.Name).Want("converted", []byte(table(t, m, func(string, []byte) {})))
		})
	}
}

// TestShared checks the shared models. All of Brevitas' exports with a QCDQ file convert and convert back,
// except the model with an odd zero point in front of real inputs. At least ten have operators on integers. Every model
// of the zoo can be simplified.
func TestShared(t *testing.T) {
	t.Parallel()
	tier.NeedsLong(t)
	shared := tier.NeedsShared(t)
	both, integers := 0, 0
	paths, err := filepath.Glob(filepath.Join(shared, "models", "*", "*", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		onnx, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(path))
		if filepath.Base(filepath.Dir(filepath.Dir(path))) == "zoo" {
			if r, line := convert(t, name, onnx, Options{Clean: true}); r == nil {
				t.Errorf("%s: %s", name, line)
			}
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "qcdq.onnx")); err != nil {
			continue
		}
		r, line := convert(t, name, onnx, Options{To: DialectQCDQ})
		switch {
		case r != nil:
			both++
			if back, line := convert(t, name, r.ONNX, Options{To: DialectQONNX}); back == nil {
				t.Errorf("%s does not come back: %s", name, line)
			}
		case !strings.Contains(line, "its zero point is odd"):
			t.Errorf("%s: %s", name, line)
		}
		if r, _ := convert(t, name, onnx, Options{To: DialectQOperator}); r != nil {
			integers++
		}
	}
	if both != 21 || integers < 10 {
		t.Errorf("%d models go to qcdq, want 21; %d to qoperator, want 10", both, integers)
	}
}

// TestChecker checks that ONNX' own checker, in Python, accepts every converted file.
func TestChecker(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	python := tier.Needs(t, "onnx")[0]
	dir := t.TempDir()
	var files []string
	for _, m := range models.InRepository(t) {
		table(t, m, func(name string, b []byte) {
			path := filepath.Join(dir, name+".onnx")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		})
	}
	const script = `import onnx, sys
from onnx import checker, shape_inference
for path in sys.argv[1:]:
    m = onnx.load(path)
    checker.check_model(m)
    shape_inference.infer_shapes(m, strict_mode=True)
print(len(sys.argv) - 1)`
	out, err := exec.Command(python, append([]string{"-c", script}, files...)...).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != fmt.Sprint(len(files)) || len(files) < 60 {
		t.Errorf("of %d files: %v %s", len(files), err, out)
	}
}
