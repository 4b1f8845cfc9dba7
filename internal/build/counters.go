package build

import (
	"context"

	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
)

// countedFrames is the number of frames that counters.json describes.
const countedFrames = 16

// counterFiles returns the files with which programs compare the counters of the hardware with the simulation.
func counterFiles(ctx context.Context, r *Result) (templates.Files, error) {
	d := r.Design.Design
	trace, err := rtlsim.Run(ctx, d, nil, rtlsim.Options{Frames: countedFrames})
	if err != nil {
		return nil, err
	}
	c := trace.Counters(d)
	counted := deploy.CountersFile{Frames: c.Frames, Clocks: c.Clocks}
	for _, s := range c.Streams {
		counted.Streams = append(counted.Streams, deploy.CountedStream{Stalled: s.Stalled, Starved: s.Starved})
	}
	return deploy.CounterFiles(d, counted)
}
