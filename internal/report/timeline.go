package report

import (
	"context"
	"fmt"
	"math"

	"hlsgen/rtlsim"
	"hlsgen/templates/report"
)

// The most columns of a timeline, and the most of all its rows together.
const (
	mostColumns    = 960
	mostAllColumns = 40_000
)

// timeline returns the frames until the first output, and three more, with a note. If a frame has too many words, there
// is only a note.
func (r *Build) timeline(ctx context.Context) (t *report.Timeline, note string, err error) {
	frames := min(3+int(math.Ceil(float64(r.Design.Clocks.Latency)/max(1, r.Design.Clocks.Interval))),
		r.Design.MaxTimelineFrames())
	if frames == 0 {
		return nil, "A frame has too many words to draw them all here; " +
			"hlsgen simulate --engine cycle --timeline FILE draws when each layer worked and waited.", nil
	}
	trace := r.Design.Clocks.Trace.TraceOfFirstFrames(frames)
	if trace == nil {
		trace, err = rtlsim.RunFrames(ctx, r.Design.Design, nil, rtlsim.Options{Frames: frames, Layers: frames})
		if err != nil {
			return nil, "", err
		}
	}
	nodes := r.Design.Model.Graph.Nodes
	columns := min(mostColumns, max(60, mostAllColumns/len(nodes)))
	t = &report.Timeline{Clocks: trace.Cycles, Frames: frames, Bin: max(1, (trace.Cycles+columns-1)/columns)}
	for i, n := range nodes {
		t.Rows = append(t.Rows, report.TimelineRow{Name: n.Name,
			Runs: runsOf(&trace.Record.Layers[i], t.Bin, r.Design.LoopOfNode(i).IterationsPerFrame())})
	}
	return t, fmt.Sprintf("The bars are shares of the clocks of the steady state, the picture is the first %d frames. "+
		"Starved: a word was missing; blocked: room was missing.", frames), nil
}

// runsOf returns a layer's columns of bin clocks each, of which neighbours that are alike are one run. The layer does
// an iteration in every busy clock, so that these tell the frame.
func runsOf(spans *rtlsim.StateSpans, bin, iterations int) (runs [][5]int) {
	var column [5]int // as a run
	done, filled := 0, 0
	end := func() {
		column[0], column[4] = 1, max(0, done-1)/max(1, iterations)
		if last := len(runs) - 1; last >= 0 && [4]int(runs[last][1:]) == [4]int(column[1:]) {
			runs[last][0]++
		} else {
			runs = append(runs, column)
		}
		column, filled = [5]int{}, 0
	}
	for s := range spans.AllSpans() {
		for from := s.From; from < s.To; {
			n := min(s.To-from, bin-filled)
			column[1+int(s.LayerState)] += n
			if s.LayerState == rtlsim.StateBusy {
				done += n
			}
			from += n
			if filled += n; filled == bin {
				end()
			}
		}
	}
	if filled > 0 {
		end()
	}
	return runs
}
