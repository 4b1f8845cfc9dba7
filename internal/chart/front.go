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
)

// A CostGainPoint is a point of a ParetoChart. Cost is the amount of a resource, at least 0. Gain, above 0, is better
// if larger: a rate, or an accuracy in percent.
type CostGainPoint struct{ Cost, Gain float64 }

// A PointSeries is a named set of points that are drawn in one colour.
type PointSeries struct {
	Name string
	Dots []CostGainPoint
}

// A ParetoChart is a picture of the best gain for each cost. Cost and Gain are the labels of the axes. In each series,
// a line joins the points that no other point of the series beats. With Percent, there must be at least one point.
type ParetoChart struct {
	Title, Cost, Gain string
	Series            []PointSeries
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

// Draw draws the picture as SVG and as PNG, with a legend on the right. It returns an error if a cost or gain of a
// series is not finite.
func (f ParetoChart) Draw() (SVGAndPNG, error) {
	p := newPlot(f.Title, f.Cost, f.Gain)
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle, legend.Padding, legend.ThumbnailWidth = write(9.5, ink, false), 4, 22
	f.scale(p)
	grid := plotter.NewGrid()
	grid.Horizontal, grid.Vertical = draw.LineStyle{Color: faint, Width: 0.6}, draw.LineStyle{Color: faint, Width: 0.6}
	p.Add(grid)
	for i, s := range f.Series {
		if err := s.add(p, &legend, i); err != nil {
			return SVGAndPNG{}, err
		}
	}
	if f.Chosen != nil {
		f.mark(p, &legend)
	}
	side := legend.Rectangle(draw.Canvas{}).Size().X + 24
	height := math.Max(frontHeight, float64(80+(legendRow+4)*(len(f.Series)+1)))
	return figure{frontWidth + float64(side), height, func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 10, -side-14, 8, -10))
		legend.Draw(draw.Crop(c, c.Max.X-side, 0, 0, -42))
	}}.render()
}

// scale sets the ranges and ticks of both axes. An axis is logarithmic if its values are above 0 and differ by more
// than a factor of 12, except that of percentages. Otherwise it begins at 0, or near the least value if all values are
// similar.
func (f ParetoChart) scale(p *plot.Plot) {
	var costs, gains []float64
	for _, s := range f.Series {
		for _, q := range s.Dots {
			costs, gains = append(costs, q.Cost), append(gains, q.Gain)
		}
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
	if a.Tick.Marker = (linear{7}); lo > 0.4*hi && hi > lo {
		a.Min, a.Max = lo-0.12*(hi-lo), hi+0.12*(hi-lo)
		return
	}
	a.Min, a.Max = 0, math.Max(hi*1.1, 1)
}

// marks lists the shapes of points. The first len(series) series have the first shape, the next ones the second, and so
// on.
var marks = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.TriangleGlyph{}}

// add adds series number i to a plot and its legend: its front as a stepped line, and its other points pale and small.
func (s PointSeries) add(p *plot.Plot, legend *plot.Legend, i int) error {
	c, shape := series[i%len(series)], marks[i/len(series)%len(marks)]
	xys := func(points []CostGainPoint) (list plotter.XYs) {
		for _, q := range points {
			list = append(list, plotter.XY{X: q.Cost, Y: q.Gain})
		}
		return list
	}
	best := paretoFrontOf(s.Dots)
	rest := slices.DeleteFunc(slices.Clone(s.Dots), func(q CostGainPoint) bool { return slices.Contains(best, q) })
	if len(rest) > 0 {
		dots, err := plotter.NewScatter(xys(rest))
		if err != nil {
			return fmt.Errorf("draw %s: %w", s.Name, err)
		}
		pale := c
		pale.R, pale.G, pale.B = 255-(255-pale.R)/3, 255-(255-pale.G)/3, 255-(255-pale.B)/3
		dots.GlyphStyle = draw.GlyphStyle{Color: pale, Radius: 1.8, Shape: shape}
		p.Add(dots)
	}
	if len(best) == 0 {
		return nil
	}
	line, points, err := plotter.NewLinePoints(xys(best))
	if err != nil {
		return fmt.Errorf("draw %s: %w", s.Name, err)
	}
	line.StepStyle = plotter.PostStep
	line.LineStyle = draw.LineStyle{Color: c, Width: 1.3}
	points.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 2.8, Shape: shape}
	p.Add(line, points)
	legend.Add(plain(s.Name), line, points)
	return nil
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
