package frontend_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/frontend"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// accumulators is a layer of accumulators.json, as the trainer of the A2Q models has counted it.
type accumulators struct {
	Layer    string  `json:"layer"`
	K        int     `json:"K"`
	N        int     `json:"N"`
	M        int     `json:"M"`
	Signed   bool    `json:"input_signed"`
	L1       []int64 `json:"l1"`
	Sum      []int64 `json:"sum"`
	Min      []int64 `json:"exact_min"`
	Max      []int64 `json:"exact_max"`
	Width    []int   `json:"exact_width"`
	DataType int     `json:"P_datatype"`
	L1Bits   int     `json:"P_l1"`
	Channels []int   `json:"P_l1_per_channel"`
}

// TestSums compares the model's own integers with the trainer's counts, channel by channel, in both dialects.
func TestSums(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, file := range []string{"model.onnx", "qcdq.onnx"} {
		folders, err := filepath.Glob(filepath.Join(tier.NeedsShared(t), "models/brevitas/a2q*"))
		if err != nil || len(folders) == 0 {
			t.Fatal("no A2Q models")
		}
		for _, dir := range folders {
			t.Run(filepath.Base(dir)+"/"+file, func(t *testing.T) {
				t.Parallel()
				var want []accumulators
				b, err := os.ReadFile(filepath.Join(dir, "accumulators.json"))
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(b, &want); err != nil {
					t.Fatal(err)
				}
				onnx, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				var d diag.List
				im, err := frontend.Import(file, onnx, frontend.Options{}, &d)
				if err != nil || im.Model == nil {
					t.Fatal(err, d.Diags)
				}
				sums := im.AllLayerDotProducts()
				if len(sums) != len(want)+2 {
					t.Fatalf("%d products, want %d and the first and last", len(sums), len(want))
				}
				for i, w := range want {
					sumIs(t, sums[i+1], w)
				}
			})
		}
	}
}

func sumIs(t *testing.T, s *frontend.LayerDotProducts, w accumulators) {
	t.Helper()
	if s.Why != "" || s.Layer == "" {
		t.Fatalf("%s: %s", s.Node, s.Why)
	}
	if len(s.Weights) != len(w.L1) || len(s.Weights[0]) != w.K || s.InBits != w.N || s.Bits != w.M ||
		s.InSigned != w.Signed {
		t.Fatalf("%s: %d x %d, %d and %d bits, signed %v; want %d x %d, %d, %d, %v", w.Layer, len(s.Weights),
			len(s.Weights[0]), s.InBits, s.Bits, s.InSigned, len(w.L1), w.K, w.N, w.M, w.Signed)
	}
	for c := range s.Weights {
		b := s.AccumulatorBitsOfChannel(c)
		if b.L1 != w.L1[c] || b.Total != w.Sum[c] || b.Range != (num.Range{Lo: w.Min[c], Hi: w.Max[c]}) ||
			b.Exact != w.Width[c] || b.L1Bits != w.Channels[c] {
			t.Errorf("%s, channel %d: %+v, want l1 %d, sum %d, %d to %d, %d bits, %d by l1", w.Layer, c, b, w.L1[c],
				w.Sum[c], w.Min[c], w.Max[c], w.Width[c], w.Channels[c])
		}
	}
	if got := s.AccumulatorBitsByDataType(); got != w.DataType {
		t.Errorf("%s: %d bits by data types, want %d", w.Layer, got, w.DataType)
	}
}
