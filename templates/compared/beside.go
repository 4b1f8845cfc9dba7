package compared

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/templates/report"
)

// A Design is one of two designs side by side: a name to tell them apart, such as its folder's, and its data.
type Design struct {
	Name string
	*report.Page
}

// A line is a figure in both designs.
type line struct {
	Name   string
	Of     [2]string
	Differ bool
	Change string // of numbers
	Worse  bool   // the second takes more
	Better bool   // the second takes less
}

// A besideRow is a row of a table of two designs. Its cells tell where they differ.
type besideRow struct {
	Names  string // of the layers, or of the stream
	Nodes  []string
	Cells  []besideCell
	Differ bool
}

// A besideCell is a value in both designs. Numbers are sorted by their difference.
type besideCell struct {
	Of     [2]string
	Differ bool
	Change float64
}

// besideTable is a table of two designs: rows that differ, and those that do not.
type besideTable struct {
	Name, Heading string
	Columns       []Column
	Differ, Same  []besideRow
}

// besideNames is the number of columns in front of a table's cells: the layer or stream, and its nodes or its reader.
const besideNames = 2

// shownRows is a part of a table as its template shows it. Rows that differ can be sorted.
type shownRows struct {
	Label   string
	Columns []Column
	Rows    []besideRow
	Sorts   bool
}

// rowsOf returns rows of a table for its template.
func rowsOf(t besideTable, rows []besideRow, differ bool) shownRows {
	label := t.Heading + " that are the same"
	if differ {
		label = t.Heading + " that differ"
	}
	return shownRows{label, t.Columns, rows, differ}
}

// besidePage is the content of a page of two designs.
type besidePage struct {
	Designs      [2]Design
	Differ, Same []line
	Tables       []besideTable
}

// RenderTwoAsHTML returns the page of two designs side by side: first what differs, then the rest. Layers are matched
// by their ONNX nodes.
func RenderTwoAsHTML(a, b Design) ([]byte, error) {
	page := besidePage{Designs: [2]Design{a, b}}
	for _, l := range linesOf(page.Designs) {
		if l.Differ {
			page.Differ = append(page.Differ, l)
		} else {
			page.Same = append(page.Same, l)
		}
	}
	page.Tables = []besideTable{layersBeside(page.Designs), fifosBeside(page.Designs)}
	return render(besideTemplate, a.Name+" and "+b.Name, page)
}

// linesOf returns the figures of both designs: what they are made of, their main figures, their resources and checks.
func linesOf(designs [2]Design) (list []line) {
	at := map[string]int{}
	add := func(side int, name, value string) {
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name], list = k, append(list, line{Name: name})
		}
		list[k].Of[side] = value
	}
	type amount struct {
		of    [2]int
		taken bool // by the design, rather than allowed
	}
	numbers := map[string]amount{}
	count := func(side int, name string, n int, taken bool) {
		add(side, name, whole(n))
		both := numbers[name]
		both.of[side], both.taken = n, taken
		numbers[name] = both
	}
	for side, d := range designs {
		add(side, "model", d.Model)
		add(side, "board", d.Board)
		add(side, "part", d.Part)
		add(side, "made by", d.Tool)
		for _, f := range d.Facts {
			add(side, f.Name, strings.TrimSuffix(f.Value+"; "+f.Note, "; "))
		}
		for _, u := range d.Resources {
			count(side, u.Name, u.Used, true)
			count(side, u.Name+" in the budget", u.Budget, false)
		}
		add(side, "hard blocks", d.Mean)
		for _, p := range d.Parts {
			add(side, p.Name, fmt.Sprintf("%s LUT, %s FF, %s %s, %s URAM, %s DSP", whole(p.LUT), whole(p.FF),
				whole(p.BRAM), d.Block, whole(p.URAM), whole(p.DSP)))
		}
		add(side, "on the host, before the accelerator", strings.Join(d.Before, ", "))
		add(side, "on the host, after the accelerator", strings.Join(d.After, ", "))
		for _, f := range d.Checks {
			add(side, "check: "+f.Name, strings.TrimSuffix(f.Value+"; "+f.Note, "; "))
		}
		for _, f := range d.Given {
			add(side, f.Name, strings.TrimSuffix(f.Value+" "+f.Note, " "))
		}
		for i, w := range d.Warnings {
			add(side, fmt.Sprintf("message %d", i+1), w.Severity+": "+w.Text)
		}
	}
	for i := range list {
		l := &list[i]
		l.Differ = l.Of[0] != l.Of[1]
		if n, ok := numbers[l.Name]; ok && l.Differ && l.Of[0] != "" && l.Of[1] != "" {
			l.Change = change(n.of[0], n.of[1])
			l.Worse, l.Better = n.taken && n.of[1] > n.of[0], n.taken && n.of[1] < n.of[0]
		}
	}
	return list
}

// change returns by how much b differs from a: the difference with its sign, and in percent.
func change(a, b int) string {
	text := "+" + whole(b-a)
	if b < a {
		text = "−" + whole(a-b)
	}
	if a > 0 {
		text += fmt.Sprintf(" (%+.0f %%)", 100*float64(b-a)/float64(a))
	}
	return text
}

