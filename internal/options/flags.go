package options

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/quantise"
)

// A FlagValue is a flag with its values.
type FlagValue struct {
	Name  string
	Texts []string
}

// ModelFlags lists the flags about the model's axes, inputs and cells. Files keep the paths of the options.
func (o Source) ModelFlags() []FlagValue {
	list := []FlagValue{{"dim", o.DimFlags()}, {"shape", o.Shapes.Texts()}}
	if t := o.InputType; t != nil {
		list = append(list, FlagValue{"input-type", []string{t.String()}})
		for _, of := range []FlagValue{{"input-mean", t.MeanFlagValues()}, {"input-std", t.StdFlagValues()}} {
			if len(of.Texts) > 0 {
				list = append(list, of)
			}
		}
	}
	if q := o.InputQuant; q != nil {
		list = append(list, FlagValue{"input-quant", []string{fmt.Sprintf("%s:%v", q.Type, q.Scale)}})
	}
	if len(o.States) > 0 {
		var texts []string
		for _, s := range o.States {
			texts = append(texts, s.String())
		}
		list = append(list, FlagValue{"state", texts})
	}
	if len(o.Initial) > 0 {
		list = append(list, FlagValue{"initial-state", o.Initial.Texts()})
	}
	if len(o.Outputs) > 0 {
		list = append(list, FlagValue{"outputs", []string{strings.Join(o.Outputs, ",")}})
	}
	if o.Calibrate != "" {
		list = append(list, FlagValue{"calibrate", []string{o.Calibrate}}, FlagValue{"quantize",
			[]string{o.FullRecipe().String()}})
		if o.Scales != "" {
			list = append(list, FlagValue{"scales", []string{string(o.Scales)}})
		}
		if o.Lookup != "" {
			list = append(list, FlagValue{"lookup", []string{string(o.Lookup)}})
		}
		for _, f := range []struct {
			name  string
			given bool
		}{{"equalize", o.Equalise}, {"correct-bias", o.CorrectBias}} {
			if f.given {
				list = append(list, FlagValue{f.name, []string{"true"}})
			}
		}
	}
	for _, file := range []FlagValue{{"lstm-config", []string{o.LSTM}}, {"cell-config", []string{o.Cells}}} {
		if file.Texts[0] != "" {
			list = append(list, file)
		}
	}
	return list
}

// DimFlags returns the values of --dim: the sizes of axes, and the range of lengths.
func (o ModelInputs) DimFlags() (list []string) {
	for _, axis := range slices.Sorted(maps.Keys(o.Dims)) {
		list = append(list, fmt.Sprintf("%s=%d", axis, o.Dims[axis]))
	}
	if l := o.Lengths; l != nil {
		list = append(list, fmt.Sprintf("%s=%d..%d", l.Axis, l.Min, l.Max))
	}
	return list
}

// DefaultRecipe quantises weights and activations to 8 bits.
var DefaultRecipe = frontend.Recipe{Weights: quantise.QuantFormat{Bits: 8}, Activations: quantise.QuantFormat{Bits: 8}}

// FullRecipe returns the recipe for --calibrate, with the options for scales and biases.
func (o Quantisation) FullRecipe() frontend.Recipe {
	r := DefaultRecipe
	if o.Recipe != nil {
		r = *o.Recipe
	}
	r.Scales, r.Equalise, r.CorrectBias = o.Scales, o.Equalise, o.CorrectBias
	return r
}

// ModelFlagMap returns ModelFlags as a map from the flag to its values, joined by commas.
func (o Source) ModelFlagMap() map[string]string {
	out := map[string]string{}
	for _, f := range o.ModelFlags() {
		if len(f.Texts) > 0 {
			out[f.Name] = strings.Join(f.Texts, ",")
		}
	}
	return out
}
