package compiler

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/safefile"
)

// importModel imports the model of src. It drops the file's bytes from src, because they are as large as the weights.
// After adding an error to d it returns a result without a Model.
func importModel(o Source, src *ModelSource, d *diag.List) (im *frontend.Imported, err error) {
	none := &frontend.Imported{}
	opt, ok := o.imports(d)
	if !ok {
		return none, nil
	}
	opt.Data, opt.Pass.Until = src.shapes, o.Passes
	onnx := src.ONNX
	src.sum, src.ONNX = src.SHA256(), nil
	switch {
	case src.read != nil && o.Dump == "" && o.Passes == 0 && o.Interleave <= 1:
		im = src.read.Imported
		d.Merge(src.read.told.Diags)
	case o.Dump == "":
		im, err = frontend.Import(src.File, onnx, opt, d)
	default:
		err = WithSharedFolder(o.Dump, d, func(dir *outputdir.Shared) error {
			opt.Pass.Dump = dumpTo(dir)
			if im, err = frontend.Import(src.File, onnx, opt, d); err != nil || im.Model == nil {
				return err
			}
			return dir.Write("99-lowered.txt", []byte(im.Model.Graph.String()))
		})
	}
	if src.read = nil; err != nil {
		return nil, err
	}
	if im == nil {
		return none, nil
	}
	if im.Model == nil {
		namesFlags(o, opt, d)
		namesCut(o, im.Fates, opt, d)
	}
	if im.Model != nil {
		im.Model.Name = src.Name
		tellsOfHost(o, src, im, opt, d)
	}
	return im, nil
}

// read keeps the imported model that was compared during quantisation, with its diagnostics, so that it is not imported
// twice.
type read struct {
	*frontend.Imported
	told diag.List
}

// fits reports whether importing for data of these shapes gives the same model. The number of samples in the data does
// not matter.
func (r *read) fits(shapes map[string][]int) bool {
	return r.Model != nil && !slices.ContainsFunc(r.Model.In, func(in dataflow.RealPort) bool {
		s, ok := shapes[in.Name]
		if !ok {
			s = shapes[""]
		}
		n := len(in.Shape)
		return n == 0 || len(s) != n || !slices.Equal(s[1:], in.Shape[1:]) || s[0] != in.Shape[0] && in.Shape[0] != 1
	})
}

// imports returns the options of the front end. ok is false after it adds an error about the formats of cells to d.
func (o Source) imports(d *diag.List) (opt frontend.Options, ok bool) {
	opt, ok = frontend.Options{Dims: o.Dims, Shapes: o.Shapes, InputType: o.InputType,
		InputQuant: o.InputQuant, Initial: o.Initial, States: o.States, Stateful: o.Stateful,
		Outputs: o.Outputs, Samples: o.Interleave, Lookup: o.Lookup,
		Lengths: o.Lengths}, true
	for _, file := range []struct{ flag, path string }{{frontend.LSTMFlag, o.LSTM}, {frontend.CellFlag, o.Cells}} {
		if file.path == "" {
			continue
		}
		b, err := safefile.ReadFile(file.path, MaxSettings)
		if err != nil {
			d.Fail(diag.FileUnreadable, "", err.Error(), "give the path of a file with the formats of cells (JSON)")
			ok = false
			continue
		}
		f, err := frontend.ParseFormats(file.flag, b)
		if err != nil {
			d.Fail(f.Code(), filepath.Base(file.path), err.Error(),
				"without "+file.flag+", hlsgen prints a file to start from")
			ok = false
		}
		opt.Cells = append(opt.Cells, f)
	}
	return opt, ok
}

// dumpTo returns a function that writes the graph after a pass to a numbered file in dir.
func dumpTo(dir *outputdir.Shared) func(n int, name string, m *canon.PassState) error {
	return func(n int, name string, m *canon.PassState) error {
		var b bytes.Buffer
		if err := graph.WriteText(&b, m.Graph); err != nil {
			return err
		}
		return dir.Write(fmt.Sprintf("%02d-%s.txt", n, name), b.Bytes())
	}
}