// add adds a row to the table.
func (t *besideTable) add(r besideRow) {
	r.Differ = slices.ContainsFunc(r.Cells, func(c besideCell) bool { return c.Differ })
	if r.Differ {
		t.Differ = append(t.Differ, r)
	} else {
		t.Same = append(t.Same, r)
	}
}

// texts returns a cell of texts. has says which design has a value.
func texts(has [2]bool, of [2]string) besideCell {
	return besideCell{Of: of, Differ: has[0] != has[1] || of[0] != of[1]}
}

// numbers returns a cell of numbers. has says which design has one.
func numbers(has [2]bool, of [2]int) (c besideCell) {
	for side, n := range of {
		if has[side] {
			c.Of[side] = whole(n)
		}
	}
	c.Differ, c.Change = c.Of[0] != c.Of[1], float64(of[1]-of[0])
	return c
}

// layersBeside returns the table of layers.
func layersBeside(designs [2]Design) besideTable {
	t := besideTable{Name: "layers", Heading: "Layers", Columns: []Column{{Name: "layer"}, {Name: "from ONNX"},
		{Name: "PE", Number: true}, {Name: "SIMD", Number: true}, {Name: "built of"},
		{Name: "clocks", Number: true}, {Name: "LUT", Number: true}, {Name: "FF", Number: true},
		{Name: blockOf(designs), Number: true}, {Name: "URAM", Number: true}, {Name: "DSP", Number: true},
		{Name: "accumulator"}, {Name: "in"}, {Name: "out"}}}
	for _, p := range pairs([2]*report.Page{designs[0].Page, designs[1].Page}) {
		t.add(besideRow{Names: p.names(), Nodes: p.nodes, Cells: []besideCell{
			p.most(func(l *report.LayerRow) int { return l.PE }),
			p.most(func(l *report.LayerRow) int { return l.SIMD }),
			p.text(builtOf),
			p.most(func(l *report.LayerRow) int { return l.Cycles }),
			p.sum(func(l *report.LayerRow) int { return l.LUT }),
			p.sum(func(l *report.LayerRow) int { return l.FF }),
			p.sum(func(l *report.LayerRow) int { return l.BRAM }),
			p.sum(func(l *report.LayerRow) int { return l.URAM }),
			p.sum(func(l *report.LayerRow) int { return l.DSP }),
			p.text(func(l *report.LayerRow) string {
				if l.Accumulator == nil {
					return ""
				}
				return l.Accumulator.Type
			}),
			p.text(func(l *report.LayerRow) string { return strings.Join(l.In, ", ") }),
			p.text(func(l *report.LayerRow) string { return strings.Join(l.Out, ", ") }),
		}})
	}
	return t
}

// builtOf says what a layer is built of.
func builtOf(l *report.LayerRow) string {
	steps := l.Steps
	if steps != "" {
		steps += " steps"
	}
	return strings.Join(slices.DeleteFunc([]string{l.Memory, l.Compute, steps}, func(s string) bool { return s == "" }),
		", ")
}

// blockOf returns the name of a block RAM on the devices of both designs.
func blockOf(designs [2]Design) string {
	if designs[0].Block == designs[1].Block {
		return designs[0].Block
	}
	return designs[0].Block + " or " + designs[1].Block
}

// fifosBeside returns the table of FIFOs. FIFOs match that carry the same tensor, or whose producers and
// consumers match.
func fifosBeside(designs [2]Design) besideTable {
	t := besideTable{Name: "fifos", Heading: "FIFOs", Columns: []Column{{Name: "from"}, {Name: "to"},
		{Name: "bits", Number: true},
		{Name: "depth", Number: true}, {Name: "most words", Number: true}, {Name: "memory"}}}
	groups := groupNodes([2]*report.Page{designs[0].Page, designs[1].Page})
	var order []string
	found := map[string]*[2]*report.FIFORow{}
	for side, d := range designs {
		keys, seen := keysOf(d.Page, groups), map[string]int{}
		keyOf := func(name string) string {
			if k, ok := keys[name]; ok {
				return k
			}
			return name
		}
		for i := range d.FIFOs {
			f := &d.FIFOs[i]
			key := keyOf(f.From) + "\x00to\x00" + keyOf(f.To)
			if tensor := tensorOf(f); tensor != "" {
				key = "\x00tensor\x00" + tensor
			}
			seen[key]++
			key += "\x00" + strconv.Itoa(seen[key])
			if found[key] == nil {
				found[key], order = new([2]*report.FIFORow), append(order, key)
			}
			found[key][side] = f
		}
	}
	for _, key := range order {
		both := found[key]
		var has [2]bool
		var row besideRow
		number := func(of func(*report.FIFORow) int) besideCell {
			var n [2]int
			for side, f := range both {
				if f != nil {
					n[side] = of(f)
				}
			}
			return numbers(has, n)
		}
		var memory [2]string
		for side, f := range both {
			if has[side] = f != nil; f != nil {
				memory[side] = f.Memory
				if row.Names == "" {
					row.Names, row.Nodes = f.Stream, []string{f.To}
				}
			}
		}
		row.Cells = []besideCell{number(func(f *report.FIFORow) int { return f.Width }),
			number(func(f *report.FIFORow) int { return f.Depth }),
			number(func(f *report.FIFORow) int { return f.Most }),
			texts(has, memory)}
		t.add(row)
	}
	return t
}
