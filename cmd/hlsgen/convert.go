package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/frontend/convert"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/source"
)

// convertCommand returns the command convert.
func convertCommand(a *app) *cobra.Command {
	var (
		o     options.Source
		force bool
		how   convert.Options
		out   string
	)
	t := a.task(&cobra.Command{
		Use:   "convert [MODEL.onnx] --to DIALECT",
		Short: "Write a model in another dialect of quantisation, or simplified",
		Long: `Convert writes a model in another dialect: qonnx (Quant), qcdq (QuantizeLinear,
Clip, DequantizeLinear) or qoperator (QLinearConv, QLinearMatMul, MatMulInteger
and others, with Clip). All that is not quantisation stays as it is. The file is
read back and proved to mean the same; a node that the dialect cannot express is
named, and nothing is written.

With --clean, constants are folded, nodes that nothing reads are dropped, and
the shape of every tensor is written, which viewers show. --clean works alone,
too.`,
		Example: `  hlsgen convert net.onnx --to qcdq
  hlsgen convert net.onnx --to qoperator --out net-int8.onnx
  hlsgen convert net.onnx --clean`,
	}, parts{Source: &o})
	option(t.FlagSet, &how.To, "to", "", "DIALECT", oneOf[convert.Dialect]("dialects", convert.DialectNames),
		"dialect to write: "+strings.Join(convert.DialectNames, ", ")+"; without it, with --clean, that of the model")
	t.completes("to", convert.DialectNames)
	t.BoolVar(&how.Clean, "clean", false, "fold constants, drop nodes that nothing reads, and write the shape of "+
		"every tensor")
	t.path(&out, "out", "FILE", "file to write (default MODEL-DIALECT.onnx, or MODEL-clean.onnx)", nil)
	t.Var(sizes{&o.Dims, &o.Lengths}, "dim", "size of a dynamic axis with which the two files are compared, such as "+
		"T=520 (may be repeated); the axis stays dynamic")
	t.Var(shapes{&o.Shapes}, "shape", "sizes of all axes of an input with which the two files are compared, such as "+
		"x=1,3,48,192 (may be repeated)")
	t.BoolVar(&force, "force", false, "replace the file")
	t.strict()
	t.json()
	return t.does(func(context.Context) (*answer, error) {
		if how.To == "" && !how.Clean {
			return nil, usagef("convert wants --to %s, or --clean", strings.Join(convert.DialectNames, ", or --to "))
		}
		if o.Lengths != nil {
			return nil, usagef("convert takes one size for --dim: a converted model keeps its dynamic axes anyway")
		}
		if out == "" {
			out = under(a.dir, source.DefaultConvertedFileName(o.Model, how))
		}
		c, err := source.ConvertModelFile(o, how, out, force, &t.d)
		if c == nil || err != nil {
			return nil, err
		}
		return &answer{object: convertedOf(c, how, out, &t.d),
			show: func(s *screen) { showConverted(s, c, how, out) }}, nil
	})
}

// converted is the JSON of a conversion.
type converted struct {
	about
	To         convert.Dialect         `json:"to,omitempty"` // absent: the dialect of the model
	Clean      bool                    `json:"clean"`
	Quantisers int                     `json:"quantisers"` // number of nodes that were rewritten
	Proof      convert.ConversionProof `json:"proof"`      // program: node by node; network: as integer layers
	Before     []convert.OperatorCount `json:"before"`     // operators of the model
	After      []convert.OperatorCount `json:"after"`      // operators of what was written
	Out        string                  `json:"out"`
	outcome
}

// convertedOf returns the JSON of a conversion to the file out.
func convertedOf(c *source.ConvertResult, how convert.Options, out string, d *diag.List) converted {
	r := c.Result
	return converted{about: aboutOf(c.Source), To: how.To, Clean: how.Clean, Quantisers: r.Quantisers, Proof: r.Proof,
		Before: r.Before, After: r.After, Out: out, outcome: outcomeOf(d, nil)}
}

// proofs describes what was proved of a converted file.
var proofs = map[convert.ConversionProof]string{
	convert.ConversionProofSameProgram: "the same program, node by node, with every quantiser taken apart: " +
		"equal for all inputs",
	convert.ConversionProofSameNetwork: "the same integer layers, equal for every integer that occurs",
}

// showConverted shows a conversion to the file out.
func showConverted(s *screen, c *source.ConvertResult, how convert.Options, out string) {
	r := c.Result
	what := "simplified"
	if how.To != "" {
		what = "in " + string(how.To)
		if how.Clean {
			what += ", simplified"
		}
	}
	s.title("%s %s", label(c.Source.Name), what)
	s.example(c.Source, "; your own: hlsgen convert MODEL.onnx")
	s.line("")
	t := newTable("operator", ">before", ">after")
	for _, row := range operatorCounts(r.Before, r.After) {
		t.row(label(row.op), whole(row.before), whole(row.after))
	}
	s.table(t)
	s.line("")
	s.field("proved", "%s", proofs[r.Proof])
	s.field("written", "%s", printable(out))
}

// A countRow has the number of nodes with an operator, before and after a conversion.
type countRow struct {
	op            string
	before, after int
}

// operatorCounts joins the counts of operators before and after a conversion to one row per operator.
func operatorCounts(before, after []convert.OperatorCount) (rows []countRow) {
	for _, c := range before {
		rows = append(rows, countRow{c.Op, c.Nodes, 0})
	}
	for _, c := range after {
		i := slices.IndexFunc(rows, func(r countRow) bool { return r.op == c.Op })
		if i < 0 {
			i, rows = len(rows), append(rows, countRow{op: c.Op})
		}
		rows[i].after = c.Nodes
	}
	slices.SortFunc(rows, func(a, b countRow) int { return strings.Compare(a.op, b.op) })
	return rows
}
