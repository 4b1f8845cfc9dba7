package options

import (
	"path/filepath"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/safefile"
)

// ToImportOptions converts the options to those of the front end, and reads the files with the formats of cells. ok is
// false after it adds an error about such a file to d.
func (o Source) ToImportOptions(d *diag.List) (opt frontend.Options, ok bool) {
	opt, ok = frontend.Options{Dims: o.Dims, Shapes: o.Shapes, InputType: o.InputType,
		InputQuant: o.InputQuant, Initial: o.Initial, States: o.States, Stateful: o.Stateful,
		Outputs: o.Outputs, Samples: o.Interleave, Lookup: o.Lookup,
		Lengths: o.Lengths}, true
	for _, file := range []struct{ flag, path string }{{frontend.LSTMFormatsFlag, o.LSTM}, {frontend.CellFormatsFlag,
		o.Cells}} {
		if file.path == "" {
			continue
		}
		b, err := safefile.ReadRegularFile(file.path, safefile.MaxSettingsFileBytes)
		if err != nil {
			d.AddError(diag.FileUnreadable, "", err.Error(), "give the path of a file with the formats of cells (JSON)")
			ok = false
			continue
		}
		f, err := frontend.ParseCellFormats(file.flag, b)
		if err != nil {
			d.AddError(f.DiagnosticCode(), filepath.Base(file.path), err.Error(),
				"without "+file.flag+", hlsgen prints a file to start from")
			ok = false
		}
		opt.Cells = append(opt.Cells, f)
	}
	return opt, ok
}
