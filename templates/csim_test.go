package templates_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// run compiles and runs a project, or skips where there is no compiler.
func run(t *testing.T, files templates.Files) *templates.Outcome {
	t.Helper()
	if dir := os.Getenv("KEEP"); dir != "" {
		files.Write(dir)
	}
	o, err := templates.RunCSim(context.Background(), files, templates.CSim{})
	var missing *templates.NoCompiler
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestCSim(t *testing.T) {
	t.Parallel()
	for name, design := range map[string]func(testing.TB) *dataflow.Design{"small": small, "tfc": tfc} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := design(t)
			v := vectors(t, d, 3, 9)
			files, err := templates.Project(d, v, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			o := run(t, files)
			t.Logf("%s in %v\n%s", name, time.Since(start), o.Log)
			if !o.Passed || len(o.Verdicts) != 1+len(d.Model.Graph.Nodes) {
				t.Fatalf("%+v", o)
			}
			got, err := o.Tensors(d, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for f, frame := range v.Frames {
				if want := frame[d.Model.Graph.Out[0]]; !reflect.DeepEqual(got[f][0], want) {
					t.Errorf("frame %d: got %v, want %v", f, got[f][0], want)
				}
			}
		})
	}
}
