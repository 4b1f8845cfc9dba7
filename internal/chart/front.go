package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hlsgen/internal/layout"
)

// A CostGainPoint is a point of a ParetoChart. Cost is the amount of a resource, at least 0. Gain, above 0, is better
// if larger: a rate, or an accuracy in percent.
type CostGainPoint struct{ Cost, Gain float64 }

// A PointSeries is a named set of points. Series of one Colour, and those of one Mark, have it in common: both are
// numbers from 0 on. Dots are designs that fit. Over are designs that do not, which the picture strikes out.
type PointSeries struct {
	Name         string
	Dots, Over   []CostGainPoint
	Colour, Mark int
}

// A BudgetLine is the largest cost that fits, drawn as a dashed line across the picture in a colour of series. Lines of
// one colour with other numbers have other dashes.
type BudgetLine struct {
	Name           string
	Cost           float64
	Colour, Number int
}

// dashes lists the dashes of budget lines: the lengths of a dash and of the gap behind it, by turns.
var dashes = [][]vg.Length{{5, 3}, {1.5, 2}, {9, 3}, {9, 3, 1.5, 3}, {5, 3, 1.5, 3, 1.5, 3}}

// A ParetoChart is a picture of the best gain for each cost. Cost and Gain are the labels of the axes. In each series,
// a line joins the points that fit and that no other such point of the series beats. With Percent, there must be at
// least one point.
type ParetoChart struct {
	Title, Cost, Gain string
	Series            []PointSeries
	Budgets           []BudgetLine
	Chosen            *CostGainPoint // highlighted point; may be nil
	Label             string         // label of the chosen point
	Percent           bool           // gains are percentages, so their axis is linear
}

// paretoFrontOf returns the points whose gain is larger than that of all other points of at most their cost, sorted by
// cost. Of equal points it returns one. It leaves the argument unchanged.
func paretoFrontOf(points []CostGainPoint) (best []CostGainPoint) {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b CostGainPoint) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost),
			cmp.Compare(b.Gain, a.Gain))
	})
	for _, p := range sorted {
		if len(best) == 0 || p.Gain > best[len(best)-1].Gain {
			best = append(best, p)
		}
	}
	return best
}

// The size of a picture of fronts and the height of a row in its legend, in points.
const (
	frontWidth  = 660
	frontHeight = 400
	legendRow   = 15
)

// overName is the name of designs that do not fit in a legend.
const overName = "does not fit"

// Draw draws the picture as SVG and as PNG, with a legend on the right. It returns an error if a cost or gain of a
// series is not finite.
func (f ParetoChart) Draw() (SVGAndPNG, error) {
	d, err := f.drawing()
	if err != nil {
		return SVGAndPNG{}, err
	}
	return d.figure().render()
}

// A FrontLayout has the places of a picture's points, in points from its upper left corner. Dots and Over have a list
// for each series. Budgets has the horizontal place of each line.
type FrontLayout struct {
	Width, Height float64
	Dots, Over    [][]layout.Point
	Budgets       []float64
}

// DrawSVG draws the picture as SVG only, and returns the places of its points.
func (f ParetoChart) DrawSVG() ([]byte, FrontLayout, error) {
	d, err := f.drawing()
	if err != nil {
		return nil, FrontLayout{}, err
	}
	svg, err := d.figure().svg()
	return svg, d.layout(f), err
}

// A frontDrawing is a picture of fronts, ready to be drawn.
type frontDrawing struct {
	title         string
	plot          *plot.Plot
	legend        plot.Legend
	side          vg.Length // width of the legend
	width, height float64
}

// drawing returns the picture of the fronts. It returns an error if a cost or gain is not finite.
func (f ParetoChart) drawing() (*frontDrawing, error) {
	d := &frontDrawing{title: plain(f.Title), plot: newPlot("", f.Cost, f.Gain), legend: plot.NewLegend()}
	legend := &d.legend
	legend.Top, legend.Left = true, true
	legend.TextStyle, legend.Padding, legend.ThumbnailWidth = write(9.5, ink, false), 4, 22
	f.scale(d.plot)
	grid := plotter.NewGrid()
	grid.Horizontal, grid.Vertical = draw.LineStyle{Color: faint, Width: 0.6}, draw.LineStyle{Color: faint, Width: 0.6}
	d.plot.Add(grid)
	rows, over := len(f.Series)+len(f.Budgets)+2, false
	last := 0
	for _, s := range f.Series {
		last = max(last, s.Colour)
	}
	for _, s := range f.Series {
		over = over || len(s.Over) > 0
		if err := s.add(d.plot, legend, min(last-s.Colour, 3)); err != nil {
			return nil, err
		}
	}
	for _, b := range f.Budgets {
		d.plot.Add(b)
		legend.Add(plain(b.Name), b)
	}
	if over {
		legend.Add(overName, &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: axis, Radius: 3.2, Shape: struck(0)}})
	}
	if f.Chosen != nil {
		f.mark(d.plot, legend)
	}
	d.side = legend.Rectangle(draw.Canvas{}).Size().X + 24
	d.width = max(frontWidth+float64(d.side), float64(d.titleStyle().Width(d.title))+2*barRow)
	d.height = math.Max(frontHeight, float64(80+(legendRow+4)*rows))
	return d, nil
}

