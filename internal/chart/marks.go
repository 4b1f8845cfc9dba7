package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colourOf returns the colour with a number from 0 on. All numbers have different colours; those of the first eight are
// told apart best.
func colourOf(i int) color.RGBA {
	if i < len(series) {
		return series[i]
	}
	const golden, saturation, lightness = 137.508, 0.6, 0.42 // degrees; next to each other no two are alike
	hue := math.Mod(golden*float64(i), 360)
	channel := func(n float64) uint8 {
		k := math.Mod(n+hue/30, 12)
		return uint8(255 * (lightness - saturation*lightness*max(-1, min(k-3, 9-k, 1))))
	}
	return color.RGBA{channel(0), channel(8), channel(4), 0xff}
}

// corners lists regular polygons: how many corners each has, and the angle of the first one in degrees.
var corners = []struct{ count, first float64 }{{4, 45}, {3, 90}, {4, 90}, {3, -90}, {5, 90}, {6, 0}}

// outline returns the outline of the mark with a number from 0 on: a circle, polygons, and then stars with ever more
// points.
func outline(number int, at vg.Point, radius vg.Length) (p vg.Path) {
	if number == 0 {
		p.Move(vg.Point{X: at.X + radius, Y: at.Y})
		p.Arc(at, radius, 0, 2*math.Pi)
		p.Close()
		return p
	}
	count, first, inner := 0.0, 90.0, 1.0
	if number <= len(corners) {
		count, first = corners[number-1].count, corners[number-1].first
	} else {
		count, inner = 2*float64(number-len(corners)+3), 0.45
	}
	for k := range int(count) {
		r := 1.15 * radius
		if k%2 == 1 {
			r *= vg.Length(inner)
		}
		angle := (first + 360*float64(k)/count) * math.Pi / 180
		q := vg.Point{X: at.X + r*vg.Length(math.Cos(angle)), Y: at.Y + r*vg.Length(math.Sin(angle))}
		if k == 0 {
			p.Move(q)
		} else {
			p.Line(q)
		}
	}
	p.Close()
	return p
}

// A glyph draws a point as the mark with its number, filled.
type glyph int

// DrawGlyph implements draw.GlyphDrawer.
func (g glyph) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetColor(s.Color)
	c.Fill(outline(int(g), at, s.Radius))
}

// A struck draws a point as the mark with its number, empty and struck out.
type struck int

// DrawGlyph implements draw.GlyphDrawer.
func (g struck) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 0.9})
	c.Stroke(outline(int(g), at, s.Radius))
	for _, up := range []vg.Length{1, -1} {
		r := 1.3 * s.Radius
		var p vg.Path
		p.Move(vg.Point{X: at.X - r, Y: at.Y - up*r})
		p.Line(vg.Point{X: at.X + r, Y: at.Y + up*r})
		c.Stroke(p)
	}
}
