package simulate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/engines"
	"hlsgen/internal/outputdir"
	"hlsgen/rtlsim"
)

// fstConverter is the program that makes the compressed waveforms of GTKWave, which brings it, from a dump.
const fstConverter = "vcd2fst"

// A NoFSTError says that a file .fst was asked for, and the program that makes it is not there.
type NoFSTError struct{ File string }

// Error returns the message.
func (e *NoFSTError) Error() string {
	return fmt.Sprintf("%s is written by %s of GTKWave, which is not on the path", filepath.Base(e.File), fstConverter)
}

// is reports whether a file name has an extension, in any case of letters.
func is(file, extension string) bool { return strings.EqualFold(filepath.Ext(file), extension) }

// CheckWaves returns a *NoFSTError if the options name a file .fst that cannot be made here.
func (o Options) CheckWaves() error {
	if _, err := exec.LookPath(fstConverter); is(o.VCD, ".fst") && err != nil {
		return &NoFSTError{o.VCD}
	}
	return nil
}

// draw writes the waveforms and the timeline of the run t, as far as the options name such files. frames are its data.
func (o Options) draw(ctx context.Context, d *dataflow.Design, t *rtlsim.RunTrace,
	frames []engines.FrameTensors) error {
	waves := func(w io.Writer) error { return rtlsim.WriteVCD(w, d, t, frames) }
	if is(o.VCD, ".fst") {
		dump := waves
		waves = func(w io.Writer) error { return writeFST(ctx, w, dump) }
	}
	timeline := rtlsim.WriteTimelineSVG
	if is(o.Timeline, ".json") {
		timeline = rtlsim.WriteTimelineJSON
	}
	for _, f := range []struct {
		path string
		draw func(io.Writer) error
	}{{o.VCD, waves}, {o.Timeline, func(w io.Writer) error { return timeline(w, d, t) }}} {
		if f.path == "" {
			continue
		}
		if err := drawInto(f.path, f.draw); err != nil {
			return err
		}
	}
	return nil
}

// drawInto writes a file as it is drawn: a dump may be larger than memory. Of a drawing that fails, nothing is left.
func drawInto(path string, draw func(io.Writer) error) error {
	f, err := outputdir.CreateDraft(path)
	if err != nil {
		return err
	}
	defer f.RemoveUnlessRenamed()
	if err := draw(f); err != nil {
		return err
	}
	return f.RenameIntoPlace()
}

// writeFST writes what a dump becomes in GTKWave's compressed form.
func writeFST(ctx context.Context, w io.Writer, dump func(io.Writer) error) error {
	dir, err := os.MkdirTemp("", "hlsgen-waves-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	vcd, fst := filepath.Join(dir, "waves.vcd"), filepath.Join(dir, "waves.fst")
	if err := drawInto(vcd, dump); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, fstConverter, vcd, fst).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %.500s", fstConverter, err, out)
	}
	made, err := os.Open(fst)
	if err != nil {
		return err
	}
	defer made.Close()
	_, err = io.Copy(w, made)
	return err
}
