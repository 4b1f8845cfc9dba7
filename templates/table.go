package templates

import (
	"fmt"
	"strconv"

	"hlsgen/internal/dataflow"
)

// tableText returns the C++ of the table t of a layer: an array [rows][limbs] of hexadecimal integers, or
// [banks][rows][limbs]. It does not use a template, which would take about forty times as long.
func tableText(name, layer string, t dataflow.Table) ([]byte, error) {
	perLimb, count := dataflow.ChooseLimbLayout(len(t.Rows[0]), t.Elem.Width)
	width := perLimb * t.Elem.Width
	b := make([]byte, 0, 256+len(t.Rows)*count*(width/4+5))
	doc := ""
	if t.Doc != "" {
		doc = ", " + comment(t.Doc)
	}
	b = fmt.Appendf(b, "// The %s of %s%s.\n", t.Name, layer, doc)
	banks, of := max(1, t.Banks), ""
	if t.Banks > 0 {
		of = plural(banks, "lane") + " of "
	}
	rows := len(t.Rows) / banks
	b = fmt.Appendf(b, "// %s%s of %s of type %s", of, plural(rows, "row"), plural(len(t.Rows[0]), "element"), t.Elem)
	if count > 1 {
		b = fmt.Appendf(b, ", %d in each of %d limbs", perLimb, count)
	}
	b = fmt.Appendf(b, "; element 0 lies in the lowest bits.\n#ifndef %s_HPP\n#define %[1]s_HPP\n\n", name)
	size := ""
	if t.Banks > 0 {
		size = fmt.Sprintf("[%d]", banks)
	}
	b = fmt.Appendf(b, "static const %s %s%s[%d][%d] = {\n", cLimb(width), name, size, rows, count)

	const margin = 116
	start := len(b)
	var limb bits
	for r, row := range t.Rows {
		if len(row) != len(t.Rows[0]) {
			return nil, fmt.Errorf("row %d has %d elements, row 0 has %d", r, len(row), len(t.Rows[0]))
		}
		cell := []byte{'{'}
		if t.Banks > 0 && r%rows == 0 {
			cell = append(cell, '{')
		}
		for i := 0; i < len(row); i += perLimb {
			var err error
			if limb, err = pack(limb, t.Elem, row[i:min(i+perLimb, len(row))]); err != nil {
				return nil, fmt.Errorf("row %d, from element %d: %w", r, i, err)
			}
			if i > 0 {
				cell = append(cell, ',', ' ')
			}
			cell = strconv.AppendUint(append(cell, '0', 'x'), limb[0], 16)
		}
		cell = append(cell, '}', ',')
		if t.Banks > 0 && r%rows == rows-1 {
			cell = append(cell[:len(cell)-1], '}', ',')
		}
		switch {
		case r == 0:
			b = append(b, "    "...)
		case len(b)-start+1+len(cell) > margin:
			b = append(b, "\n    "...)
			start = len(b) - 4
		default:
			b = append(b, ' ')
		}
		for len(cell) > margin-4 { // wrap a row wider than a line
			cut := margin - 4
			for cell[cut] != ' ' {
				cut--
			}
			b = append(append(b, cell[:cut]...), "\n     "...)
			start = len(b) - 5
			cell = cell[cut+1:]
		}
		b = append(b, cell...)
	}
	return append(b, "\n};\n\n#endif\n"...), nil
}

// plural returns a number with its noun: "1 row", "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
