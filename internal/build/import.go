package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/pass"
)

func importModel(o Options, src *Source, d *diag.List) *frontend.Imported {
	opt := frontend.Options{Dims: o.Dims}
	if o.Dump != "" {
		if err := os.MkdirAll(o.Dump, 0o755); err != nil {
			d.Add(diag.Diag{Severity: diag.Error, Code: diag.FileUnreadable, Msg: err.Error(), Hint: "give --dump-passes a folder that can be written"})
			return &frontend.Imported{}
		}
		opt.Pass = dumpTo(o.Dump)
	}
	im := frontend.Import(src.File, src.ONNX, opt, d)
	if im.Model != nil {
		im.Model.Name = src.Name
		if o.Dump != "" {
			var b bytes.Buffer
			if err := dataflow.Format(&b, im.Model.Graph); err != nil {
				panic(err)
			}
			writeDump(o.Dump, "99-lowered.txt", b.Bytes())
		}
	}
	return im
}

// dumpTo writes the graph after every pass, numbered in order.
func dumpTo(dir string) pass.Options[*canon.Model] {
	n := 0
	return pass.Options[*canon.Model]{Dump: func(name string, m *canon.Model) {
		writeDump(dir, fmt.Sprintf("%02d-%s.txt", n, name), []byte(m.Graph.String()))
		n++
	}}
}

func writeDump(dir, name string, text []byte) {
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		panic(err)
	}
}

// Checked is what `hlsgen check` shows.
type Checked struct {
	Source   *Source
	Imported *frontend.Imported
	Layers   []LayerReport
}

// Check imports a model and says what becomes of every node; the reasons where something does not map are in d.
func Check(ctx context.Context, o Options, d *diag.List) (c *Checked, err error) {
	defer catch(&err)
	c = &Checked{}
	if c.Source = Open(o.Model, d); c.Source == nil {
		return nil, nil
	}
	c.Imported = importModel(o, c.Source, d)
	if m := c.Imported.Model; m != nil {
		auditAccumulators(m.Graph, o.AccBits, d)
		c.Layers = layerReports(m.Graph, nil)
	}
	return c, nil
}
