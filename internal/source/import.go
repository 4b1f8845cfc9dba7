package source

import (
	"bytes"
	"fmt"

	"hlsgen/frontend"
	"hlsgen/frontend/canon"
	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
)

// Import imports the model of src. It drops the file's bytes from src, because they are as large as the weights.
// After adding an error to d it returns a result without a Model.
func Import(o options.Source, src *ModelSource, d *diag.List) (im *frontend.Imported, err error) {
	none := &frontend.Imported{}
	opt, ok := o.ForImport(d)
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
		err = folder.Share(o.Dump, d, func(dir *outputdir.Shared) error {
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
		AddCutHint(o, im.Fates, opt, d)
	}
	if im.Model != nil {
		im.Model.Name = src.Name
		tellsOfHost(o, src, im, opt, d)
	}
	return im, nil
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
