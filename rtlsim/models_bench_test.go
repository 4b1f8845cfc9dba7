package rtlsim_test

import (
	"context"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/testsupport/models"
	"hlsgen/rtlsim"
)

// BenchmarkSizeModels sizes the FIFOs of trained networks at their highest rate, beginning with two words. The
// reported words would be moved if no repetition was skipped.
func BenchmarkSizeModels(b *testing.B) {
	board, err := boards.FindBoard("zcu104")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"digits-mobilenet-w4a4", "digits-resnet-w4a4", "digits-conv1d-w4a4"} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			var told diag.List
			onnx := models.Find(b, name).Read(b, "model.onnx")
			im, err := frontend.Import("model.onnx", onnx, frontend.Options{}, &told)
			if err != nil || im.Model == nil {
				b.Fatal(err, told.Diags)
			}
			target := dataflow.Target{Board: board, ClockMHz: 200}
			made, err := folding.FindBestDesign(ctx, im.Model, target, folding.Goal{}, &told)
			if err != nil || made == nil {
				b.Fatal(err, told.Diags)
			}
			d := *made.Design
			d.FIFO = slices.Repeat(dataflow.NewShiftRegisterFIFOs(rtlsim.MinFIFODepth), len(d.FIFO))
			words := 0
			for b.Loop() {
				z, err := rtlsim.FindFIFODepths(ctx, &d, rtlsim.FIFOSizingOptions{})
				if err != nil || !z.Feasible {
					b.Fatal(err, z)
				}
				words = z.Moved
			}
			b.ReportMetric(float64(words)*float64(b.N)/b.Elapsed().Seconds(), "words/s")
		})
	}
}
