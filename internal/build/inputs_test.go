package build

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/num"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

func byteInput(scale *big.Rat) *frontend.IntegerInputType {
	return &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt, Width: 8}, Scale: scale}
}

// TestInputType holds what declaring the input does: the model's own scaling becomes thresholds on the device, the
// meaning stays, and data off the grid are refused.
func TestInputType(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		name      string
		quantised bool
		input     *frontend.IntegerInputType
		kinds     []string
		in        num.Type
	}{
		{"host quantises", true, nil, []string{"MVAU"}, num.Type{Kind: num.KindInt, Width: 3}},
		{"device quantises", true, byteInput(big.NewRat(1, 1)), []string{"Thresholding", "MVAU"},
			num.Type{Kind: num.KindUInt, Width: 8}},
		{"no quantiser at all", false, byteInput(big.NewRat(1, 1)), []string{"MVAU"},
			num.Type{Kind: num.KindUInt, Width: 8}},
		{"fractions that float32 rounds", true, byteInput(big.NewRat(1, 255)), []string{"Thresholding", "MVAU"},
			num.Type{Kind: num.KindUInt, Width: 8}},
		{"fractions in front of a product", false, byteInput(big.NewRat(1, 255)), []string{"MVAU"},
			num.Type{Kind: num.KindUInt, Width: 8}},
		{"an offset, means and deviations", false, &frontend.IntegerInputType{Type: num.Type{Kind: num.KindUInt,
			Width: 8},
			Scale: big.NewRat(1, 255), Offset: big.NewRat(-1, 2), InputNormalisation: frontend.InputNormalisation{
				Deviation: []*big.Rat{big.NewRat(229, 1000)},
				Mean:      []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 7), new(big.Rat), big.NewRat(-1, 3)}}},
			[]string{"MVAU"},
			num.Type{Kind: num.KindUInt, Width: 8}},
	} {
		r := built(t, Options{Source: options.Source{Model: pixels(t, c.quantised),
			ModelInputs: options.ModelInputs{InputType: c.input}}, Hardware: options.Hardware{Board: "pynq-z1"},
			Verification: options.Verification{Verify: 6}})
		g := r.Imported.Model.Graph
		if got := kinds(g); !slices.Equal(got, c.kinds) || g.Streams[g.In[0]].Type.Elem != c.in {
			t.Errorf("%s: layers %v fed with %s, want %v and %s", c.name, got, g.Streams[g.In[0]].Type.Elem, c.kinds,
				c.in)
		}
	}
}

func TestInputTypeRefuses(t *testing.T) {
	t.Parallel()
	for _, scale := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 255)} {
		for _, k := range []float64{0.5, -1, 256} {
			by, _ := scale.Float32()
			file := samplefiles.Write(t, &npy.Array{DType: "float32", Shape: []int{1, 4}, Data: []float64{0, 0, 0,
				float64(float32(k) * by)}})
			for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineFast} {
				o := Options{Source: options.Source{Model: pixels(t, true),
					ModelInputs: options.ModelInputs{InputType: byteInput(scale)}}}
				r, d := simtest.Run(t, simulationOf(o, e, file))
				if r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.InputDataInvalid ||
					!strings.Contains(d.Diags[0].Hint, "--input-type") {
					t.Errorf("engine %s, %v times %v: %v", e, k, scale, d.Diags)
				}
			}
		}
	}
}

