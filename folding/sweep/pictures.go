package sweep

import (
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"hlsgen/frontend"
	"hlsgen/internal/chart"
)

// A frontChart is a picture of rate against a resource. dots and over have, for each series, the indices of the points
// in the sweep.
type frontChart struct {
	chart.ParetoChart
	file       string
	dots, over [][]int
}

// fronts returns the pictures of rates against resources, one for each drawn kind that some point takes. A board has
// one colour in all of them, and a clock one mark.
func (r *SweepReport) fronts() (list []frontChart) {
	if r.Precision != nil {
		return nil
	}
	for _, k := range kinds {
		if !k.drawn || !slices.ContainsFunc(r.Points, func(p PointResult) bool {
			return k.of(p.Resources) > 0 || p.Over != nil && k.of(p.Over.Resources) > 0
		}) {
			continue
		}
		list = append(list, r.front(&k))
	}
	return list
}

// front returns the picture of rates against a kind of resource.
func (r *SweepReport) front(k *kind) frontChart {
	name := k.on(r.Points)
	f := frontChart{file: k.file, ParetoChart: chart.ParetoChart{
		Title: r.Model + ": " + r.CountedUnit() + " per second against " + name, Cost: name,
		Gain: r.CountedUnit() + " per second"}}
	if c := r.ChosenPoint(); c != nil {
		f.Chosen = &chart.CostGainPoint{Cost: float64(k.of(c.Resources)), Gain: c.FPS}
		f.Label = fmt.Sprintf("%s %s/s, %s %s", chart.FormatAmount(c.FPS), r.CountedUnit(),
			chart.FormatAmount(f.Chosen.Cost), name)
	}
	var series []string
	looks := looksOf(r.Points)
	for i := range r.Points {
		p := &r.Points[i]
		if p.Status != PointStatusFits && p.Over == nil {
			continue
		}
		at := indexIn(&series, seriesName(p.Board, p.ClockMHz))
		if at == len(f.Series) {
			f.Series = append(f.Series, chart.PointSeries{Name: series[at], Colour: looks[i].colour,
				Mark: looks[i].mark})
			f.dots, f.over = append(f.dots, nil), append(f.over, nil)
		}
		s := &f.Series[at]
		if p.Status == PointStatusFits {
			s.Dots = append(s.Dots, chart.CostGainPoint{Cost: float64(k.of(p.Resources)), Gain: p.FPS})
			f.dots[at] = append(f.dots[at], i)
		} else {
			s.Over = append(s.Over, chart.CostGainPoint{Cost: float64(k.of(p.Over.Resources)), Gain: p.Over.FPS})
			f.over[at] = append(f.over[at], i)
		}
	}
	f.Budgets = budgetLines(r.Points, looks, k)
	return f
}

// accuracies returns the pictures of accuracy against resources and time.
func (r *SweepReport) accuracies() (list []frontChart) {
	gain := "accuracy, % of " + whole(r.Precision.Float.Samples) + " samples"
	if !r.Precision.Labelled {
		gain = "samples classified as the float model does, %"
	}
	for _, c := range []struct {
		name, file string
		of         func(*PointResult) float64
	}{
		{"LUT", "lut", func(p *PointResult) float64 { return float64(p.Resources.LUT) }},
		{BlockRAMNameOfPoints(r.Points), "bram", func(p *PointResult) float64 { return float64(p.Resources.BRAM) }},
		{"DSP", "dsp", func(p *PointResult) float64 { return float64(p.Resources.DSP) }},
		{"microseconds per " + r.one(), "rate", func(p *PointResult) float64 { return 1e6 / p.FPS }},
	} {
		f := chart.ParetoChart{Cost: c.name, Gain: gain, Percent: true, Title: fmt.Sprintf("%s: accuracy against %s; "+
			"the float model has %.1f %%", r.Model, c.name, 100*r.Precision.Float.ShareRight())}
		at, some := map[string]int{}, false
		var dots [][]int
		for i := range r.Points {
			p := &r.Points[i]
			if p.Status != PointStatusFits || p.Accuracy == nil {
				continue
			}
			recipe, err := frontend.ParseQuantisationRecipe(p.Precision)
			if err != nil {
				continue
			}
			name := "activations: " + recipe.Activations.String()
			if recipe.Least {
				name = "the fewest bits"
			}
			if recipe.AccBits > 0 {
				name += fmt.Sprintf(", accumulators: %d", recipe.AccBits)
			}
			k, ok := at[name]
			if !ok {
				k = len(f.Series)
				at[name], f.Series = k, append(f.Series, chart.PointSeries{Name: name, Colour: k, Mark: k})
				dots = append(dots, nil)
			}
			dot := chart.CostGainPoint{Cost: c.of(p), Gain: 100 * p.Accuracy.ShareRight()}
			some = some || dot.Cost > 0
			f.Series[k].Dots, dots[k] = append(f.Series[k].Dots, dot), append(dots[k], i)
			if p.Chosen {
				f.Chosen, f.Label = &dot, p.Precision
			}
		}
		if some {
			list = append(list, frontChart{f, c.file, dots, make([][]int, len(dots))})
		}
	}
	return list
}

