package build

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/folding"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestAccPerPE builds networks with an accumulator for each PE as wide as its own channels need: the engines agree,
// csim among them; no accumulator is wider than the layer's, some are narrower, and the C++ has their widths; and in
// the same folding nothing takes more.
func TestAccPerPE(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model   string
		clocks  int
		backend options.Backend
		engines string
	}{
		{"jets-qap-w6a6-s80", 16, options.BackendBoth, "[eval cycle csim rtl]"},
		{"digits-mobilenet-w4a4", 256, options.BackendHLS, "[eval cycle csim]"}, // with depthwise layers
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			tier.NotQuick(t)
			tier.Needs(t, "g++")
			if c.backend.Decides().WholeFrames {
				tier.Needs(t, "verilator")
			}
			m := models.Find(t, c.model)
			o := Options{Source: options.Source{Model: m.Path("model.onnx"),
				SampleFiles: options.SampleFiles{Data: m.Path("inputs.npy")}},
				Hardware: options.Hardware{Board: "alveo-u250",
					AccPerPE: true, Backend: c.backend}, Goal: options.Goal{Interval: float64(c.clocks)},
				Verification: options.Verification{Verify: 8}}
			r, _ := told(t, o)
			if got := fmt.Sprint(r.Verified.Engines); got != c.engines {
				t.Errorf("verified by %s, want %s", got, c.engines)
			}
			var layers []report.LayerReport
			if err := json.Unmarshal(readReport(t, r, "report/layers.json"), &layers); err != nil {
				t.Fatal(err)
			}
			laned := 0
			for _, l := range layers {
				if l.Fold.AccBits == nil {
					continue
				}
				laned++
				text := strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Fold.AccBits), " ", ", "), "[]")
				if header := string(readReport(t, r, "hls/layers/"+l.Name+".hpp")); !strings.Contains(header,
					"counts<"+text+"> acc_bits;") {
					t.Errorf("%s.hpp has not the widths %s", l.Name, text)
				}
				if len(l.Fold.AccBits) != l.Fold.PE || slices.Max(l.Fold.AccBits) > l.Acc.Used ||
					slices.Min(l.Fold.AccBits) >= l.Acc.Used {
					t.Errorf("%s: %v bits for %d PE, the layer's are %d", l.Name, l.Fold.AccBits, l.Fold.PE, l.Acc.Used)
				}
			}
			if laned == 0 {
				t.Error("no layer has accumulators of several widths")
			}
			var d diag.List
			o.AccPerPE, o.NoCSim, o.FoldingFile = false, true, folding.ParseFoldingFile(readReport(t, r,
				"folding.json"), &d)
			same, _ := told(t, o)
			if a, b := r.Design.Estimate.Total, same.Design.Estimate.Total; a.LUT >= b.LUT || a.FF > b.FF {
				t.Errorf("takes %+v, with equal widths %+v", a, b)
			}
		})
	}
}
