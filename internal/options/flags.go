package options

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
)

// A FlagWithValues holds the name of a flag, without dashes, and its values.
type FlagWithValues struct {
	Name  string
	Texts []string
}

// ModelFlags returns the flags about the model's axes, inputs, cells and quantisation, with the values that the user
// gave. "dim" and "shape" are always in the list, perhaps without values. With --calibrate, "quantize" has the complete
// recipe. Files appear by the paths in the options.
func (o Source) ModelFlags() []FlagWithValues {
	list := []FlagWithValues{{"dim", o.DimFlagValues()}, {"shape", o.Shapes.FlagValues()}}
	if t := o.InputType; t != nil {
		list = append(list, FlagWithValues{"input-type", []string{t.String()}})
		for _, of := range []FlagWithValues{{"input-mean", t.MeanFlagValues()}, {"input-std", t.StdFlagValues()}} {
			if len(of.Texts) > 0 {
				list = append(list, of)
			}
		}
	}
	if q := o.InputQuant; q != nil {
		list = append(list, FlagWithValues{"input-quant", []string{fmt.Sprintf("%s:%v", q.Type, q.Scale)}})
	}
	if len(o.States) > 0 {
		var texts []string
		for _, s := range o.States {
			texts = append(texts, s.String())
		}
		list = append(list, FlagWithValues{"state", texts})
	}
	if len(o.Initial) > 0 {
		list = append(list, FlagWithValues{"initial-state", o.Initial.FlagValues()})
	}
	if len(o.Outputs) > 0 {
		list = append(list, FlagWithValues{"outputs", []string{strings.Join(o.Outputs, ",")}})
	}
	if o.Calibrate != "" {
		list = append(list, FlagWithValues{"calibrate", []string{o.Calibrate}}, FlagWithValues{"quantize",
			[]string{o.CompleteRecipe().String()}})
		if o.Scales != "" {
			list = append(list, FlagWithValues{"scales", []string{string(o.Scales)}})
		}
		if o.Lookup != "" {
			list = append(list, FlagWithValues{"lookup", []string{string(o.Lookup)}})
		}
		for _, f := range []struct {
			name  string
			given bool
		}{{"equalize", o.Equalise}, {"correct-bias", o.CorrectBias}} {
			if f.given {
				list = append(list, FlagWithValues{f.name, []string{"true"}})
			}
		}
	}
	for _, file := range []FlagWithValues{{"lstm-config", []string{o.LSTM}}, {"cell-config", []string{o.Cells}}} {
		if file.Texts[0] != "" {
			list = append(list, file)
		}
	}
	return list
}

// DimFlagValues returns the values of --dim: the size of each axis as "name=size", and the range of lengths as
// "name=min..max".
func (o ModelInputs) DimFlagValues() (list []string) {
	for _, axis := range slices.Sorted(maps.Keys(o.Dims)) {
		list = append(list, fmt.Sprintf("%s=%d", axis, o.Dims[axis]))
	}
	if l := o.Lengths; l != nil {
		list = append(list, fmt.Sprintf("%s=%d..%d", l.Axis, l.Min, l.Max))
	}
	return list
}

// DefaultQuantisationRecipe is the recipe of --calibrate if the user gives none. It quantises weights and activations
// to 8 bits.
var DefaultQuantisationRecipe = frontend.QuantisationRecipe{Weights: quantise.QuantFormat{Bits: 8},
	Activations: quantise.QuantFormat{Bits: 8}}

// CompleteRecipe returns the recipe for --calibrate: the user's or the default one, with the options about scales and
// biases set.
func (o Quantisation) CompleteRecipe() frontend.QuantisationRecipe {
	r := DefaultQuantisationRecipe
	if o.Recipe != nil {
		r = *o.Recipe
	}
	r.Scales, r.Equalise, r.CorrectBias = o.Scales, o.Equalise, o.CorrectBias
	return r
}

// ModelFlagMap returns the flags of ModelFlags as a map from name to values, which commas separate.
func (o Source) ModelFlagMap() map[string]string {
	out := map[string]string{}
	for _, f := range o.ModelFlags() {
		if len(f.Texts) > 0 {
			out[f.Name] = strings.Join(f.Texts, ",")
		}
	}
	return out
}
