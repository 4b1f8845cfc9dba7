package chart

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A CurvePoint is a point of a curve. Low and High are the ends of the confidence interval of Y; both are 0 if it is
// not known.
type CurvePoint struct{ X, Y, Low, High float64 }

// A Curve is a named list of points, joined by a line in their order.
type Curve struct {
	Name   string
	Points []CurvePoint
}

// A Panel is a plot of curves; X and Y are the labels of its axes. If To is not 0, the Y axis goes from From to To.
// Otherwise it fits the points.
type Panel struct {
	Title, X, Y string
	From, To    float64
	Curves      []Curve
}

// A PanelRow is a picture of plots side by side, the first on the left.
type PanelRow []Panel

// The size of a panel, in points.
const (
	panelWidth  = 330
	panelHeight = 320
)

// Draw draws the panels as SVG and as PNG. It returns an error if a curve has no points, or a coordinate that is not
// finite.
func (list PanelRow) Draw() (SVGAndPNG, error) {
	var plots []*plot.Plot
	for _, panel := range list {
		p, err := panel.plot()
		if err != nil {
			return SVGAndPNG{}, err
		}
		plots = append(plots, p)
	}
	return figure{float64(len(list) * panelWidth), panelHeight, func(c draw.Canvas) {
		for i, p := range plots {
			left := vg.Length(i * panelWidth)
			part := draw.Crop(c, left, left+panelWidth-c.Max.X, 0, 0)
			p.Draw(draw.Crop(part, 8, -12, 8, -10))
		}
	}}.render()
}

// plot returns the plot of the panel's curves. It returns an error if a curve has no points, or a coordinate that is
// not finite.
func (panel Panel) plot() (*plot.Plot, error) {
	p := newPlot(panel.Title, panel.X, panel.Y)
	p.Legend.Top = false
	p.Legend.TextStyle, p.Legend.Padding, p.Legend.ThumbnailWidth = write(9, ink, false), 3, 20
	p.Legend.XOffs, p.Legend.YOffs = -6, 6
	grid := plotter.NewGrid()
	grid.Horizontal, grid.Vertical = draw.LineStyle{Color: faint, Width: 0.6}, draw.LineStyle{Color: faint, Width: 0.6}
	p.Add(grid)
	var xs, ys []float64
	for i, c := range panel.Curves {
		if err := c.add(p, i); err != nil {
			return nil, err
		}
		for _, q := range c.Points {
			xs, ys = append(xs, q.X), append(ys, q.Y)
			if q.High > 0 {
				ys = append(ys, q.Low, q.High)
			}
		}
	}
	fit(&p.X, xs)
	if fit(&p.Y, ys); panel.To != 0 {
		p.Y.Min, p.Y.Max = panel.From, panel.To
	}
	return p, nil
}

// add adds curve number i to a plot: its line, its points, and a vertical bar for each confidence interval.
func (c Curve) add(p *plot.Plot, i int) error {
	var xys plotter.XYs
	for _, q := range c.Points {
		xys = append(xys, plotter.XY{X: q.X, Y: q.Y})
		if q.High > 0 {
			bar, err := plotter.NewLine(plotter.XYs{{X: q.X, Y: q.Low}, {X: q.X, Y: q.High}})
			if err != nil {
				return fmt.Errorf("draw %s: %w", c.Name, err)
			}
			bar.LineStyle = draw.LineStyle{Color: series[i%len(series)], Width: 0.7}
			p.Add(bar)
		}
	}
	line, points, err := plotter.NewLinePoints(xys)
	if err != nil {
		return fmt.Errorf("draw %s: %w", c.Name, err)
	}
	line.LineStyle = draw.LineStyle{Color: series[i%len(series)], Width: 1.2}
	points.GlyphStyle = draw.GlyphStyle{Color: series[i%len(series)], Radius: 2.8, Shape: glyph(i)}
	p.Add(line, points)
	p.Legend.Add(plain(c.Name), line, points)
	return nil
}
