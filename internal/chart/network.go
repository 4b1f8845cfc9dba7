package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hlsgen/internal/layout"
)

// A NetworkDrawing is a picture of boxes joined by arrows, from top to bottom.
type NetworkDrawing struct {
	Title   string
	Boxes   []NetworkBox
	Arrows  []NetworkArrow
	Classes []NetworkClass // in the order of the legend
	Note    string         // at the end of the legend; may be empty
}

// A NetworkBox is a node with its name and further lines. Class is the index of its class.
type NetworkBox struct {
	Title string
	Lines []string
	Class int
}

// A NetworkArrow leads from a box to another one, by their indices. The label stands beside its
// beginning, or beside its end if further arrows begin there.
type NetworkArrow struct {
	From, To int
	Label    string
	Loose    bool // it may bend rather than move boxes
}

// A NetworkClass is what boxes of one colour have in common. The quiet class has no colour.
type NetworkClass struct {
	Name  string
	Quiet bool
}

// Measures of a network in points: of text, of a box, and between boxes.
const (
	networkTitle  = 13
	networkName   = 10
	networkLine   = 8.5
	networkRow    = 12
	networkInside = 8 // between text and the edge of its box
	networkMargin = 16
	networkHead   = 52 // title and legend
)

// mostPixels is the largest number of pixels of the PNG of a network. They take 128 MB.
const mostPixels = 32 << 20

// Layout returns the places of boxes and arrows in the picture.
func (n NetworkDrawing) Layout() layout.Layout {
	g := layout.Graph{Gap: 24, RankGap: 34, ArrowGap: 14}
	for _, b := range n.Boxes {
		g.Boxes = append(g.Boxes, b.Size())
	}
	for _, a := range n.Arrows {
		g.Arrows = append(g.Arrows, layout.Arrow{From: a.From, To: a.To, Loose: a.Loose})
	}
	l := layout.Place(g)
	widest := 0.0 // labels stand to the right of arrows
	for _, a := range n.Arrows {
		widest = max(widest, float64(write(networkLine, ink, false).Width(plain(a.Label))))
	}
	width := max(l.Width+widest, float64(write(networkTitle, ink, true).Width(plain(n.Title))), n.legendWidth())
	move := func(p layout.Point) layout.Point {
		return layout.Point{X: p.X + networkMargin, Y: p.Y + networkMargin + networkHead}
	}
	for i, p := range l.Boxes {
		l.Boxes[i] = move(p)
	}
	for _, points := range l.Arrows {
		for k, p := range points {
			points[k] = move(p)
		}
	}
	l.Width, l.Height = width+2*networkMargin, l.Height+2*networkMargin+networkHead
	return l
}

// legendWidth returns the width of the legend.
func (n NetworkDrawing) legendWidth() (w float64) {
	for i, c := range n.Classes {
		if !n.has(i) {
			continue
		}
		w += float64(write(networkLine, ink, false).Width(c.Name)) + 26
	}
	return w + float64(write(networkLine, ink, false).Width(n.Note))
}

// has reports whether there is a box of a class.
func (n NetworkDrawing) has(class int) bool {
	return slices.ContainsFunc(n.Boxes, func(b NetworkBox) bool { return b.Class == class })
}

// SVG draws the network as SVG.
func (n NetworkDrawing) SVG() ([]byte, error) { return n.figure().svg() }

// PNG draws the network as PNG. It returns nil for a picture of more than 32 million dots.
func (n NetworkDrawing) PNG() ([]byte, error) {
	f := n.figure()
	const dots = dotsPerInch / 72.0
	if f.width*f.height*dots*dots > mostPixels {
		return nil, nil
	}
	return f.png()
}

// figure returns the drawing.
func (n NetworkDrawing) figure() figure {
	l := n.Layout()
	return figure{l.Width, l.Height, func(c draw.Canvas) { n.draw(c, l) }}
}

