package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// A table has rows of cells below a heading. A heading that begins with > marks a column of numbers, aligned to the
// right. If the table is wider than a line, its last column is wrapped, or texts are cut. A terminal too narrow even
// for that gets the table in parts. Every part begins with the key columns.
type table struct {
	head []string
	rows [][]string
	keys int // the number of columns at the left that tell rows apart; 0 counts as 1
}

// newTable returns a table without rows, whose columns have the given headings.
func newTable(head ...string) *table { return &table{head: head} }

// row appends a row of cells.
func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// hide removes from the table the named columns whose cells are the same in all rows, and returns that cell by column.
// The table must have these columns. Without rows it removes none.
func (t *table) hide(names ...string) (same map[string]string) {
	same = map[string]string{}
	for _, name := range names {
		c := slices.IndexFunc(t.head, func(h string) bool { return strings.TrimPrefix(h, ">") == name })
		if len(t.rows) == 0 || slices.ContainsFunc(t.rows, func(r []string) bool { return r[c] != t.rows[0][c] }) {
			continue
		}
		same[name] = t.rows[0][c]
		if c < t.keys {
			t.keys--
		}
		t.head = slices.Delete(t.head, c, c+1)
		for i := range t.rows {
			t.rows[i] = slices.Delete(t.rows[i], c, c+1)
		}
	}
	return same
}

// table prints a table, in parts if necessary.
func (s *screen) table(t *table) {
	for i, part := range t.parts(s.width) {
		if i > 0 {
			s.line("")
		}
		part.print(s)
	}
}

// widths returns the widths of the columns if no cell is cut.
func (t *table) widths() []int {
	width := make([]int, len(t.head))
	for c, h := range t.head {
		width[c] = columnsOf(strings.TrimPrefix(h, ">"))
		for _, r := range t.rows {
			width[c] = max(width[c], columnsOf(r[c]))
		}
	}
	return width
}

// number reports whether column c holds numbers.
func (t *table) number(c int) bool { return strings.HasPrefix(t.head[c], ">") }

// between is the space between two columns of a table, in characters.
const between = 2

// parts splits a table into tables that fit on a terminal with the given number of columns. Each begins with the key
// columns. A terminal of unknown width (0) gets the whole table.
func (t *table) parts(columns int) []*table {
	width := t.widths()
	for c := range width {
		if !t.number(c) {
			width[c] = min(width[c], readable)
		}
	}
	keys := max(1, min(t.keys, len(width)))
	sum := func(from, to int) (n int) {
		for _, w := range width[from:to] {
			n += w + between
		}
		return n
	}
	if columns == 0 || sum(0, len(width))-between <= columns {
		return []*table{t}
	}
	if sum(0, keys) > columns/2 {
		keys = 1
	}
	var parts []*table
	for from := keys; from < len(width); {
		to := from + 1
		for to < len(width) && sum(0, keys)+sum(from, to+1)-between <= columns {
			to++
		}
		parts = append(parts, t.columns(keys, from, to))
		from = to
	}
	return parts
}

// columns returns the table of the first keys columns and the columns from up to to.
func (t *table) columns(keys, from, to int) *table {
	pick := func(cells []string) []string {
		return append(slices.Clone(cells[:keys]), cells[from:to]...)
	}
	part := &table{head: pick(t.head)}
	for _, r := range t.rows {
		part.rows = append(part.rows, pick(r))
	}
	return part
}

