package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/formats"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
)

// formatsCommand returns the command formats.
func formatsCommand(a *app) *cobra.Command {
	var o options.Source
	length, board, folders := 4608, "zcu104", []string(nil)
	t := a.task(&cobra.Command{
		Use:   "formats",
		Short: "Compare integers and minifloats of 3 to 8 bits: accumulators, resources, accuracy",
		Long: `Formats compares number formats as "Shedding the Bits" does (arXiv 2311.12359):
integers and minifloats of 3 to 8 bits, both factors of one format. Sums are
exact, so that a minifloat's accumulator is a wide integer.

  published   bits of the accumulator by the paper's rule
  exact       bits that the largest magnitudes of the format need
  held        what hlsgen's kernels have for it: a minifloat, or integers
  stored      bits of a weight in a table
  multiply... LUTs of one multiply-accumulate per clock, estimated part by part
              from what the C++ kernel is made of
  cells       LUTs of the whole circuit of --backend rtl, with the counter of the
              sum; - where no layer accumulates in so many bits (63 at most)

With --models it adds how many labelled samples models of these formats classify
right, run as integers.`,
		Example: `  hlsgen formats
  hlsgen formats --length 64
  hlsgen formats --models minifloat-mlp-e4m3,minifloat-mlp-e2m1`,
		Args: cobra.NoArgs,
	}, parts{Source: &o})
	option(t.FlagSet, &length, "length", "4608", "N", integer(1, formats.MaxDotProductLength),
		"products of a sum; 4608 is a 3x3 kernel of 512 channels")
	t.StringVar(&board, "board", board, "a `BOARD` whose lookup tables are counted")
	t.completesBoard()
	t.StringSliceVar(&folders, "models", nil, "`FOLDERS` that have model.onnx, inputs.npy and labels.npy")
	t.json()
	return t.does(func(ctx context.Context) (*answer, error) {
		b, ok := options.FindBoardOrAddDiag(board, &t.d)
		if !ok {
			return nil, nil
		}
		rows, err := formats.CompareDotProducts(length, dataflow.Target{Board: b, ClockMHz: b.ClockMHz,
			Backend: dataflow.BackendRTL})
		if err != nil {
			return nil, err
		}
		c := compared{ReportHead: report.CurrentReportHead, Length: length, Board: b.Name, Formats: rows}
		for _, folder := range folders {
			m, err := formats.MeasureModelAccuracy(ctx, under(a.dir, folder), o, &t.d)
			if m == nil || err != nil {
				return nil, err
			}
			c.Models = append(c.Models, *m)
		}
		c.outcome = outcomeOf(&t.d, nil)
		return &answer{object: c, show: func(s *screen) { showFormats(s, c) }}, nil
	})
}

// compared is the JSON of a comparison of formats.
type compared struct {
	report.ReportHead
	Length  int                               `json:"length"` // number of products in a sum
	Board   string                            `json:"board"`
	Formats []formats.DotProductWidthsAndLUTs `json:"formats"`
	Models  []formats.ModelAccuracy           `json:"models,omitempty"`
	outcome
}

// showFormats shows a comparison of number formats.
func showFormats(s *screen, c compared) {
	s.title("sums of %s products, LUTs of %s", whole(c.Length), printable(c.Board))
	s.line("")
	names := []string{"multipliers", "decoders", "shifters", "adder tree", "accumulators"}
	t := newTable("format", ">bits", ">largest", ">published", ">exact", "held", ">stored", ">multiply", ">decode",
		">shift", ">add", ">accumulate", ">LUT", ">cells")
	for _, r := range c.Formats {
		row := []string{r.Format, fmt.Sprint(r.Bits), fmt.Sprintf("%g", r.Largest), fmt.Sprint(r.Published),
			fmt.Sprint(r.Exact), r.Held, fmt.Sprint(r.Stored)}
		for _, name := range names {
			cell := "-"
			for _, p := range r.Parts {
				if p.Name == name {
					cell = fmt.Sprint(p.LUT)
				}
			}
			row = append(row, cell)
		}
		cells := "-"
		if r.Cells != nil {
			cells = fmt.Sprint(*r.Cells)
		}
		t.row(append(row, fmt.Sprint(r.LUT), cells)...)
	}
	s.table(t)
	if len(c.Models) == 0 {
		return
	}
	s.line("")
	t = newTable("model", ">right", ">accuracy", "95 % interval", "its own", ">accumulator", "held")
	for _, m := range c.Models {
		own := "-"
		if m.Own > 0 {
			own = fmt.Sprintf("%.1f %%", 100*m.Own)
		}
		t.row(label(m.Name), fmt.Sprintf("%d/%d", m.Right, m.Samples), percent(m.Right, m.Samples),
			fmt.Sprintf("%.1f to %.1f %%", m.Interval[0], m.Interval[1]), own, fmt.Sprint(m.Accumulator),
			strings.Join(m.Held, " "))
	}
	s.table(t)
	s.line("its own: what info.json beside the model says, of its whole test set")
}
