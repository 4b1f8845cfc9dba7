package build

import (
	"context"

	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
)

// countedFrames is the number of simulated frames whose clocks host/counters.json gives.
const countedFrames = 16

// counterFiles simulates countedFrames frames of the design. It returns the files with which programs compare the
// hardware's counters with this simulation.
func counterFiles(ctx context.Context, r *Result) (templates.ProjectFiles, error) {
	d := r.Design.Design
	trace, err := rtlsim.RunFrames(ctx, d, nil, rtlsim.Options{Frames: countedFrames})
	if err != nil {
		return nil, err
	}
	c := trace.AcceleratorCounters(d)
	counted := deploy.SimulatedCountersFile{Frames: c.Frames, Clocks: c.Clocks}
	for _, s := range c.Streams {
		counted.Streams = append(counted.Streams, deploy.StreamStallCounts{Stalled: s.Stalled, Starved: s.Starved})
	}
	return deploy.GenerateCounterFiles(d, counted)
}
