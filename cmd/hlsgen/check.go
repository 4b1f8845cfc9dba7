package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/frontend"
	"hlsgen/internal/compiler"
	"hlsgen/internal/diag"
)

func (a *app) checkCommand() *cobra.Command {
	var o compiler.Options
	var asJSON bool
	var d diag.List
	cmd := &cobra.Command{
		Use:   "check [MODEL.onnx]",
		Short: "Say what becomes of every ONNX node, and what to change where one does not map",
		Long: `Check imports a model and shows what becomes of every node: the layer that
computes it, a constant, a part that stays on the host, or not mapped, with the
reason and what to do about it. Then it shows the layers, their types, and the
widths of their accumulators by four rules: from the data types, from the
weights' l1 norm, from the l1 norm of weights that sum to zero, and exactly.

The exit code is 1 if the model cannot be built.`,
		Example: `  hlsgen check net.onnx
  hlsgen check net.onnx --acc-bits 16     # which accumulators need more?
  hlsgen check net.onnx --json`,
	}
	a.dimFlag(cmd, &o)
	a.inputFlags(cmd, &o)
	accFlag(cmd, &o)
	strictFlag(cmd, &d)
	a.passFlags(cmd, &o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if o.Model, err = a.configure(cmd, args); err != nil {
			return err
		}
		a.running = true
		p := a.progress()
		o.Progress = p.step
		c, err := compiler.Check(cmd.Context(), o, &d)
		p.close()
		if c == nil || err != nil {
			return a.without(asJSON, &d, err)
		}
		if asJSON {
			err = a.json(checkedOf(c, &d))
		} else {
			a.printChecked(o.Model, c, &d)
			if err = a.flush(); err == nil {
				a.diagnostics(&d)
			}
		}
		if err == nil && d.Failed() {
			err = errShown
		}
		return err
	}
	return cmd
}

func (a *app) printChecked(model string, c *compiler.Checked, d *diag.List) {
	line := func(format string, args ...any) { fmt.Fprintf(&a.out, format+"\n", args...) }
	ink := a.ink(a.stdout)
	if len(c.Imported.Fates) == 0 {
		return // the file could not be read
	}
	line("%s", ink.bold(label(c.Source.Name)))
	if c.Source.Example {
		a.field("example", exampleDoc(c.Source.Name)+"; your own: hlsgen check MODEL.onnx")
	}
	line("")
	t := newTable(">", "node", "op", "becomes")
	for _, f := range c.Imported.Fates {
		index := fmt.Sprint(f.Index)
		if f.Index < 0 {
			index = "+" // put in by --input-quant
		}
		op := f.Op[strings.LastIndex(f.Op, ":")+1:] // without its domain
		t.row(index, label(f.Node), label(op), label(f.Fate))
	}
	t.print(&a.out, ink)
	if len(c.Layers) > 0 {
		line("")
		a.typeTable(c.Layers)
	}
	if !d.Failed() {
		if model != "" {
			model = " " + quoted(model)
		}
		line("\nthe model can be built; next: hlsgen build%s --board BOARD", model)
	}
}

// typeTable shows what travels between the layers, and how wide accumulators are.
func (a *app) typeTable(layers []compiler.LayerReport) {
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
			row = append(row[:3], bits(acc.DataType), bits(acc.L1), bits(acc.ZeroCentred), bits(acc.Exact), bits(acc.Used), acc.Type)
		}
		t.row(row...)
	}
	t.print(&a.out, a.ink(a.stdout))
	if accumulates {
		fmt.Fprintln(&a.out, "bits of the accumulators by: data types, l1 norm, l1 norm of weights that sum to zero, exact range")
	}
}

func streams(list []compiler.StreamReport) (s string) {
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
	compiler.Head
	Model   string                 `json:"model"`
	Example bool                   `json:"example"`
	OK      bool                   `json:"ok"`
	Nodes   []frontend.NodeFate    `json:"nodes"`
	Layers  []compiler.LayerReport `json:"layers"`
	outcome
}

func checkedOf(c *compiler.Checked, d *diag.List) checked {
	return checked{Head: compiler.Versioned, Model: c.Source.Name, Example: c.Source.Example, OK: !d.Failed(), Nodes: append([]frontend.NodeFate{}, c.Imported.Fates...),
		Layers: append([]compiler.LayerReport{}, c.Layers...), outcome: outcomeOf(d, nil)}
}
