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

// ReadLabels reads labels from a file: a class for each sample, or -1 for none. runs is the number of samples. out are
// the model's outputs, one of which must give classes. It returns nil after adding an error to d.
func ReadLabels(path string, runs int, out []dataflow.RealTensorInfo, d *diag.List) *samples.ClassLabels {
	const hint = "give a .npy file with an integer for each sample, -1 where it has no label"
	arrays, err := npy.ReadArrays(path)
	a := arrays[""]
	if err == nil && a == nil {
		err = fmt.Errorf("it holds %d arrays with names", len(arrays))
	}
	if err != nil {
		AddUnreadableFileDiag(path, err, hint, d)
		return nil
	}
	l, err := samples.NewClassLabelsFromArray(a, runs, out)
	if err != nil {
		AddUnfitDataDiag(path, err, d)
	}
	return l
}

// ReadStatedAccuracy returns the accuracy in the info.json beside the model file, from 0 to 1. The model's trainer
// measured it on the whole test set. It returns nil if model is "", or if the file cannot be read or holds no such
// accuracy.
func ReadStatedAccuracy(model string) *float64 {
	if model == "" {
		return nil
	}
	b, err := safefile.ReadRegularFile(filepath.Join(filepath.Dir(model), "info.json"), safefile.MaxSettingsFileBytes)
	if err != nil {
		return nil
	}
	var info struct{ Accuracy *float64 }
	if json.Unmarshal(b, &info) != nil || info.Accuracy == nil || *info.Accuracy < 0 || *info.Accuracy > 1 {
		return nil
	}
	return info.Accuracy
}
