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

// A table is rows of cells below a heading. Columns whose heading begins with a > are numbers and stand to the right.
// Where it would be wider than a line, a last column of text is wrapped, or texts are cut.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// hide takes out those of the named columns in which all rows say the same, and gives what each of them says.
func (t *table) hide(names ...string) (same map[string]string) {
	same = map[string]string{}
	for _, name := range names {
		c := slices.IndexFunc(t.head, func(h string) bool { return strings.TrimPrefix(h, ">") == name })
		if len(t.rows) == 0 || slices.ContainsFunc(t.rows, func(r []string) bool { return r[c] != t.rows[0][c] }) {
			continue
		}
		same[name] = t.rows[0][c]
		t.head = slices.Delete(t.head, c, c+1)
		for i := range t.rows {
			t.rows[i] = slices.Delete(t.rows[i], c, c+1)
		}
	}
	return same
}

// table prints a table.
func (s *screen) table(t *table) {
	width := make([]int, len(t.head))
	right := make([]bool, len(t.head))
	head := make([]string, len(t.head))
	for c, h := range t.head {
		head[c], right[c] = strings.CutPrefix(h, ">")
	}
	for _, r := range append([][]string{head}, t.rows...) {
		for c, cell := range r {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	last := len(width) - 1
	before := 2 * last
	for _, w := range width[:last] {
		before += w
	}
	if room := lineWidth - before; !right[last] && room >= 30 {
		width[last] = min(width[last], room)
	}
	fit(width, right)
	line := func(cells []string) string {
		var l strings.Builder
		for c, cell := range cells {
			if c == last {
				wrapped := wrap(cell, strings.Repeat(" ", before), lineWidth)
				if strings.Count(wrapped, "\n") > 1 && width[c] >= 30 {
					l.WriteString("  " + strings.TrimSpace(wrapped))
					break
				}
			}
			cell = squeeze(cell, width[c])
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if right[c] {
				cell = pad + cell
			} else {
				cell += pad
			}
			if c > 0 {
				l.WriteString("  ")
			}
			l.WriteString(cell)
		}
		return strings.TrimRight(l.String(), " ")
	}
	s.title("%s", line(head))
	for _, r := range t.rows {
		s.line("%s", line(r))
	}
}

// fit makes columns of text narrower, the widest first, until a line holds the table.
func fit(width []int, right []bool) {
	const least, between = 8, 2
	for {
		all, widest := between*(len(width)-1), -1
		for c, w := range width {
			if all += w; !right[c] && w > least && (widest < 0 || w > width[widest]) {
				widest = c
			}
		}
		if all <= lineWidth || widest < 0 {
			return
		}
		width[widest]--
	}
}

// squeeze leaves the middle of a text out where it has more than so many letters: names of nodes differ at their ends.
func squeeze(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	front := (most - 3) / 2
	return string(r[:front]) + "..." + string(r[len(r)-(most-3-front):])
}

// cut shortens a text to so many letters.
func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// printable is s on one line, without anything that a terminal would obey.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// label shows a name out of a model, cut where it is long.
func label(s string) string {
	if s == "" {
		return "-"
	}
	const most = 72
	return cut(printable(s), most)
}

// whole writes an integer with commas.
func whole(n int) string { return humanize.Comma(int64(n)) }

// figure writes a number of frames or clocks: whole where it is large or integral, with three digits otherwise.
func figure(f float64) string {
	if f >= 1000 || f == math.Trunc(f) {
		return whole(int(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// rate writes samples per second with all the decimals that they have, so that asking for them gives the same interval.
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

// clocksText is "1 clock", "256 clocks", "12.5 clocks".
func clocksText(f float64) string {
	if f == 1 {
		return "clock"
	}
	return rate(f) + " clocks"
}

// pace says how often results come: "one every 6 clocks"; with several samples in a frame "4 every 100 clocks".
func pace(samples int, interval float64) string {
	number := "one"
	if samples > 1 {
		number = whole(samples)
	}
	return number + " every " + clocksText(interval)
}

// duration writes clocks at a rate as time.
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

func percent(part, of int) string {
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64) + " %"
}

// inWords writes small numbers as words.
func inWords(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// count is "1 layer", "2 layers".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return whole(n) + " " + noun
}

// wrap breaks text into lines of at most width letters, each behind the indent.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	for _, w := range strings.Fields(text) {
		n := utf8.RuneCountInString(w)
		switch {
		case column == 0:
			b.WriteString(indent)
			column = len(indent)
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
	}
	return b.String() + "\n"
}
