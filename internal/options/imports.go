package options

import (
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// ForImport returns the options of the front end. ok is false after it adds an error about the formats of cells to d.
func (o Source) ForImport(d *diag.List) (opt frontend.Options, ok bool) {
	opt, ok = frontend.Options{Dims: o.Dims, Shapes: o.Shapes, InputType: o.InputType,
		InputQuant: o.InputQuant, Initial: o.Initial, States: o.States, Stateful: o.Stateful,
		Outputs: o.Outputs, Samples: o.Interleave, Lookup: o.Lookup,
		Lengths: o.Lengths}, true
	for _, file := range []struct{ flag, path string }{{frontend.LSTMFlag, o.LSTM}, {frontend.CellFlag, o.Cells}} {
		if file.path == "" {
			continue
		}
		b, err := safefile.ReadFile(file.path, safefile.MaxSettings)
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
