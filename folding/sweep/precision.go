package sweep

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
)

// PrecisionAccuracies holds the accuracies of a model that was quantised again: of its float and its own form, and of
// each variant.
type PrecisionAccuracies struct {
	// whether accuracies compare with labels; if not, with the largest outputs of the float model, which counts as
	// right
	Labelled bool                    `json:"labelled"`
	Float    samples.Accuracy        `json:"float"`          // without rounding activations
	AsIs     samples.Accuracy        `json:"as_is"`          // with the model's own quantisers
	Bare     bool                    `json:"bare,omitempty"` // whether it has no quantisers
	Least    *source.MinimalNodeBits `json:"least,omitempty"`

	variants map[string]*source.MeasuredVariant
	order    []string
}

// precisions quantises the model again for each requested precision, and returns the space of each. It returns nil
// spaces after adding errors to d.
func (o *Options) precisions(ctx context.Context, all *spaces, d *diag.List) (*source.ModelSource, *spaces, error) {
	v, err := source.NewVariantMaker(ctx, o.Source, d)
	if v == nil || err != nil {
		return nil, nil, err
	}
	p := &PrecisionAccuracies{Labelled: v.Labelled, Float: v.Float, AsIs: *v.AsIs, Bare: v.Bare,
		variants: map[string]*source.MeasuredVariant{}}
	for i, recipe := range o.Precisions {
		name := recipe.String()
		if p.variants[name] != nil {
			continue
		}
		o.ReportProgress("quantising", i, len(o.Precisions))
		x, err := v.MakeVariant(ctx, recipe)
		if err != nil {
			return nil, nil, err
		}
		p.variants[name], p.order, p.Least = x, append(p.order, name), cmp.Or(p.Least, x.Least)
		all.models[made{precision: name, samples: 1}] = x.Model
		if all.refused[name] = x.Refused; x.Source != nil {
			all.sums[name] = x.Source.SHA256()
		}
	}
	shapes, err := o.imports()
	if err != nil {
		return nil, nil, err
	}
	all.precisions, all.salt = p, v.Source.SHA256()+shapes
	return v.Source, all, nil
}

// mark returns the points with the accuracy of the requantised model that each uses. A nil p leaves them unchanged.
func (p *PrecisionAccuracies) mark(points []PointResult) []PointResult {
	if p == nil {
		return points
	}
	points = slices.Clone(points)
	for i := range points {
		points[i].Accuracy = p.variants[points[i].Precision].Accuracy
	}
	return points
}

// enough returns the accuracy that a point needs to be chosen: that of the float model, as far as the samples tell. It
// is the best accuracy of any point if that is less, and 0 for a nil p.
func (p *PrecisionAccuracies) enough(points []PointResult) float64 {
	if p == nil {
		return 0
	}
	best := 0.0
	for i := range points {
		if a := points[i].Accuracy; a != nil && points[i].Status == PointStatusFits {
			best = max(best, a.ShareRight())
		}
	}
	return min(best, p.Float.Low)
}

// files returns the models of the variants as files to write.
func (p *PrecisionAccuracies) files() (list []file) {
	for _, name := range p.order {
		if src := p.variants[name].Source; src != nil {
			list = append(list, file{name + ".onnx", src.ONNX})
		}
	}
	return list
}

// precision returns the columns of the precision and the accuracy. There are none if the model stays as it is.
func (p *PointResult) precision() []column {
	if p.Precision == "" {
		return nil
	}
	r, err := frontend.ParseQuantisationRecipe(p.Precision)
	if err != nil {
		return []column{{"precision", p.Precision}}
	}
	a := cmp.Or(p.Accuracy, &samples.Accuracy{})
	bits := ""
	if r.AccBits > 0 {
		bits = strconv.Itoa(r.AccBits)
	}
	w, x := r.Weights.String(), r.Activations.String()
	if r.Least { // the widths differ from tensor to tensor
		w, x = "", ""
	}
	return append([]column{{"precision", p.Precision}, {"weights", w}, {"activations", x},
		{"accumulator_bits", bits}}, where(p.Accuracy != nil, []column{
		{"accuracy", number(round(a.ShareRight()))}, {"accuracy_low", number(round(a.Low))},
		{"accuracy_high", number(round(a.High))}, {"accuracy_samples", strconv.Itoa(a.Samples)},
	}...)...)
}

// one returns the singular of CountedUnit: "frame" or "sample".
func (r *SweepReport) one() string { return r.CountedUnit()[:len(r.CountedUnit())-1] }
