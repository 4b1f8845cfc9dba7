package chart

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Bar is a row of a bar chart.
type Bar struct {
	Name  string
	Value float64 // 0 or more
	Text  string  // written at the end of the bar
}

// A BarChart is a chart of horizontal bars, the first of Rows on top. Value is the label of the axis of values. The
// bars with the largest value, if it is above 0, are highlighted, and Mark is written behind their texts.
type BarChart struct {
	Title, Value string
	Rows         []Bar
	Mark         string // meaning of the largest value
}

// maxBars is the most rows that a bar chart shows. Of more rows only those with the largest values are drawn, in the
// order of Rows.
const maxBars = 120

// The width of a bar chart and the height of one of its rows, in points.
const (
	barsWidth = 660
	barRow    = 17
)

// Draw draws the chart as SVG and as PNG. It returns an error if there are no rows, or if a value is not finite.
func (b BarChart) Draw() (SVGAndPNG, error) {
	f, err := b.figure()
	if err != nil {
		return SVGAndPNG{}, err
	}
	return f.render()
}

// DrawSVG draws the chart as SVG only. It returns an error if there are no rows, or if a value is not finite.
func (b BarChart) DrawSVG() ([]byte, error) {
	f, err := b.figure()
	if err != nil {
		return nil, err
	}
	return f.svg()
}

// figure returns the drawing of the chart. It returns an error if there are no rows, or if a value is not finite.
func (b BarChart) figure() (f figure, err error) {
	rows := b.largest()
	if len(rows) == 0 {
		return f, errors.New("a picture of bars needs one")
	}
	p := newPlot(b.Title, b.Value, "")
	most := 0.0
	for _, r := range rows {
		most = math.Max(most, r.Value)
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 0, math.Max(most*1.18, 1), linear{7}
	grid := plotter.NewGrid()
	grid.Horizontal.Width, grid.Vertical = 0, draw.LineStyle{Color: faint, Width: 0.6}
	p.Add(grid)
	var names []string
	for i := range rows {
		r := rows[len(rows)-1-i]
		names = append(names, plain(r.Name))
		bar, err := plotter.NewBarChart(plotter.Values{r.Value}, barRow*0.66)
		if err != nil {
			return f, fmt.Errorf("draw %s: %w", r.Name, err)
		}
		bar.Horizontal, bar.XMin, bar.LineStyle.Width, bar.Color = true, float64(i), 0, color.Color(quiet)
		style, label := write(9, ink, false), r.Text
		if r.Value == most && most > 0 {
			bar.Color, style = alarm, write(9, alarm, true)
			if b.Mark != "" {
				label += "  " + b.Mark
			}
		}
		style.YAlign = draw.YCenter
		p.Add(bar, &plotter.Labels{XYs: plotter.XYs{{X: r.Value, Y: float64(i)}}, Labels: []string{label},
			TextStyle: []text.Style{style}, Offset: vg.Point{X: 4, Y: 1.5}})
	}
	p.NominalY(names...)
	p.Y.Tick.Label.Font.Size = 9
	p.Y.Tick.LineStyle.Width, p.Y.Width = 0, 0
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	return figure{barsWidth, float64(96 + barRow*len(rows)), func(c draw.Canvas) {
		p.Draw(draw.Crop(c, 10, -14, 8, -10))
	}}, nil
}

// largest returns the rows to draw: all, or the maxBars ones with the largest values, in the order of Rows.
func (b BarChart) largest() []Bar {
	if len(b.Rows) <= maxBars {
		return b.Rows
	}
	order := make([]int, len(b.Rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.Rows[j].Value, b.Rows[i].Value) })
	order = order[:maxBars]
	slices.Sort(order)
	var rows []Bar
	for _, i := range order {
		rows = append(rows, b.Rows[i])
	}
	return rows
}
