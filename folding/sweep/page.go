package sweep

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/chart"
	"hlsgen/internal/dataflow"
	"hlsgen/templates/compared"
	"hlsgen/templates/report"
)

// mostRows is the largest number of points in the table of a page. Chosen points and those on a front come first.
const mostRows = 2000

// HTMLPage returns the page of all points. from is the folder of the page, where its links start. A point leads to the
// page of its build, to the folder of that, or to its row.
func (r *SweepReport) HTMLPage(from string) ([]byte, error) {
	page := &compared.Sweep{Model: r.Model, Facts: r.facts()}
	columns := r.pageColumns()
	order := r.rowOrder()
	page.Left = len(r.Points) - len(order)
	var same []string // per column, the text of all rows, or "\x00"
	for _, i := range order {
		p := &r.Points[i]
		row := compared.Row{Number: i, Link: r.linkOf(p, from), Fits: p.Status == PointStatusFits, Chosen: p.Chosen,
			State: p.state()}
		for k, c := range columns {
			row.Cells = append(row.Cells, c.of(i, p))
			switch text := row.Cells[k].Text; {
			case len(same) == k:
				same = append(same, text)
			case same[k] != text:
				same[k] = "\x00"
			}
		}
		page.Rows = append(page.Rows, row)
	}
	kept := func(k int) bool { return !columns[k].setting || same[k] == "\x00" }
	for k, c := range columns {
		switch {
		case kept(k) && (c.always || same[k] != ""):
			page.Columns = append(page.Columns, c.Column)
		case len(order) > 0 && same[k] != "":
			page.Same.AddFact(c.Name, same[k], "")
		}
	}
	for i := range page.Rows {
		var cells []compared.TableCell
		for k, c := range page.Rows[i].Cells {
			if kept(k) && (columns[k].always || same[k] != "") {
				cells = append(cells, c)
			}
		}
		page.Rows[i].Cells = cells
	}
	var err error
	if page.Pictures, err = r.pagePictures(order); err != nil {
		return nil, err
	}
	return page.RenderHTML()
}

// pageStates lists what may become of a point, in the words of the page.
var pageStates = []string{"fits", "bounds only", "does not fit", "not reached", "not possible"}

// state returns what became of the point, one of pageStates.
func (p *PointResult) state() string {
	switch {
	case p.Status == PointStatusFits:
		return pageStates[0]
	case p.Status == PointStatusBoundsOnly:
		return pageStates[1]
	case p.Over != nil:
		return pageStates[2]
	case p.Status == PointStatusUnreachable:
		return pageStates[3]
	}
	return pageStates[4]
}

// rowOrder returns the indices of the points that have a row, in the order of the sweep.
func (r *SweepReport) rowOrder() (list []int) {
	rank := func(i int) int {
		if p := &r.Points[i]; p.Chosen || len(p.Front) > 0 {
			return 0
		}
		return 1
	}
	for i := range r.Points {
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	list = list[:min(mostRows, len(list))]
	slices.Sort(list)
	return list
}

// linkOf returns the address of a point's build, seen from a folder: its page, or the folder without one. It is empty
// if there is no build.
func (r *SweepReport) linkOf(p *PointResult, from string) string {
	if !identifier(p.ID) {
		return ""
	}
	dir := filepath.Join(r.Out, pointsFolder, p.ID)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	to, err := filepath.Rel(from, dir)
	if err != nil {
		return ""
	}
	address := filepath.ToSlash(to) + "/"
	if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(report.HTMLFile))); err == nil &&
		info.Mode().IsRegular() {
		address += report.HTMLFile
	}
	return (&url.URL{Path: address}).String()
}

// facts returns the main figures of the sweep.
func (r *SweepReport) facts() (f report.Facts) {
	counts := map[string]int{}
	for i := range r.Points {
		counts[r.Points[i].state()]++
	}
	var parts []string
	for _, state := range pageStates {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", state, whole(n)))
		}
	}
	f.AddFact("points", whole(len(r.Points)), strings.Join(parts, ", "))
	if c := r.ChosenPoint(); c != nil {
		f.AddFact("chosen", fmt.Sprintf("%s: %s %s/s", seriesName(c.Board, c.ClockMHz), chart.FormatAmount(c.FPS),
			r.CountedUnit()), fmt.Sprintf("the fastest: every %s clocks, latency %s; %s LUT, %s %s, %s DSP",
			number(c.Interval), whole(c.Latency), whole(c.Resources.LUT), whole(c.Resources.BRAM),
			BlockRAMNameOfPoints([]PointResult{*c}), whole(c.Resources.DSP)))
		f.AddFact("bottleneck", c.Bottleneck, "of the chosen point")
	}
	switch p := r.Precision; {
	case p != nil:
		f.AddFact("float model", fmt.Sprintf("%.1f %%", 100*p.Float.ShareRight()), "its accuracy")
	case r.Accuracy != nil:
		f.AddFact("accuracy", fmt.Sprint(r.Accuracy), "")
	}
	return f
}

// A pageColumn is a column of the page's table. A setting stands in the table only if points differ in it.
type pageColumn struct {
	compared.Column
	setting, always bool
	of              func(i int, p *PointResult) compared.TableCell
}

