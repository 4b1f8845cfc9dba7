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

// ImportModel imports the model of src for hardware. It sets src.ONNX to nil, because the file's bytes are as large as
// the weights. After adding an error to d it returns a result whose Model is nil. It returns nil only with an err, such
// as one from writing the folder o.Dump.
func ImportModel(o options.Source, src *ModelSource, d *diag.List) (im *frontend.ImportedModel, err error) {
	none := &frontend.ImportedModel{}
	opt, ok := o.ToImportOptions(d)
	if !ok {
		return none, nil
	}
	opt.Data, opt.Pass.Until = src.shapes, o.Passes
	onnx := src.ONNX
	src.sum, src.ONNX = src.SHA256(), nil
	switch {
	case src.read != nil && o.Dump == "" && o.Passes == 0 && o.Interleave <= 1:
		im = src.read.ImportedModel
		d.AddMissing(src.read.told.Diags)
	case o.Dump == "":
		im, err = frontend.Import(src.File, onnx, opt, d)
	default:
		err = folder.WriteToSharedFolder(o.Dump, d, func(dir *outputdir.SharedFolder) error {
			opt.Pass.Dump = dumpTo(dir)
			if im, err = frontend.Import(src.File, onnx, opt, d); err != nil || im.Model == nil {
				return err
			}
			return dir.WriteOwnFile("99-lowered.txt", []byte(im.Model.Graph.String()))
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

// dumpTo returns a function that writes the graph after pass n to a numbered file in dir.
func dumpTo(dir *outputdir.SharedFolder) func(n int, name string, m *canon.PassState) error {
	return func(n int, name string, m *canon.PassState) error {
		var b bytes.Buffer
		if err := graph.WriteGraphText(&b, m.Graph); err != nil {
			return err
		}
		return dir.WriteOwnFile(fmt.Sprintf("%02d-%s.txt", n, name), b.Bytes())
	}
}
