package build

import (
	"context"
	"fmt"
	"math"

	"hlsgen/boards"
	"hlsgen/folding"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/estimate"
)

// A Point is a design that was folded and estimated, and neither simulated nor written.
type Point struct {
	Folding  *folding.Result
	Estimate estimate.Design // with FIFOs as deep as Folding has them
	ClockMHz float64         // as of Result.ClockMHz
}

// FPS is the frame rate at the estimated interval.
func (p *Point) FPS() float64 { return p.ClockMHz * 1e6 / float64(p.Folding.Interval) }

// A Search gives the foldings for a goal; none where d says why. It is folding.Search or folding.Pareto for a model and
// a target.
type Search func(ctx context.Context, goal folding.Goal, d *diag.List) ([]*folding.Result, error)

// Points folds for a goal as Run does: where what is beside the layers takes a design beyond the budget, it is searched
// for again within as much less. Errors in d are the user's; designs may still be beyond the budget, if no other was found.
func Points(ctx context.Context, t dataflow.Target, goal folding.Goal, search Search, d *diag.List) (found []Point, err error) {
	budget := folding.Budget(t.Board, goal.MaxUse)
	left := budget
	for n := 0; n < maxSearches && left.LUT > 0 && left.FF > 0; n++ {
		var now diag.List
		results, err := search(ctx, goal, &now)
		if err != nil {
			return nil, err
		}
		if now.Failed() {
			if n == 0 {
				d.Diags = append(d.Diags, now.Diags...)
			}
			break
		}
		found = found[:0]
		var over dataflow.Resources
		for _, r := range results {
			p := Point{Folding: r, Estimate: estimate.Whole(r.Design), ClockMHz: t.ClockMHz}
			if most := r.Design.Fmax(); t.ClockMHz > most {
				p.ClockMHz = math.Floor(most)
			}
			found = append(found, p)
			over = larger(over, p.Estimate.Total.Beyond(budget))
		}
		if over == (dataflow.Resources{}) {
			break
		}
		left = left.Beyond(over)
		goal.MaxUse = shares(left, folding.Capacity(t.Board))
	}
	return found, nil
}

// larger is the larger amount of each.
func larger(a, b dataflow.Resources) dataflow.Resources {
	return dataflow.Resources{LUT: max(a.LUT, b.LUT), FF: max(a.FF, b.FF), BRAM: max(a.BRAM, b.BRAM), URAM: max(a.URAM, b.URAM), DSP: max(a.DSP, b.DSP)}
}

// FindBoard is the board of a name or a path; ok is false where d says why there is none.
func FindBoard(nameOrPath string, d *diag.List) (b boards.Board, ok bool) {
	var now diag.List
	b = findBoard(nameOrPath, &now)
	d.Diags = append(d.Diags, now.Diags...)
	return b, !now.Failed()
}

// Catch, deferred, turns a panic, which is always a defect of ours, into an *Internal error.
func Catch(err *error) {
	if p := recover(); p != nil {
		*err = &Internal{fmt.Sprint(p), stack()}
	}
}

// WriteFile writes beside the place and renames, so that an interrupted run leaves no half file.
func WriteFile(path string, b []byte) error { return writeFile(path, b) }
