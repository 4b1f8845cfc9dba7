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

// A ConvertResult holds the model that ConvertModelFile read, and the result of its conversion.
type ConvertResult struct {
	Source *ModelSource
	Result *convert.ConvertedModel
}

// ConvertModelFile rewrites a model in another dialect, or simplifies it, and writes it to the file out. It replaces an
// existing file only if force is set. After adding an error to d it returns nil and writes nothing.
func ConvertModelFile(o options.Source, how convert.Options, out string, force bool, d *diag.List) (c *ConvertResult,
	err error) {
	defer crash.RecoverPanicIntoError(&err)
	o.ReportProgress("reading", 0, 0)
	src := ReadModelFile(o.Model, d)
	if src == nil {
		return nil, nil
	}
	if _, err := os.Lstat(out); err == nil && !force {
		d.AddError(diag.OutputHasForeignFiles, out, "it is there already",
			"give another --out, or --force to replace it")
		return nil, nil
	}
	o.ReportProgress("converting", 0, 0)
	how.Dims, how.Shapes = o.Dims, o.Shapes
	r := convert.ConvertModel(src.File, src.ONNX, how, d)
	if r == nil || d.HasErrors() {
		return nil, nil
	}
	if err := outputdir.WriteFileAtomically(out, r.ONNX); err != nil {
		return nil, fmt.Errorf("write the converted model: %w", err)
	}
	return &ConvertResult{src, r}, nil
}

// DefaultConvertedFileName returns the file that ConvertModelFile is to write for a model if the user names none. For
// net.onnx it is net-DIALECT.onnx or, without a dialect, net-clean.onnx.
func DefaultConvertedFileName(model string, how convert.Options) string {
	name := example().Name
	if model != "" {
		name = folder.FileStemOf(model)
	}
	if how.To == "" {
		return name + "-clean.onnx"
	}
	return name + "-" + string(how.To) + ".onnx"
}
