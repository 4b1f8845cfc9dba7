package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/frontend"
	"hlsgen/internal/audit"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/report"
	"hlsgen/templates"
)

// checkCommand returns the command check.
func (a *app) checkCommand() *cobra.Command {
	var o check.Options
	t := a.task(&cobra.Command{
		Use:   "check [MODEL.onnx]",
		Short: "Say what becomes of every ONNX node, and what to change where one does not map",
		Long: `Check imports a model and shows what becomes of every node: the layer that
computes it, a constant, a part that stays on the host, or not mapped, with the
reason and what to do about it. Then it shows the layers, their types, and the
widths of their accumulators by four rules: from the data types, from the
weights' l1 norm, from the l1 norm of weights that sum to zero, and exactly.

With --acc-bits it audits the accumulators: in the integers that the model
declares, over all that its quantisers can give, and as they are built. With
--input it counts what samples put into them.

The exit code is 1 if the model cannot be built, or an accumulator does not fit.`,
		Example: `  hlsgen check net.onnx
  hlsgen check net.onnx --acc-bits 16     # which accumulators need more?
  hlsgen check net.onnx --acc-bits hidden=10 --input x.npy
  hlsgen check net.onnx --json`,
	}, parts{Source: &o.Source, accBits: &o.AccBits})
	t.inputs()
	t.quantising()
	t.interleave()
	t.accumulators("report every accumulator that needs more bits as an error")
	t.path(&o.Data, "input", "FILE", "samples, .npy or .npz: count what they put into accumulators", noStandard)
	t.strict()
	t.passes()
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		c, err := check.Run(ctx, o, &t.d)
		if c == nil || err != nil {
			return nil, err
		}
		got := &answer{object: checkedOf(c, &t.d), show: func(s *screen) { s.checked(o, c, &t.d) }, early: true}
		if t.d.HasErrors() {
			got.end = errShown
		}
		return got, nil
	})
}

// checked shows the result of a check.
func (s *screen) checked(o check.Options, c *check.Result, d *diag.List) {
	if len(c.Imported.Fates) == 0 {
		return // the file is unreadable
	}
	s.title("%s", label(c.Source.Name))
	s.example(c.Source, "; your own: hlsgen check MODEL.onnx")
	s.line("")
	modules := slices.ContainsFunc(c.Imported.Fates, func(f frontend.NodeFate) bool { return f.Module != "" })
	t := newTable(">", "node", "op", "becomes")
	if modules {
		t = newTable(">", "node", "op", "becomes", "module")
	}
	for _, f := range c.Imported.Fates {
		index := fmt.Sprint(f.Index)
		if f.Index < 0 {
			index = "+" // inserted by --input-quant or --initial-state
		}
		op := f.Op[strings.LastIndex(f.Op, ":")+1:] // without the domain
		cells := []string{index, label(f.Node), label(op), label(f.Fate)}
		if modules {
			cells = append(cells, label(f.Module))
		}
		t.row(cells...)
	}
	s.table(t)
	if len(c.Layers) > 0 {
		s.line("")
		s.types(c.Layers)
	}
	audited(s, c.Audit)
	if l := c.Lengths; l != nil {
		s.line("sequences have %d to %d steps (axis %s): shapes are those of the longest", l.Min, l.Max, label(l.Axis))
	}
	if !d.HasErrors() {
		s.line("\nthe model can be built; next: %s --board BOARD", templates.QuoteShellCommand(buildOf(o)))
	}
}

// buildOf returns the words of the command that builds the checked model, without its board.
func buildOf(o check.Options) []string {
	words := []string{"hlsgen", "build"}
	if o.Model != "" {
		words = append(words, o.Model)
	}
	flags := build.Options{Source: o.Source, AccBits: o.AccBits}.DesignFlags()
	for i, f := range flags {
		switch f { // the path as the user gave it, not relative to the model
		case "--lstm-config":
			flags[i+1] = o.LSTM
		case "--cell-config":
			flags[i+1] = o.Cells
		}
	}
	return append(words, flags...)
}

// types shows the types of the streams between layers, and the widths of accumulators.
func (s *screen) types(layers []report.LayerReport) {
	bits := func(n int) string {
		if n == 0 {
			return "-"
		}
		return fmt.Sprint(n)
	}
	t := newTable("layer", "input", "output", ">data types", ">l1", ">zero sum", ">exact", ">used", "accumulator")
	accumulates := false
	for _, l := range layers {
		row := []string{l.Name, streams(l.In), streams(l.Out), "-", "-", "-", "-", "-", "-"}
		if acc := l.Acc; acc != nil {
			accumulates = true
			row = append(row[:3], bits(acc.DataType), bits(acc.L1), bits(acc.ZeroCentred), bits(acc.Exact),
				bits(acc.Used), acc.Type)
		}
		t.row(row...)
	}
	s.table(t)
	if accumulates {
		s.line("bits of the accumulators by: data types, l1 norm, l1 norm of weights that sum to zero, exact range")
	}
}

// streams returns the types and shapes of streams as text.
func streams(list []report.StreamReport) (s string) {
	for i, r := range list {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %v", r.Type, r.Shape)
	}
	return s
}

// A checked is the JSON of a check.
type checked struct {
	about
	OK     bool                 `json:"ok"`
	Nodes  []frontend.NodeFate  `json:"nodes"`
	Layers []report.LayerReport `json:"layers"`

	Lengths *report.SequenceLengthsReport `json:"lengths,omitempty"` // if lengths of sequences differ
	// with --acc-bits or --input
	Accumulators []*audit.LayerAccumulatorReport `json:"accumulators,omitempty"`
	outcome
}

// checkedOf returns the JSON of a check.
func checkedOf(c *check.Result, d *diag.List) checked {
	return checked{about: aboutOf(c.Source), OK: !d.HasErrors(), Nodes: append([]frontend.NodeFate{},
		c.Imported.Fates...),
		Layers: append([]report.LayerReport{}, c.Layers...), Lengths: c.Lengths, Accumulators: c.Audit,
		outcome: outcomeOf(d, nil)}
}
