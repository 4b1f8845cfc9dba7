package compiler

import (
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/tier"
)

// FINN's own builds of TFC-W1A1: the clocks of one frame through the stitched design, by RTL simulation, against those
// of our simulation at the same folding. FINN's figures are of the layers alone, which are fed a word in every clock:
// no host's port, no Reshape and no IODMA.
func TestLatencyOfFINNBuilds(t *testing.T) {
	t.Parallel()
	shared := tier.NeedsShared(t)
	for _, build := range []string{"tfc_w1a1_auto", "tfc_w1a1_custom_0", "tfc_w1a1_custom_2"} {
		dir := filepath.Join(shared, "reference", "finn_builds", build)
		var finn struct {
			Latency int `json:"latency_cycles"`
		}
		b, err := os.ReadFile(filepath.Join(dir, "rtlsim_performance.json"))
		if err = errors.Join(err, json.Unmarshal(b, &finn)); err != nil || finn.Latency == 0 {
			t.Fatal(err, finn)
		}
		r, _ := told(t, Options{
			Model: filepath.Join(shared, "models", "zoo", "labs_tfc_w1a1", "model.onnx"), Board: "pynq-z1",
			IO: dataflow.FromStream, Arrives: byteInput(big.NewRat(1, 1)),
			Folding: filepath.Join(dir, "final_hw_config.json"), NoCSim: true, Verify: 1,
		})
		latency := r.Design.Clocks.Latency
		share := float64(latency) / float64(finn.Latency)
		t.Logf("%s: %d clocks, FINN's design %d: %.3f of it", build, latency, finn.Latency, share)
		if share < 0.85 || share > 1.15 {
			t.Errorf("%s: a frame takes %d clocks, FINN's design %d", build, latency, finn.Latency)
		}
	}
}
