package formats

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/safefile"
	"hlsgen/internal/simulate"
)

// A ModelAccuracy holds the accuracy of a labelled model. The integer network, run by the engine eval, classifies the
// samples. A sample with a negative label does not count.
type ModelAccuracy struct {
	Name        string     `json:"name"`
	Samples     int        `json:"samples"`
	Right       int        `json:"right"`
	Interval    [2]float64 `json:"interval"`    // 95 % confidence interval of the accuracy (Wilson), in percent
	Accumulator int        `json:"accumulator"` // bits of the widest accumulator
	// types of the inputs of layers that accumulate
	Held []string `json:"held"`
	// accuracy of the whole test set that info.json states, as a share
	Own float64 `json:"own_accuracy,omitempty"`
}

// MeasureModelAccuracy runs the folder's model.onnx on its inputs.npy and compares the classes with those of
// labels.npy, which has one per sample from the first on. If the model or a file is unfit, it adds an error to d and
// returns nil.
func MeasureModelAccuracy(ctx context.Context, folder string, o options.Source, d *diag.List) (*ModelAccuracy, error) {
	path := filepath.Join(folder, "labels.npy")
	arrays, err := npy.ReadArrays(path)
	if err != nil {
		hint := "give a folder with model.onnx, inputs.npy and labels.npy"
		if !errors.Is(err, fs.ErrNotExist) {
			hint = "labels.npy has the class of each of the first samples"
		}
		d.AddError(diag.FileUnreadable, path, err.Error(), hint)
		return nil, nil
	}
	var labels *npy.Array
	for _, a := range arrays {
		labels = a
	}
	o.Model = filepath.Join(folder, "model.onnx")
	checked, err := check.Run(ctx, check.Options{Source: o}, d)
	if checked == nil || err != nil || d.HasErrors() {
		return nil, err
	}
	m := &ModelAccuracy{Name: filepath.Base(filepath.Clean(folder))}
	for _, l := range checked.Layers {
		if l.Acc != nil {
			m.Accumulator = max(m.Accumulator, l.Acc.Used)
			m.Held = append(m.Held, l.In[0].Type)
		}
	}
	o.Data = filepath.Join(folder, "inputs.npy")
	got, err := simulate.Run(ctx, simulate.Options{Source: o, Engine: engines.EngineEval}, d)
	if got == nil || err != nil || d.HasErrors() {
		return nil, err
	}
	y := got.Outputs[0]
	classes := len(y.Data) / max(1, got.Samples)
	for i, label := range labels.Data[:min(got.Samples, len(labels.Data))] {
		if label < 0 || classes < 2 { // the sample has no label
			continue
		}
		m.Samples++
		if largest(y.Data[i*classes:(i+1)*classes]) == int(label) {
			m.Right++
		}
	}
	if m.Samples == 0 {
		d.AddError(diag.InputDataInvalid, path, "there are no classes to compare labels with",
			"give a classifier and its labels")
		return nil, nil
	}
	m.Interval, m.Own = wilson(m.Right, m.Samples), own(filepath.Join(folder, "info.json"))
	return m, nil
}

// largest returns the index of the largest score, the lowest among equals.
func largest(scores []float64) (best int) {
	for k, v := range scores {
		if v > scores[best] {
			best = k
		}
	}
	return best
}

// own returns the field accuracy of a JSON file, a share from 0 to 1. It returns 0 if the file is unreadable or lacks
// the field.
func own(path string) float64 {
	const most = 1 << 20
	var info struct {
		Accuracy float64 `json:"accuracy"`
	}
	text, err := safefile.ReadRegularFile(path, most)
	if err != nil || json.Unmarshal(text, &info) != nil {
		return 0
	}
	return info.Accuracy
}

// wilson returns the 95 % confidence interval, in percent, of the share that right of n samples have (Wilson's score).
func wilson(right, n int) [2]float64 {
	const z = 1.959964
	p, size := float64(right)/float64(n), float64(n)
	centre, spread := p+z*z/(2*size), z*math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	all := 1 + z*z/size
	return [2]float64{100 * max(0, (centre-spread)/all), 100 * min(1, (centre+spread)/all)}
}