// titleStyle returns the style of the title.
func (d *frontDrawing) titleStyle() text.Style {
	style := write(13, ink, true)
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	return style
}

// titleHeight is the room above a plot for its title, in points.
const titleHeight = 34

// plotCanvas returns the part of a canvas that has the plot and its axes.
func (d *frontDrawing) plotCanvas(c draw.Canvas) draw.Canvas {
	return draw.Crop(c, 10, -d.side-14, 8, -titleHeight)
}

// figure returns the drawing. The title stands in the middle of the picture, its legend included.
func (d *frontDrawing) figure() figure {
	return figure{d.width, d.height, func(c draw.Canvas) {
		c.FillText(d.titleStyle(), vg.Point{X: c.Center().X, Y: c.Max.Y - 10}, d.title)
		d.plot.Draw(d.plotCanvas(c))
		d.legend.Draw(draw.Crop(c, c.Max.X-d.side, 0, 0, -42))
	}}
}

// layout returns the places of the points of f, which d draws.
func (d *frontDrawing) layout(f ParetoChart) FrontLayout {
	l := FrontLayout{Width: d.width, Height: d.height}
	c := d.plot.DataCanvas(d.plotCanvas(draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: vg.Length(d.width),
		Y: vg.Length(d.height)}}}))
	x, y := d.plot.Transforms(&c)
	places := func(points []CostGainPoint) (list []layout.Point) {
		for _, p := range points {
			list = append(list, layout.Point{X: float64(x(p.Cost)), Y: d.height - float64(y(p.Gain))})
		}
		return list
	}
	for _, s := range f.Series {
		l.Dots, l.Over = append(l.Dots, places(s.Dots)), append(l.Over, places(s.Over))
	}
	for _, b := range f.Budgets {
		l.Budgets = append(l.Budgets, float64(x(b.Cost)))
	}
	return l
}

// scale sets the ranges and ticks of both axes. An axis is logarithmic if its values differ by more than a factor of
// 12, except that of percentages. Otherwise it begins at 0, or near the least value if all values are similar.
func (f ParetoChart) scale(p *plot.Plot) {
	var costs, gains []float64
	for _, s := range f.Series {
		for _, q := range slices.Concat(s.Dots, s.Over) {
			costs, gains = append(costs, q.Cost), append(gains, q.Gain)
		}
	}
	for _, b := range f.Budgets {
		costs = append(costs, b.Cost)
	}
	fit(&p.X, costs)
	if fit(&p.Y, gains); f.Percent {
		p.Y.Scale, p.Y.Tick.Marker = plot.LinearScale{}, linear{7}
		p.Y.Min, p.Y.Max = max(0, slices.Min(gains)-4), min(102, slices.Max(gains)+4)
	}
}

// fit sets the range and the ticks of an axis so that it shows the values. See scale for the choice.
func fit(a *plot.Axis, values []float64) {
	if len(values) == 0 {
		a.Min, a.Max, a.Tick.Marker = 0, 1, linear{6}
		return
	}
	lo, hi := slices.Min(values), slices.Max(values)
	if lo > 0 && hi/lo > 12 {
		a.Scale, a.Tick.Marker = plot.LogScale{}, logarithmic{}
		a.Min, a.Max = lo/1.25, hi*1.35
		return
	}
	if lo == 0 && hi > 12*leastAbove0(values) {
		a.Scale, a.Tick.Marker = fromZero{}, fromZero{}
		a.Min, a.Max = 0, hi*1.35
		return
	}
	if a.Tick.Marker = (linear{7}); lo > 0.4*hi && hi > lo {
		a.Min, a.Max = lo-0.12*(hi-lo), hi+0.12*(hi-lo)
		return
	}
	a.Min, a.Max = 0, math.Max(hi*1.1, 1)
}

// leastAbove0 returns the least of the values that are above 0, or infinity.
func leastAbove0(values []float64) float64 {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = min(least, v)
		}
	}
	return least
}

// fromZero is an axis of amounts from 0 on: logarithmic in the amount plus 1.
type fromZero struct{}