// pageColumns returns the columns of the page's table.
func (r *SweepReport) pageColumns() []pageColumn {
	text := func(name string, setting bool, of func(*PointResult) string) pageColumn {
		return pageColumn{Column: compared.Column{Name: name}, setting: setting,
			of: func(_ int, p *PointResult) compared.TableCell { return compared.TableCell{Text: of(p)} }}
	}
	figure := func(name string, setting bool, of func(*PointResult) (float64, bool)) pageColumn {
		return pageColumn{Column: compared.Column{Name: name, Number: true}, setting: setting,
			of: func(_ int, p *PointResult) compared.TableCell {
				v, known := of(p)
				if !known {
					return compared.TableCell{}
				}
				return compared.TableCell{Text: grouped(v), Value: v, Known: true}
			}}
	}
	list := []pageColumn{
		{Column: compared.Column{Name: "point", Number: true}, always: true,
			of: func(i int, _ *PointResult) compared.TableCell {
				return compared.TableCell{Text: number(float64(i)), Value: float64(i), Known: true}
			}},
		text("board", true, func(p *PointResult) string { return p.Board }),
		figure("MHz", true, func(p *PointResult) (float64, bool) { return p.ClockMHz, true }),
		text("back end", true, func(p *PointResult) string { return p.Backend }),
		text("memory", true, func(p *PointResult) string { return p.Memory }),
		text("compute", true, func(p *PointResult) string { return p.Compute }),
		text("budget", true, func(p *PointResult) string { return p.MaxUse }),
		figure("samples in turns", true, func(p *PointResult) (float64, bool) {
			return float64(p.Samples), p.Samples > 1
		}),
		text("precision", true, func(p *PointResult) string { return p.Precision }),
		figure("asked "+r.CountedUnit()+"/s", true, func(p *PointResult) (float64, bool) {
			return p.FPSAsked, p.FPSAsked > 0
		}),
		figure("asked clocks", true, func(p *PointResult) (float64, bool) { return p.Asked, p.Asked > 0 }),
		text("status", false, func(p *PointResult) string { return p.state() }),
		figure("accuracy %", false, func(p *PointResult) (float64, bool) {
			if p.Accuracy == nil {
				return 0, false
			}
			return round(100 * p.Accuracy.ShareRight()), true
		}),
		figure(r.CountedUnit()+"/s", false, func(p *PointResult) (float64, bool) {
			f := p.figures()
			return f.FPS, f.FPS > 0
		}),
		figure("clocks", false, func(p *PointResult) (float64, bool) {
			f := p.figures()
			return f.Interval, f.Interval > 0
		}),
		figure("latency", false, func(p *PointResult) (float64, bool) {
			f := p.figures()
			return float64(f.Latency), f.Latency > 0
		}),
	}
	for _, k := range kinds {
		list = append(list, pageColumn{Column: compared.Column{Name: k.on(r.Points), Number: true}, always: k.drawn,
			of: func(_ int, p *PointResult) compared.TableCell {
				f := p.figures()
				if f.Interval == 0 {
					return compared.TableCell{}
				}
				n := k.of(f.Resources)
				return compared.TableCell{Text: whole(n), Value: float64(n), Known: true,
					Over: p.Budget != dataflow.Resources{} && n > k.of(p.Budget)}
			}})
	}
	return append(list,
		text("best in", false, func(p *PointResult) string {
			names := p.FrontResourceNames()
			if p.Chosen {
				names = strings.TrimSpace(names + " (chosen)")
			}
			return names
		}),
		text("bottleneck", false, func(p *PointResult) string { return p.Bottleneck }),
		pageColumn{Column: compared.Column{Name: "why", Wide: true},
			of: func(_ int, p *PointResult) compared.TableCell { return compared.TableCell{Text: p.Reason} }})
}

// figures returns the figures of the point's design, or of the design over the budget that would do what is asked.
func (p *PointResult) figures() OverBudgetDesign {
	if p.Over != nil {
		return *p.Over
	}
	return OverBudgetDesign{FPS: p.FPS, Interval: p.Interval, Latency: p.Latency, Resources: p.Resources,
		Share: p.Share}
}

// grouped formats a number with commas between groups of three digits.
func grouped(v float64) string {
	if v == float64(int64(v)) {
		return whole(int(v))
	}
	return number(round(v))
}

// pagePictures returns the pictures of the page. Points with a row are spots.
func (r *SweepReport) pagePictures(rows []int) (list []compared.Picture, err error) {
	fronts := r.fronts()
	if r.Precision != nil {
		fronts = r.accuracies()
	}
	for _, f := range fronts {
		svg, places, err := f.DrawSVG()
		if err != nil {
			return nil, err
		}
		p := compared.Picture{Name: f.Title, SVG: svg}
		for s := range f.Series {
			for k, i := range f.dots[s] {
				p.Spots = append(p.Spots, compared.Spot{X: places.Dots[s][k].X, Y: places.Dots[s][k].Y, Row: i})
			}
			for k, i := range f.over[s] {
				p.Spots = append(p.Spots, compared.Spot{X: places.Over[s][k].X, Y: places.Over[s][k].Y, Row: i})
			}
		}
		p.Spots = slices.DeleteFunc(p.Spots, func(s compared.Spot) bool {
			_, ok := slices.BinarySearch(rows, s.Row)
			return !ok
		})
		for k := range p.Spots {
			p.Spots[k].Text = r.spotText(p.Spots[k].Row)
		}
		list = append(list, p)
	}
	return list, nil
}

// spotText describes a point in a picture.
func (r *SweepReport) spotText(i int) string {
	p := &r.Points[i]
	f := p.figures()
	text := fmt.Sprintf("point %d, %s", i, seriesName(p.Board, p.ClockMHz))
	if p.Precision != "" {
		text += ", " + p.Precision
	}
	text += fmt.Sprintf(": %s %s/s, %s LUT, %s %s, %s DSP", grouped(f.FPS), r.CountedUnit(), whole(f.Resources.LUT),
		whole(f.Resources.BRAM), BlockRAMNameOfPoints([]PointResult{*p}), whole(f.Resources.DSP))
	if p.Status != PointStatusFits {
		text += "; does not fit"
	}
	return text
}
