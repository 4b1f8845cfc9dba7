package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/synthesis"
)

// collectCommand returns the command collect.
func (a *app) collectCommand() *cobra.Command {
	var (
		o                 options.Source
		force             bool
		measured, written string
	)
	t := a.task(&cobra.Command{
		Use:   "collect DIR",
		Short: "Compare a build's estimate with what tools and board say, layer by layer",
		Long: `Collect reads what hlsgen synth, or the build's own Makefiles, have left in the
folder of a build: csynth.xml of Vitis HLS, utilisation and timing of Vivado, of
every layer alone and of the whole design, and what the driver has measured on
the board. It prints them beside the estimate, layer by layer.

Reports whose sources have changed since do not count. Missing reports are
named. hlsgen latencies DIR makes latencies those of the same reports.`,
		Example: `  hlsgen collect net-zcu104
  hlsgen collect net-zcu104 --csv net.csv
  hlsgen collect net-zcu104 --measured measured.json     # of accelerator.py --save
  hlsgen latencies net-zcu104`,
		Args: builtFolder,
	}, parts{Source: &o})
	t.path(&measured, "measured", "FILE", "what the driver has measured on the board (default synth/measured.json in "+
		"the folder, if there is one)", nil)
	t.path(&written, "csv", "FILE", "write the table to this file, too, a row for each part", nil)
	t.BoolVar(&force, "force", false, "replace the file of --csv")
	t.json()
	return t.does(func(context.Context) (*answer, error) {
		shown := t.cmd.Flags().Arg(0)
		p := synthesis.OpenProject(under(a.dir, shown), &t.d)
		if p == nil {
			return nil, nil
		}
		table, err := p.ReadFigures(measured, &t.d)
		if table == nil || err != nil {
			return nil, err
		}
		if written != "" {
			if _, err := os.Lstat(written); err == nil && !force {
				t.d.AddError(diag.OutputHasForeignFiles, written, "it is there already",
					"give another --csv, or --force to replace it")
				return nil, nil
			}
			if err := outputdir.WriteFileAtomically(written, spreadsheetOf(table)); err != nil {
				return nil, err
			}
		}
		return &answer{object: collected{report.CurrentReportHead, *table, outcomeOf(&t.d, nil)},
			show: func(s *screen) { showCollected(s, table, shown, written) }}, nil
	})
}

// collected is the JSON of the collect command.
type collected struct {
	report.ReportHead
	synthesis.ProjectFigures
	outcome
}

// sayings lists the sources of figures for a part: the estimate, the tools, and the board.
var sayings = []struct {
	name, column string
	of           func(*synthesis.FiguresBySource) *synthesis.PartFigures
}{
	{"estimate", "estimate", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.Estimate }},
	{"HLS", "hls", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.HLS }},
	{"Vivado", "vivado", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.Vivado }},
	{"Vivado (rtl)", "vivado_rtl", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.RTL }},
	{"bitstream", "bitstream", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.Bitstream }},
	{"board", "board", func(p *synthesis.FiguresBySource) *synthesis.PartFigures { return p.Board }},
}

// A quantity is a kind of figure of a part, such as LUTs. of returns its text, which is empty if a source does not give
// it.
type quantity struct {
	name, column string
	of           func(*synthesis.PartFigures) string
}

// quantities lists the kinds of figures of a part.
var quantities = []quantity{
	amount("LUT", "lut", func(f *synthesis.PartFigures) int { return f.Resources.LUT }),
	amount("FF", "ff", func(f *synthesis.PartFigures) int { return f.Resources.FF }),
	amount("RAMB18", "bram18", func(f *synthesis.PartFigures) int { return f.Resources.BRAM }),
	amount("URAM", "uram", func(f *synthesis.PartFigures) int { return f.Resources.URAM }),
	amount("DSP", "dsp", func(f *synthesis.PartFigures) int { return f.Resources.DSP }),
	{"latency, clocks", "latency_clocks", func(f *synthesis.PartFigures) string { return unlessZero(f.Latency) }},
	{"frame, clocks", "interval_clocks", func(f *synthesis.PartFigures) string { return unlessZero(f.Interval) }},
	{"period, ns", "period_ns", func(f *synthesis.PartFigures) string { return unlessZero(f.Period) }},
	routedSlack("WNS, ns", "wns_ns", func(s *synthesis.Slacks) float64 { return s.WNS }),
	routedSlack("WHS, ns", "whs_ns", func(s *synthesis.Slacks) float64 { return s.WHS }),
	{"samples/s", "samples_per_second", func(f *synthesis.PartFigures) string { return unlessZero(f.Rate) }},
}