// TestIntegerData gives integers to a model of reals: they are what --input-type says, and nothing without it.
func TestIntegerData(t *testing.T) {
	t.Parallel()
	int4 := &frontend.IntegerInputType{Type: num.Type{Kind: num.KindInt, Width: 4}, Scale: big.NewRat(1, 3)}
	for _, c := range []struct {
		name  string
		input *frontend.IntegerInputType
		dtype string
		data  []float64 // the same values as reals are those times the scale
		says  string    // part of the refusal
		hint  string
	}{
		{"bytes", byteInput(big.NewRat(1, 1)), "uint8", []float64{0, 1, 200, 255}, "", ""},
		{"bytes of fractions", byteInput(big.NewRat(1, 255)), "uint8", []float64{0, 1, 200, 255}, "", ""},
		{"another integer type", byteInput(big.NewRat(1, 255)), "int64", []float64{0, 1, 200, 255}, "", ""},
		{"codes below a byte", int4, "int8", []float64{-8, 7, 0, -1}, "", ""},
		{"too large a code", int4, "int8", []float64{-8, 8, 0, -1},
			"arrives as INT4, which does not hold 8 (element 1)", "give data of the model's shape"},
		{"a negative code", byteInput(big.NewRat(1, 1)), "int16", []float64{0, 0, 0, -1},
			"does not hold -1 (element 3)", ""},
		{"nothing said", nil, "uint8", []float64{0, 1, 2, 3}, "the data are integers (uint8)",
			"--input-type UINT8 for themselves, UINT8:1/255 for so many times it; or save real numbers: " +
				"x.astype(np.float32)"},
		{"nothing said, wide but small", nil, "int64", []float64{0, 1, 2, 255}, "the data are integers (int64)",
			"--input-type UINT8 "},
		{"nothing said, negative", nil, "int32", []float64{0, 1, 2, -300}, "(int32)", "--input-type INT16 "},
		{"nothing said, too wide", nil, "int32", []float64{0, 1, 2, 1 << 20}, "(int32)", "save real numbers"},
		{"nothing said of truth", nil, "bool", []float64{0, 1, 1, 0}, "(bool)", "--input-type UINT8 "},
	} {
		model := pixels(t, true)
		var first []float64
		for _, e := range []engines.EngineName{engines.EngineReference, engines.EngineEval, engines.EngineCycle} {
			o := simulate.Options{Source: options.Source{Model: model,
				ModelInputs: options.ModelInputs{InputType: c.input}}, Engine: e}
			given := &npy.Array{DType: c.dtype, Shape: []int{1, 4}, Data: c.data}
			o.Data = samplefiles.Write(t, given)
			r, d := simtest.Run(t, o)
			if c.says != "" {
				if r != nil || len(d.Diags) != 1 || d.Diags[0].Code != diag.InputDataInvalid ||
					!strings.Contains(d.Diags[0].Msg, c.says) || !strings.Contains(d.Diags[0].Hint, c.hint) {
					t.Errorf("%s, engine %s: %v, want %q and %q", c.name, e, d.Diags, c.says, c.hint)
				}
				continue
			}
			if r == nil {
				t.Fatalf("%s, engine %s: %v", c.name, e, d.Diags)
			}
			real := &npy.Array{DType: "float32", Shape: []int{1, 4}}
			for _, k := range c.data {
				v, _ := new(big.Rat).Mul(c.input.Scale, new(big.Rat).SetInt64(int64(k))).Float32()
				real.Data = append(real.Data, float64(v))
			}
			o.Data = samplefiles.Save(t, o.Data, real)
			again, d := simtest.Run(t, o)
			if again == nil || !slices.Equal(again.Outputs[0].Data, r.Outputs[0].Data) {
				t.Errorf("%s, engine %s: %v, and %v as reals", c.name, e, r.Outputs[0].Data, d.Diags)
			}
			if first == nil {
				first = r.Outputs[0].Data
			}
			if !slices.Equal(first, r.Outputs[0].Data) {
				t.Errorf("%s, engine %s: %v, others give %v", c.name, e, r.Outputs[0].Data, first)
			}
		}
	}
}

// TestInputQuant holds that a real input gets a quantiser, that the user is told, and that all engines agree on the
// changed model.
func TestInputQuant(t *testing.T) {
	t.Parallel()
	q := &frontend.AddedInputQuantiser{Type: num.Type{Kind: num.KindInt, Width: 8}, Scale: 0.0625}
	r, list := told(t, Options{Source: options.Source{Model: pixels(t, false),
		ModelInputs: options.ModelInputs{InputQuant: q}},
		Hardware: options.Hardware{Board: "pynq-z1"}, Verification: options.Verification{Verify: 6, NoCSim: true}})
	if len(list) != 1 || list[0].Code != diag.InputQuantiserAdded {
		t.Errorf("diagnostics %v, want one note", list)
	}
	if got := kinds(r.Imported.Model.Graph); !slices.Equal(got, []string{"MVAU"}) {
		t.Errorf("layers %v", got)
	}
}
