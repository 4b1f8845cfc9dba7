package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/rtlsim"
	"hlsgen/templates"
	"hlsgen/templates/axi"
	"hlsgen/templates/vivado"
)

// systemOf returns the system around a design, with what the options have watched. Its errors are those of
// vivado.NewSystem and of WatchStreams.
func systemOf(d *dataflow.Design, o Options) (*vivado.System, error) {
	s, err := vivado.NewSystem(d, templates.Options{})
	if err == nil && len(o.ILA) > 0 {
		err = s.WatchStreams(o.ILA)
	}
	return s, err
}

// checkFlow adds an error to d if streams are to be watched, or their activity to be written, but there is no system
// around the design, or no such stream. Other errors are for onBoard to return.
func checkFlow(design *dataflow.Design, o Options, d *diag.List) {
	if len(o.ILA) == 0 && !o.SAIF {
		return
	}
	s, err := systemOf(design, o)
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		d.AddError(diag.BackendUnfitForBoard, "", "--ila, --saif: no bitstream is made for the board: "+none.Reason,
			"leave the flag out")
	}
	if err == nil && o.SAIF && s.Board.PS == boards.PSNone {
		d.AddError(diag.BackendUnfitForBoard, "", "--saif: a card's linker makes the design, and make power is not "+
			"for it", "leave --saif out")
	}
	if unknown := new(vivado.ILAError); errors.As(err, &unknown) {
		d.AddError(diag.StreamUnknown, "", "--ila: "+unknown.Reason, unknown.Hint)
	}
}

// activity simulates countedFrames frames of a design, and returns the switching activity of its streams as SAIF, for
// the IP of a flow, at the clock that the system has.
func activity(ctx context.Context, d *dataflow.Design, s *vivado.System, flow vivado.IPBackend) ([]byte, error) {
	trace, err := rtlsim.RunFrames(ctx, d, nil, rtlsim.Options{Frames: countedFrames, Record: true})
	if err != nil {
		return nil, err
	}
	clocked := *d
	clocked.Target.ClockMHz = s.Clock.MHz()
	var b bytes.Buffer
	err = rtlsim.WriteSAIF(&b, &clocked, trace, rtlsim.SAIFInstance(vivado.HandshakeNetsOf(flow)))
	return b.Bytes(), err
}

// flowsOf returns the system around the accelerator, and the back ends that make its IP. The system is nil if the board
// has no known processor, if the accelerator has no driver, or if no back end makes an IP.
func flowsOf(d *dataflow.Design, o Options) (*vivado.System, []vivado.IPBackend, error) {
	s, err := systemOf(d, o)
	if none := new(vivado.NoSystemError); errors.As(err, &none) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("generate: %w", err)
	}
	var flows []vivado.IPBackend
	for _, row := range o.Backend.Rows() {
		if row.VitisHLS && s.Registers == nil { // an IP of HLS has no registers
			flows = append(flows, vivado.IPBackendHLS)
		}
		if row.CircuitIP {
			flows = append(flows, vivado.IPBackendRTL)
		}
	}
	if flows == nil {
		return nil, nil, nil
	}
	return s, flows, nil
}

// onBoard returns the files with which Vivado makes a bitstream of the system, and none if it is nil.
func onBoard(ctx context.Context, s *vivado.System, flows []vivado.IPBackend, r *Result,
	o Options) (templates.ProjectFiles, error) {
	if s == nil {
		return nil, nil
	}
	files, err := s.GenerateFiles(flows...)
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	if o.SAIF && s.Board.PS != boards.PSNone {
		saif, err := activity(ctx, r.Design.Design, s, flows[0])
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		files = append(files, templates.GeneratedFile{Path: "vivado/activity.saif", Data: saif})
	}
	if !slices.Contains(flows, vivado.IPBackendRTL) {
		return files, nil
	}
	more, err := axi.GenerateSimulationFiles(s, r.Design.Design)
	return append(files, more...), err
}
