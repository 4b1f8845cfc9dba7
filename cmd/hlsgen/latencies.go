package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/synthesis"
)

// latenciesFile is the default output file of latencies.
const latenciesFile = "latencies.json"

// latenciesCommand returns the command latencies.
func (a *app) latenciesCommand() *cobra.Command {
	var o options.Source
	var force bool
	out := under(a.dir, latenciesFile)
	t := a.task(&cobra.Command{
		Use:   "latencies DIR",
		Short: "Make latencies those of your tool and part, from reports that it has written",
		Long: `Latencies reads the reports that Vitis HLS has left below a folder, all of one
part: *.verbose.sched.rpt, which have the delay of every operation, and
csynth.xml and *_csynth.rpt, which have the depths of pipelines. It writes a
file that build, simulate and sweep take with --latencies: latencies then
follow from it, and no longer have a range.

With schedules, their delays take the place of hlsgen's tables. Without them,
the depths of layers whose build lies below the folder (report/layers.json)
give one factor for all latencies. Reports in the form of Vivado HLS (2020.1 and
before) are named and left out, except csynth.xml.`,
		Example: `  hlsgen latencies net-zcu104/hls
  hlsgen latencies net-zcu104 --out zu7ev.json
  hlsgen build net.onnx --board zcu104 --latencies zu7ev.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("latencies takes one folder, with reports of Vitis HLS")
			}
			return nil
		},
	}, parts{Source: &o})
	t.path(&out, "out", "FILE", "file to write (default "+latenciesFile+")", nil)
	t.BoolVar(&force, "force", false, "replace the file")
	t.json()
	return t.does(func(context.Context) (*answer, error) {
		dir := under(a.dir, t.cmd.Flags().Arg(0))
		c, err := synthesis.CalibrateDelays(dir, &t.d)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			t.d.AddError(diag.FileUnreadable, t.cmd.Flags().Arg(0), "there is no such folder",
				"give a folder with reports")
			return nil, nil
		case c == nil || err != nil:
			return nil, err
		}
		if !replaceable(out, force, &t.d) {
			return nil, nil
		}
		if err := synthesis.SaveCalibration(c, out); err != nil {
			return nil, err
		}
		return &answer{object: latenciesMade{*c, out, outcomeOf(&t.d, nil)},
			show: func(s *screen) { showLatencies(s, c, out) }}, nil
	})
}

// latenciesMade is the JSON of the command latencies.
type latenciesMade struct {
	delay.DelayCalibration
	Out string `json:"out"`
	outcome
}

// showLatencies shows the delays or the factor that were read, and the file out to which it was written.
func showLatencies(s *screen, c *delay.DelayCalibration, out string) {
	s.title("%s", printable(c.Part))
	s.field("tool", "%s", printable(c.Tool))
	s.field("uncertainty", "%s of a period", percentOf(c.Uncertainty))
	s.field("delays", "%s, by operation and width", count(len(c.Delays), "operation"))
	if c.Stages != 1 {
		s.field("depths", "%s times those of hlsgen's tables", figure(c.Stages))
	}
	t := newTable("process", ">depth", ">hlsgen", ">interval")
	for _, p := range c.Processes {
		ours := "-"
		if p.Ours > 0 {
			ours = fmt.Sprint(p.Ours)
		}
		t.row(label(p.Name), fmt.Sprint(p.Depth), ours, fmt.Sprint(p.Interval))
	}
	s.table(t)
	s.field("written", "%s", printable(out))
}

// percentOf returns x with a percent sign.
func percentOf(x float64) string { return fmt.Sprintf("%g %%", 100*x) }

// replaceable reports whether a file may be written: it is not there, or the user gave --force. Otherwise it adds an
// error to d.
func replaceable(file string, force bool, d *diag.List) bool {
	if _, err := os.Lstat(file); err != nil || force {
		return true
	}
	d.AddError(diag.OutputHasForeignFiles, file, "it is there already", "give another --out, or --force to replace it")
	return false
}
