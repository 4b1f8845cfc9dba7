package datafile

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/safefile"
	"hlsgen/internal/samples"
)

// ReadLabels reads the labels of samples. It returns nil after adding an error to d.
func ReadLabels(path string, runs int, out []dataflow.RealPort, d *diag.List) *samples.Labels {
	const hint = "give a .npy file with an integer for each sample, -1 where it has no label"
	arrays, err := npy.ReadFile(path)
	a := arrays[""]
	if err == nil && a == nil {
		err = fmt.Errorf("it holds %d arrays with names", len(arrays))
	}
	if err != nil {
		AddUnreadable(path, err, hint, d)
		return nil
	}
	l, err := samples.LabelsOf(a, runs, out)
	if err != nil {
		AddUnfit(path, err, d)
	}
	return l
}

// StatedAccuracy returns the accuracy in the info.json beside a model, from 0 to 1, or nil if there is none. The
// model's trainer measured it on the whole test set.
func StatedAccuracy(model string) *float64 {
	if model == "" {
		return nil
	}
	b, err := safefile.ReadFile(filepath.Join(filepath.Dir(model), "info.json"), safefile.MaxSettings)
	if err != nil {
		return nil
	}
	var info struct{ Accuracy *float64 }
	if json.Unmarshal(b, &info) != nil || info.Accuracy == nil || *info.Accuracy < 0 || *info.Accuracy > 1 {
		return nil
	}
	return info.Accuracy
}