// amount returns a quantity that is an amount of a resource.
func amount(name, column string, of func(*synthesis.PartFigures) int) quantity {
	return quantity{name, column, func(f *synthesis.PartFigures) string {
		if f.Resources == nil {
			return ""
		}
		return fmt.Sprint(of(f))
	}}
}

// routedSlack returns a quantity that is a slack of a routed design.
func routedSlack(name, column string, of func(*synthesis.Slacks) float64) quantity {
	return quantity{name, column, func(f *synthesis.PartFigures) string {
		if f.Slacks == nil {
			return ""
		}
		return strconv.FormatFloat(of(f.Slacks), 'f', -1, 64)
	}}
}

// unlessZero returns a number as text, or an empty text for 0.
func unlessZero[T int | float64](x T) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(x), 'f', -1, 64)
}

// showCollected shows a table for each quantity, with a column for each source that gives it.
func showCollected(s *screen, t *synthesis.ProjectFigures, dir, written string) {
	s.title("%s on %s (%s) at %s MHz", label(t.Model), label(t.Board), label(t.Part), megahertz(t.ClockMHz))
	for _, q := range quantities {
		said := func(i, who int) string {
			if f := sayings[who].of(&t.Parts[i]); f != nil {
				return q.of(f)
			}
			return ""
		}
		var columns []int
		some := false
		for who := range sayings {
			says := false
			for i := range t.Parts {
				text := said(i, who)
				says, some = says || text != "", some || text != "" && text != "0"
			}
			if says {
				columns = append(columns, who)
			}
		}
		if !some || len(columns) == 1 && columns[0] == 0 && q.name != "samples/s" {
			continue // only the estimate has figures
		}
		head := []string{q.name}
		for _, who := range columns {
			head = append(head, ">"+sayings[who].name)
		}
		table := newTable(head...)
		for i := range t.Parts {
			row, any := []string{label(t.Parts[i].Name)}, false
			for _, who := range columns {
				text := said(i, who)
				if any = any || text != ""; text == "" {
					text = "-"
				} else if n, err := strconv.ParseFloat(text, 64); err == nil && !strings.HasSuffix(q.name, ", ns") {
					text = rate(n)
				}
				row = append(row, text)
			}
			if any {
				table.row(row...)
			}
		}
		s.line("")
		s.table(table)
	}
	s.line("")
	if t.Missed != "" {
		s.field("clock", "missed: %s may compute wrong results", printable(t.Missed))
	}
	if len(t.Missing) > 0 {
		most := min(len(t.Missing), 8)
		more := ""
		if left := len(t.Missing) - most; left > 0 {
			more = fmt.Sprintf(" and %d others", left)
		}
		s.field("missing", "%s%s", listOf(t.Missing[:most]), more)
		command(s, "", "hlsgen synth "+quoted(dir))
	}
	if written != "" {
		s.exact("written", printable(written))
	}
}

// listOf returns the names as text, separated by commas.
func listOf(names []string) string {
	var b bytes.Buffer
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(printable(n))
	}
	return b.String()
}

// spreadsheetOf returns the CSV file: a row for each part, and a column for each quantity of each source.
func spreadsheetOf(t *synthesis.ProjectFigures) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	head := []string{"part", "kind"}
	for _, who := range sayings {
		for _, q := range quantities {
			head = append(head, who.column+"_"+q.column)
		}
	}
	w.Write(head)
	for i := range t.Parts {
		row := []string{t.Parts[i].Name, t.Parts[i].Kind}
		for _, who := range sayings {
			f := who.of(&t.Parts[i])
			for _, q := range quantities {
				if f == nil {
					row = append(row, "")
					continue
				}
				row = append(row, q.of(f))
			}
		}
		w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}