// draw draws the network at its places. A canvas has its origin in the lower left corner.
func (n NetworkDrawing) draw(c draw.Canvas, l layout.Layout) {
	at := func(p layout.Point) vg.Point {
		return vg.Point{X: c.Min.X + vg.Length(p.X), Y: c.Min.Y + vg.Length(l.Height-p.Y)}
	}
	text := func(size float64, bold bool, p layout.Point, s string) {
		style := write(size, ink, bold)
		style.YAlign = draw.YCenter
		c.FillText(style, at(p), plain(s))
	}
	text(networkTitle, true, layout.Point{X: networkMargin, Y: networkMargin + networkTitle/2}, n.Title)
	x := float64(networkMargin)
	for i, class := range n.Classes {
		if !n.has(i) {
			continue
		}
		y := networkMargin + 30.0
		n.fill(c, at(layout.Point{X: x, Y: y - 5}), layout.Box{Width: 10, Height: 10}, i)
		text(networkLine, false, layout.Point{X: x + 14, Y: y}, class.Name)
		x += float64(write(networkLine, ink, false).Width(class.Name)) + 26
	}
	text(networkLine, false, layout.Point{X: x, Y: networkMargin + 30}, n.Note)
	leaving := map[int]int{}
	for _, a := range n.Arrows {
		leaving[a.From]++
	}
	for a, points := range l.Arrows {
		if len(points) == 0 {
			continue
		}
		places := make([]vg.Point, len(points))
		for k, p := range points {
			places[k] = at(p)
		}
		strokeArrow(c, places)
		first, last := points[0], points[len(points)-1]
		place := layout.Point{X: first.X + 5, Y: first.Y + networkRow/2}
		if leaving[n.Arrows[a].From] > 1 { // where arrows of one box are apart
			place = layout.Point{X: last.X + 5, Y: last.Y - networkRow/2}
		}
		text(networkLine, false, place, n.Arrows[a].Label)
	}
	for i, b := range n.Boxes {
		p := l.Boxes[i]
		n.fill(c, at(p), b.Size(), b.Class)
		y := p.Y + networkInside + networkRow/2
		text(networkName, true, layout.Point{X: p.X + networkInside, Y: y}, b.Title)
		for _, line := range b.Lines {
			y += networkRow
			text(networkLine, false, layout.Point{X: p.X + networkInside, Y: y}, line)
		}
	}
}

// Size returns the size of a box: that of its text, with a margin.
func (b NetworkBox) Size() layout.Box {
	w := float64(write(networkName, ink, true).Width(plain(b.Title)))
	for _, line := range b.Lines {
		w = max(w, float64(write(networkLine, ink, false).Width(plain(line))))
	}
	return layout.Box{Width: 2 * math.Ceil(w/2+networkInside),
		Height: networkRow*float64(1+len(b.Lines)) + 2*networkInside}
}

// fill draws a box without text, from its upper left corner.
func (n NetworkDrawing) fill(c draw.Canvas, corner vg.Point, size layout.Box, class int) {
	edge := axis
	if !n.Classes[class].Quiet {
		edge = n.colour(class)
	}
	w, h := vg.Length(size.Width), vg.Length(size.Height)
	corners := []vg.Point{corner, {X: corner.X + w, Y: corner.Y}, {X: corner.X + w, Y: corner.Y - h},
		{X: corner.X, Y: corner.Y - h}}
	c.FillPolygon(n.inside(class), corners)
	c.StrokeLines(draw.LineStyle{Color: edge, Width: 1.2}, append(corners, corner))
}

// inside returns the colour inside the boxes of a class.
func (n NetworkDrawing) inside(class int) color.RGBA {
	if n.Classes[class].Quiet {
		return color.RGBA{0xf7, 0xf8, 0xfa, 0xff}
	}
	return tint(n.colour(class))
}

// Fills returns the colour inside the boxes of each class, such as #e5f0f5.
func (n NetworkDrawing) Fills() (list []string) {
	for i := range n.Classes {
		c := n.inside(i)
		list = append(list, fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B))
	}
	return list
}

// colour returns the colour of a class: that of its number among those that have one.
func (n NetworkDrawing) colour(class int) color.RGBA {
	k := 0
	for _, c := range n.Classes[:class] {
		if !c.Quiet {
			k++
		}
	}
	return series[k%len(series)]
}

// tint returns a light tone of a colour, on which black text can be read.
func tint(c color.RGBA) color.RGBA {
	light := func(v uint8) uint8 { return uint8(255 - (255-int(v))/6) }
	return color.RGBA{light(c.R), light(c.G), light(c.B), 0xff}
}

// strokeArrow draws lines from point to point, smooth where they bend, with a head at the last one.
func strokeArrow(c draw.Canvas, points []vg.Point) {
	last := points[len(points)-1]
	var path vg.Path
	path.Move(points[0])
	for k := 1; k < len(points); k++ {
		a, b := points[k-1], points[k]
		if a.X == b.X {
			path.Line(b)
			continue
		}
		half := (a.Y + b.Y) / 2
		path.CubeTo(vg.Point{X: a.X, Y: half}, vg.Point{X: b.X, Y: half}, b)
	}
	c.SetLineStyle(draw.LineStyle{Color: axis, Width: 1})
	c.Stroke(path)
	const long, wide = 6, 3
	before := points[len(points)-2]
	down := vg.Length(long)
	if before.Y < last.Y { // it leads upwards
		down = -long
	}
	c.FillPolygon(axis, []vg.Point{last, {X: last.X - wide, Y: last.Y + down}, {X: last.X + wide, Y: last.Y + down}})
}
