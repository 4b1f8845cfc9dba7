package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/internal/diag"
	"hlsgen/internal/weights"
)

// weightsCommand returns the command weights.
func weightsCommand(a *app) *cobra.Command {
	var o weights.Options
	t := a.task(&cobra.Command{
		Use:   "weights MODEL.onnx --for DIR",
		Short: "Write the weights of a retrained model for hardware that is built already",
		Long: `Weights writes what a driver needs to run another model on an accelerator that
was built with --weights runtime, stream or external: the same network, with
other weights, scales and thresholds. DIR is the folder of that build.

It writes two files: weights.bin, which is loaded into the hardware, and
host.json, which says what inputs become and what results mean. They belong to
each other, and to that hardware. No bitstream is made:

  net = Accelerator("net.bit", host="retrained-weights/host.json")

The model goes through the same steps as when the hardware was built, with the
same folding, and the resulting circuits are compared with those in DIR. Where
anything but the contents of tables differs, nothing is written, and an error
gives the reason: another shape, a type, a weight or code beyond the room.`,
		Example: `  hlsgen build net.onnx --board pynq-z1 --backend rtl --weights runtime --out net
  hlsgen weights retrained.onnx --for net
  hlsgen weights retrained.onnx --for net --out deploy/monday`,
	}, parts{Source: &o.Source})
	t.path(&o.For, "for", "DIR", "folder of a build with --weights runtime, stream or external", nil)
	t.path(&o.Out, "out", "DIR", "folder to write (default MODEL-weights)", nil)
	t.inputs()
	t.strict()
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		switch {
		case o.For == "":
			return nil, usagef("the folder of a build is needed: --for DIR, as hlsgen build --weights runtime or " +
				"stream wrote it")
		case o.Model == "":
			return nil, usagef("a model is needed: hlsgen weights retrained.onnx --for DIR")
		}
		if o.Out == "" {
			o.Out = under(a.dir, weights.DefaultOutFolder(o.Model))
		}
		r, err := weights.WriteForBuild(ctx, o, &t.d)
		if r == nil || err != nil {
			return nil, err
		}
		return &answer{object: weighedOf(r, &t.d), show: func(s *screen) { showWeights(s, r) }}, nil
	})
}

// showWeights shows the written files and the size of the weights.
func showWeights(s *screen, r *weights.Result) {
	s.title("%s, for %s", label(r.Source.Name), label(r.Plan.Top))
	s.field("fits", "yes: all but the contents of tables is as it was built")
	s.field("weights", "%s of 32 bits, in %s", count(r.Plan.Words, "word"), count(len(r.Plan.Tables), "table"))
	s.field("written", "%s (%s)", printable(r.Out), strings.Join(r.Files, ", "))
}

// A weighed is the JSON of the weights command.
type weighed struct {
	about
	Design string   `json:"design"` // the hash of the hardware
	Words  int      `json:"words"`  // of 32 bits
	Tables int      `json:"tables"`
	Out    string   `json:"out"`
	Files  []string `json:"files"`
	outcome
}

// weighedOf returns the JSON of the weights command.
func weighedOf(r *weights.Result, d *diag.List) weighed {
	return weighed{about: aboutOf(r.Source), Design: r.Plan.Design, Words: r.Plan.Words, Tables: len(r.Plan.Tables),
		Out: r.Out, Files: r.Files, outcome: outcomeOf(d, nil)}
}