// print prints a table below its heading.
func (t *table) print(s *screen) {
	width := t.widths()
	last := len(width) - 1
	before := between * last
	for _, w := range width[:last] {
		before += w
	}
	least := 30 // the width from which a text is wrapped
	if s.width > 0 && !t.number(last) {
		least = readable
		before = between*last + t.fit(width[:last], columns(s)-between-min(least, width[last]))
	}
	if room := columns(s) - before; !t.number(last) && room >= least {
		width[last] = min(width[last], room)
	}
	t.fit(width, columns(s))
	line := func(cells []string) string {
		var l strings.Builder
		for c, cell := range cells {
			if c == last && !t.number(c) {
				wrapped := wrap(cell, strings.Repeat(" ", before), columns(s))
				if strings.Count(wrapped, "\n") > 1 && width[c] >= least {
					l.WriteString(strings.Repeat(" ", between) + strings.TrimSpace(wrapped))
					break
				}
			}
			cell = squeeze(cell, width[c])
			pad := strings.Repeat(" ", max(0, width[c]-columnsOf(cell)))
			if t.number(c) {
				cell = pad + cell
			} else {
				cell += pad
			}
			if c > 0 {
				l.WriteString(strings.Repeat(" ", between))
			}
			l.WriteString(cell)
		}
		return strings.TrimRight(l.String(), " ")
	}
	head := slices.Clone(t.head)
	for c := range head {
		head[c] = strings.TrimPrefix(head[c], ">")
	}
	s.title("%s", line(head))
	for _, r := range t.rows {
		s.line("%s", line(r))
	}
}

// readable is the number of letters that a cell keeps; a table is split rather than cut further.
const readable = 16

// fit narrows text columns, the widest first, until a line of the given number of columns holds the table. It returns
// the sum of the widths, without the space between columns.
func (t *table) fit(width []int, columns int) int {
	const least = 8
	for {
		all, widest := between*(len(width)-1), -1
		for c, w := range width {
			if all += w; !t.number(c) && w > least && (widest < 0 || w > width[widest]) {
				widest = c
			}
		}
		if all <= columns || widest < 0 {
			return all - between*(len(width)-1)
		}
		width[widest]--
	}
}

// squeeze replaces the middle of a text that is longer than most letters: names of nodes differ at their ends.
func squeeze(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	front := (most - 3) / 2
	return string(r[:front]) + "..." + string(r[len(r)-(most-3-front):])
}

// cut shortens a text to at most most letters, of which the last three are dots. most is at least 3.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// printable returns s on one line, with question marks for characters that a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// label returns a name from a model for the screen, printable and on one line. It cuts long names, and returns a dash
// for an empty one.
func label(s string) string {
	if s == "" {
		return "-"
	}
	const most = 72
	return cut(printable(s), most)
}

// whole formats an integer with commas between thousands.
func whole(n int) string { return humanize.Comma(int64(n)) }

// figure formats a number of frames or clocks: as an integer if it is large or integral, otherwise with three digits.
func figure(f float64) string {
	if f >= 1000 || f == math.Trunc(f) {
		return whole(int(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// megahertz formats a clock in MHz with at most three decimals.
func megahertz(f float64) string { return strconv.FormatFloat(math.Round(1e3*f)/1e3, 'f', -1, 64) }

// rate formats samples per second with all decimals. A user who asks for that rate gets the same interval.
func rate(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	integral, decimals, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(integral)
	if err != nil {
		return text
	}
	if decimals != "" {
		decimals = "." + decimals
	}
	return whole(n) + decimals
}

// clocksText returns a number of clocks as it follows the word "every": "clock" for 1, "256 clocks" or "12.5 clocks".
func clocksText(f float64) string {
	if f == 1 {
		return "clock"
	}
	return rate(f) + " clocks"
}

// pace returns text about the rate of results: "one every 6 clocks", or with several samples in a frame "4 every 100
// clocks".
func pace(samples int, interval float64) string {
	number := "one"
	if samples > 1 {
		number = whole(samples)
	}
	return number + " every " + clocksText(interval)
}

// duration returns the time that a number of clocks takes, as text with a fitting unit.
func duration(clocks int, clockMHz float64) string {
	t, unit := float64(clocks)/clockMHz, "us"
	switch {
	case t >= 1e6:
		t, unit = t/1e6, "s"
	case t >= 1e3:
		t, unit = t/1e3, "ms"
	case t < 1:
		t, unit = t*1e3, "ns"
	}
	return strconv.FormatFloat(t, 'g', 4, 64) + " " + unit
}

// percent returns the share of part in a whole as text, in percent.
func percent(part, of int) string {
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64) + " %"
}

// inWords returns an integer as text: a word up to ten, digits above.
func inWords(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// count returns a number with its noun, which gets an s unless the number is 1: "1 layer", "2 layers".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return whole(n) + " " + noun
}