// budgetLines returns a line for each budget of a kind of resource. If a board has several, their names say which.
func budgetLines(points []PointResult, looks []look, k *kind) (lines []chart.BudgetLine) {
	var uses []string
	several := map[int]bool{} // by colour
	costs := map[int]int{}
	for i := range points {
		n, colour := k.of(points[i].Budget), looks[i].colour
		several[colour] = several[colour] || costs[colour] != 0 && costs[colour] != n
		costs[colour] = n
		indexIn(&uses, points[i].MaxUse)
	}
	for i := range points {
		p := &points[i]
		n := k.of(p.Budget)
		line := chart.BudgetLine{Name: "budget of " + p.Board, Cost: float64(n), Colour: looks[i].colour}
		if several[line.Colour] {
			line.Name, line.Number = line.Name+", "+p.MaxUse, slices.Index(uses, p.MaxUse)
		}
		if line.Name += ": " + chart.FormatAmount(line.Cost); n > 0 && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// A look is how a point is drawn: the number of its board's colour, and that of its clock's mark.
type look struct{ colour, mark int }

// looksOf returns the look of every point. Boards and clocks are numbered in the order of the sweep.
func looksOf(points []PointResult) []look {
	var boards, clocks []string
	list := make([]look, len(points))
	for i := range points {
		list[i] = look{indexIn(&boards, points[i].Board+" "+points[i].Part),
			indexIn(&clocks, number(points[i].ClockMHz))}
	}
	return list
}

// indexIn returns the index of a text in a list. It adds the text at the end if it is missing.
func indexIn(list *[]string, text string) int {
	i := slices.Index(*list, text)
	if i < 0 {
		i = len(*list)
		*list = append(*list, text)
	}
	return i
}

// clocks returns the bar chart of the clocks of each layer of a design, with a further bar for a bottleneck that is no
// layer. model names the model.
func (p *PointResult) clocks(model string) chart.BarChart {
	per := "clocks per frame"
	if p.Samples > 1 {
		per += fmt.Sprintf(" of %d samples", p.Samples)
	}
	if s := p.Sequences; s != nil {
		per = fmt.Sprintf("clocks per sequence of %d steps", s.Longest.Steps)
	}
	b := chart.BarChart{Title: fmt.Sprintf("%s on %s: %s", model, seriesName(p.Board, p.ClockMHz), per), Value: per,
		Mark: "bottleneck"}
	slowest := 0
	for _, l := range p.Cycles {
		slowest = max(slowest, l.Clocks)
		b.Rows = append(b.Rows, chart.Bar{Name: l.Name, Value: float64(l.Clocks), Text: whole(l.Clocks)})
	}
	if p.Interval > float64(slowest) {
		b.Rows = append(b.Rows, chart.Bar{Name: p.Bottleneck, Value: p.Interval, Text: humanize.Commaf(p.Interval)})
	}
	return b
}
