package source

import (
	"fmt"
	"os"

	"hlsgen/frontend/convert"
	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
)

// A ConvertResult is the result of Convert: the model read, and its form in another dialect.
type ConvertResult struct {
	Source *ModelSource
	Result *convert.Conversion
}

// Convert rewrites a model in another dialect, or simplifies it, and writes it to the file out. It replaces an existing
// file only with force. After adding an error to d it returns nil and writes nothing.
func Convert(o options.Source, how convert.Options, out string, force bool, d *diag.List) (c *ConvertResult,
	err error) {
	defer crash.Catch(&err)
	o.ReportProgress("reading", 0, 0)
	src := Open(o.Model, d)
	if src == nil {
		return nil, nil
	}
	if _, err := os.Lstat(out); err == nil && !force {
		d.Fail(diag.OutputForeign, out, "it is there already", "give another --out, or --force to replace it")
		return nil, nil
	}
	o.ReportProgress("converting", 0, 0)
	how.Dims, how.Shapes = o.Dims, o.Shapes
	r := convert.Run(src.File, src.ONNX, how, d)
	if r == nil || d.Failed() {
		return nil, nil
	}
	if err := outputdir.WriteFile(out, r.ONNX); err != nil {
		return nil, fmt.Errorf("write the converted model: %w", err)
	}
	return &ConvertResult{src, r}, nil
}

// ConvertedName returns the default name of the file that Convert writes for a model.
func ConvertedName(model string, how convert.Options) string {
	name := example().Name
	if model != "" {
		name = folder.FileStem(model)
	}
	if how.To == "" {
		return name + "-clean.onnx"
	}
	return name + "-" + string(how.To) + ".onnx"
}
