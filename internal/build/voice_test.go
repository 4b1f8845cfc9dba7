package build

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
	"hlsgen/internal/testsupport/tier"
)

// sound is a stretch of noise, of tones, or of something like speech: a voice with a gliding pitch, formants and
// syllables, in a little noise.
func sound(r *rand.Rand, samples int) []float64 {
	const rate = 16000
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	x, kind, loud := make([]float64, samples), r.IntN(4), math.Pow(10, between(-1.1, -0.6))
	switch kind {
	case 0:
		for i := range x {
			x[i] = 0.5 * loud * r.NormFloat64()
		}
	case 1:
		for range 1 + r.IntN(3) {
			f, phase := between(100, 4000), between(0, 2*math.Pi)
			for i := range x {
				x[i] += 0.5 * loud * math.Sin(2*math.Pi*f*float64(i)/rate+phase)
			}
		}
	default:
		pitch, glide, at := between(90, 250), between(1, 4), between(0, 2*math.Pi)
		formants := [3]float64{between(300, 900), between(900, 2400), between(2400, 3500)}
		syllables, begin := between(2.5, 5), between(0, 2*math.Pi)
		phase := 0.0
		for i := range x {
			t := float64(i) / rate
			f := pitch * (1 + 0.15*math.Sin(2*math.Pi*glide*t+at))
			phase += 2 * math.Pi * f / rate
			v := 0.0
			for h := 1.0; h < 40 && h*f < 7500; h++ {
				for k, width := range [3]float64{90, 140, 200} {
					off := (h*f - formants[k]) / width
					v += [3]float64{1, 0.6, 0.3}[k] / (1 + off*off) * math.Sin(h*phase)
				}
			}
			open := min(max(math.Sin(2*math.Pi*syllables*t+begin)+0.5, 0), 1)
			x[i] = 0.6*loud*open*v + 0.01*loud*r.NormFloat64()
		}
	}
	return x
}

// windows are pieces of 512 samples of such sounds, each behind the last 64 of the piece before.
func windows(n int, seed uint64) *npy.Array {
	const context, piece = 64, 512
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, context)
	for len(x) < context+n*piece {
		x = append(x, sound(r, piece*(4+r.IntN(20)))...)
	}
	a := &npy.Array{DType: "float32", Shape: []int{n, 1, context + piece}}
	for i := range n {
		for _, v := range x[i*piece:][:context+piece] {
			a.Data = append(a.Data, float64(float32(min(max(v, -1), 1))))
		}
	}
	return a
}

// TestVoiceActivity holds a float network that somebody has, its states carried from window to window, against what it
// becomes in integers.
func TestVoiceActivity(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shared := tier.Shared(t)
	model := filepath.Join(shared, "models", "shelf", "voice_activity", "float.onnx")
	named := func(a *npy.Array) string {
		zip, err := npy.EncodeNPZ(map[string]*npy.Array{"input": a})
		if err != nil {
			t.Fatal(err)
		}
		return samplefiles.WriteFile(t, "x.npz", zip)
	}
	written := filepath.Join(t.TempDir(), "quantised.onnx")
	states := []frontend.StateFeedback{{Input: "state", Output: "stateN"}}
	folds := "" // the search takes as long as all else
	if !tier.Long() {
		folds = samplefiles.WriteFile(t, "folding.json", []byte(`{"Defaults": {"PE": [1, "all"], "SIMD": [1, "all"]}}`))
	}
	told(t, Options{Source: options.Source{Model: model,
		Quantisation: options.Quantisation{Calibrate: named(windows(400, 1)),
			SaveModel: written}, ModelInputs: options.ModelInputs{States: states}},
		Hardware: options.Hardware{Board: "zcu104"}, Goal: options.Goal{Folding: folds},
		Verification: options.Verification{NoCSim: true, Verify: 2}})
	judged := named(windows(1000, 2))
	o := simulate.Options{Source: options.Source{Model: written, ModelInputs: options.ModelInputs{States: states},
		SampleFiles: options.SampleFiles{Data: judged}}}
	list := []engines.EngineName{engines.EngineFast}
	if tier.Long() {
		list = []engines.EngineName{engines.EngineFast, engines.EngineReference, engines.EngineEval}
	}
	is := simtest.SameByEngines(t, o, list...)
	if tier.Long() {
		o.Stateful = true
		if kept := simtest.SameByEngines(t, o, engines.EngineFast); !slices.Equal(kept[0].Data, is[0].Data) {
			t.Error("the device that keeps the state gives something else")
		}
		o.Stateful = false
	}
	o.Data, list = named(windows(20, 3)), []engines.EngineName{engines.EngineReference, engines.EngineFast,
		engines.EngineEval, engines.EngineCycle}
	if tier.Long() {
		list = append(list, engines.EngineCSim)
	}
	simtest.SameByEngines(t, o, list...)
	o.Model, o.Data = model, judged
	was := simtest.SameByEngines(t, o, engines.EngineFloat)
	sum, same, above := 0.0, 0, 0
	for i, v := range was[0].Data {
		sum += math.Abs(v - is[0].Data[i])
		if v > 0.5 {
			above++
		}
		if (v > 0.5) == (is[0].Data[i] > 0.5) {
			same++
		}
	}
	t.Logf("output differs by %.4f (mean); the decision is the same in %d of 1000; %d are above", sum/1000, same, above)
	if sum/1000 > 0.03 || same < 980 || above < 100 {
		t.Errorf("it differs by %.4f, wanted 0.03; %d decisions are the same, wanted 980; %d are above, wanted 100",
			sum/1000, same, above)
	}
}