// Normalize implements plot.Normalizer.
func (fromZero) Normalize(lo, hi, x float64) float64 {
	return (math.Log1p(x) - math.Log1p(lo)) / (math.Log1p(hi) - math.Log1p(lo))
}

// Ticks implements plot.Ticker: those of a logarithmic axis from 1 on, and 0.
func (fromZero) Ticks(_, hi float64) []plot.Tick {
	return append([]plot.Tick{{Value: 0, Label: "0"}}, logarithmic{}.Ticks(1, max(hi, 2))...)
}

// Plot implements plot.Plotter: a dashed line from bottom to top.
func (b BudgetLine) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.StrokeLine2(b.style(), x(b.Cost), c.Min.Y, x(b.Cost), c.Max.Y)
}

// Thumbnail implements plot.Thumbnailer: the line's dashes, from left to right.
func (b BudgetLine) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(b.style(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
}

// style returns how the line is drawn.
func (b BudgetLine) style() draw.LineStyle {
	return draw.LineStyle{Color: colourOf(b.Colour), Width: 1.4, Dashes: dashes[b.Number%len(dashes)]}
}

// add adds a series to a plot and its legend: its front as a stepped line, its other points pale and small, and those
// that do not fit struck out. What lies below other series is wider, so that its rim shows where they are equal.
func (s PointSeries) add(p *plot.Plot, legend *plot.Legend, below int) error {
	c := colourOf(s.Colour)
	wider := vg.Length(below)
	scatter := func(points []CostGainPoint, style draw.GlyphStyle) error {
		var list plotter.XYs
		for _, q := range points {
			list = append(list, plotter.XY{X: q.Cost, Y: q.Gain})
		}
		if len(list) == 0 {
			return nil
		}
		dots, err := plotter.NewScatter(list)
		if err != nil {
			return fmt.Errorf("draw %s: %w", s.Name, err)
		}
		dots.GlyphStyle = style
		p.Add(dots)
		return nil
	}
	best := paretoFrontOf(s.Dots)
	rest := slices.DeleteFunc(slices.Clone(s.Dots), func(q CostGainPoint) bool { return slices.Contains(best, q) })
	pale := c
	pale.R, pale.G, pale.B = 255-(255-pale.R)/3, 255-(255-pale.G)/3, 255-(255-pale.B)/3
	style := draw.GlyphStyle{Color: c, Radius: 3.2 + 0.9*wider, Shape: glyph(s.Mark)}
	if err := scatter(rest, draw.GlyphStyle{Color: pale, Radius: 2.2 + 0.7*wider, Shape: style.Shape}); err != nil {
		return err
	}
	over := draw.GlyphStyle{Color: c, Radius: 3.2 + 0.9*wider, Shape: struck(s.Mark)}
	if len(best) == 0 {
		legend.Add(plain(s.Name), &plotter.Scatter{GlyphStyle: style})
		return scatter(s.Over, over)
	}
	var list plotter.XYs
	for _, q := range best {
		list = append(list, plotter.XY{X: q.Cost, Y: q.Gain})
	}
	line, points, err := plotter.NewLinePoints(list)
	if err != nil {
		return fmt.Errorf("draw %s: %w", s.Name, err)
	}
	line.StepStyle = plotter.PostStep
	line.LineStyle = draw.LineStyle{Color: c, Width: 1.3 + 1.1*wider}
	points.GlyphStyle = style
	p.Add(line, points)
	legend.Add(plain(s.Name), line, points)
	return scatter(s.Over, over)
}

// mark draws a ring around the chosen point, writes its label beside it, where there is room, and adds it to the
// legend.
func (f ParetoChart) mark(p *plot.Plot, legend *plot.Legend) {
	xy := plotter.XY{X: f.Chosen.Cost, Y: f.Chosen.Gain}
	ring := &plotter.Scatter{XYs: plotter.XYs{xy}, GlyphStyle: draw.GlyphStyle{Color: alarm, Radius: 6.5,
		Shape: thickRing{}}}
	p.Add(ring)
	style := write(9.5, alarm, true)
	at := vg.Point{X: 6, Y: 8} // above, since the chosen point is often the fastest
	if p.X.Norm(xy.X) > 0.5 {
		style.XAlign, at.X = draw.XRight, -6
	}
	p.Add(&plotter.Labels{XYs: plotter.XYs{xy}, Labels: []string{plain(f.Label)}, TextStyle: []text.Style{style},
		Offset: at})
	legend.Add("chosen", ring)
}

// thickRing draws a point as a ring that is thick enough to be visible over a line.
type thickRing struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (thickRing) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: 1.8})
	var p vg.Path
	p.Move(vg.Point{X: at.X + s.Radius, Y: at.Y})
	p.Arc(at, s.Radius, 0, 2*math.Pi)
	p.Close()
	c.Stroke(p)
}
