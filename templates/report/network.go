package report

import (
	"fmt"
	"math"
	"strings"
)

// Path returns the arrow as the path data of SVG: lines from point to point, smooth where they bend.
func (a PictureArrow) Path() string {
	var b strings.Builder
	for k, p := range a.Points {
		switch {
		case k == 0:
			fmt.Fprintf(&b, "M%s", place(p))
		case a.Points[k-1][0] == p[0]:
			fmt.Fprintf(&b, "L%s", place(p))
		default:
			last := a.Points[k-1]
			half := (last[1] + p[1]) / 2
			fmt.Fprintf(&b, "C%s %s %s", place([2]float64{last[0], half}), place([2]float64{p[0], half}), place(p))
		}
	}
	return b.String()
}

// Tip returns the head at the last point as the path data of SVG.
func (a PictureArrow) Tip() string {
	const long, wide = 6, 3
	n := len(a.Points)
	if n < 2 {
		return ""
	}
	end, back := a.Points[n-1], -float64(long)
	if a.Points[n-2][1] > end[1] { // it leads upwards
		back = long
	}
	return "M" + place(end) + "L" + place([2]float64{end[0] - wide, end[1] + back}) + "L" +
		place([2]float64{end[0] + wide, end[1] + back}) + "Z"
}

// LabelPlace returns where the label of an arrow begins: beside its first point, or beside its last one if further
// arrows leave the box.
func (n *NetworkPicture) LabelPlace(arrow int) [2]float64 {
	a, leaving := n.Arrows[arrow], 0
	for _, other := range n.Arrows {
		if other.From == a.From {
			leaving++
		}
	}
	if leaving > 1 {
		end := a.Points[len(a.Points)-1]
		return [2]float64{end[0] + 5, end[1] - 3}
	}
	return [2]float64{a.Points[0][0] + 5, a.Points[0][1] + 9}
}

// place returns a point as path data, with two decimals at most.
func place(p [2]float64) string {
	round := func(f float64) float64 { return math.Round(100*f) / 100 }
	return fmt.Sprintf("%g %g", round(p[0]), round(p[1]))
}
