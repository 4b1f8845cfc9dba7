package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/report"
	"hlsgen/internal/suggest"
	"hlsgen/internal/synthesis"
)

// stage parses a value of --until: the last stage up to which the tools run.
func stage(s string) (synthesis.Stage, error) {
	if !slices.Contains(synthesis.StageNames, s) {
		return "", fmt.Errorf("want %s%s", strings.Join(synthesis.StageNames, ", "), suggest.DidYouMeanSuffix(s,
			synthesis.StageNames))
	}
	return synthesis.Stage(s), nil
}

// builtFolder checks the arguments of a command that takes the folder of a build.
func builtFolder(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("want one folder, which hlsgen build has written")
	}
	return nil
}

// synthCommand returns the command synth.
func (a *app) synthCommand() *cobra.Command {
	var o options.Source
	var backend options.Backend
	last := synthesis.StageVivado
	var by jobs
	t := a.task(&cobra.Command{
		Use:   "synth DIR",
		Short: "Take a build through the vendor's tools, layer by layer",
		Long: `Synth runs AMD's tools where they are installed, on the folder of a build: every
layer through Vitis HLS, then through Vivado, alone (out of context); with
--until bitstream then the whole design, as make -C DIR/vivado does. Several
layers run at a time. hlsgen collect shows what came of it.

Layers that have not changed since they were synthesised stay as they are, even
after another build into the same folder: contents count, not times. An
interrupted run goes on where it was. A layer that fails is named, with its log;
the others go on.

The tools are those in the PATH (source settings64.sh of their installation
first), or the programs that HLSGEN_HLS and HLSGEN_VIVADO name. With --jobs slurm
every layer is a job of an array, and synth waits for the last; sbatch's own
variables (SBATCH_PARTITION, SBATCH_TIMELIMIT ...) say what jobs ask for.`,
		Example: `  hlsgen synth net-zcu104
  hlsgen synth net-zcu104 --until hls --jobs 4
  hlsgen synth net-zcu104 --until bitstream
  SBATCH_PARTITION=eda hlsgen synth net-zcu104 --jobs slurm`,
		Args: builtFolder,
	}, parts{Source: &o})
	option(t.FlagSet, &last, "until", string(last), "STAGE", stage, "how far to go: hls, every layer through Vitis "+
		"HLS; vivado, and through Vivado, alone; bitstream, and the whole design")
	option(t.FlagSet, &backend, "backend", "", "BACKEND", oneOf[options.Backend]("back ends", options.BackendNames),
		"where the build has both back ends: layers of hls or of rtl alone")
	option(t.FlagSet, &by, "jobs", "", "N|slurm", parseJobs, "layers at a time (default: one per processor, eight at "+
		"most); slurm: each is a job of the cluster")
	t.json()
	t.completes("until", synthesis.StageNames)
	t.completes("backend", options.BackendNames)
	return t.does(func(ctx context.Context) (*answer, error) {
		shown := t.cmd.Flags().Arg(0)
		p := synthesis.OpenProject(under(a.dir, shown), &t.d)
		if p == nil {
			return nil, nil
		}
		run := synthesis.Options{Last: last, Workers: by.workers, Slurm: by.slurm, Env: a.env, Step: o.Progress}
		if backend != "" && backend != options.BackendBoth {
			run.Flows = []synthesis.VerilogSource{synthesis.VerilogSource(backend)}
		}
		r, err := p.Synthesise(ctx, run, &t.d)
		if r != nil && err != nil && ctx.Err() != nil && !t.asJSON {
			a.notes().remark("%d of %d are done: the same command goes on from there", r.Before+r.Made,
				len(r.Tasks))
		}
		if r == nil || err != nil {
			return nil, err
		}
		got := &answer{object: synthesisedOf(p, r, &t.d), show: func(s *screen) { showSynthesised(s, p, r, shown) }}
		if t.d.HasErrors() {
			got.end = errShown
		}
		return got, nil
	})
}

// A synthesised is the JSON of the synth command.
type synthesised struct {
	report.ReportHead
	Model  string   `json:"model"`
	Tasks  int      `json:"tasks"`
	Before int      `json:"unchanged"`
	Made   int      `json:"made_now"`
	Failed []string `json:"failed"`
	outcome
}

// synthesisedOf returns the JSON of the synth command.
func synthesisedOf(p *synthesis.Project, r *synthesis.ToolTaskCounts, d *diag.List) synthesised {
	s := synthesised{ReportHead: report.CurrentReportHead, Model: p.Model, Tasks: len(r.Tasks), Before: r.Before,
		Made:   r.Made,
		Failed: []string{}, outcome: outcomeOf(d, nil)}
	for _, f := range r.Failed {
		s.Failed = append(s.Failed, f.Name)
	}
	return s
}

// showSynthesised shows how many parts the tools have synthesised, and which have failed.
func showSynthesised(s *screen, p *synthesis.Project, r *synthesis.ToolTaskCounts, dir string) {
	s.title("%s on %s: %s, %s synthesised now, %s unchanged", label(p.Model), label(p.Board),
		count(len(r.Tasks), "part"), whole(r.Made), whole(r.Before))
	if len(r.Failed) > 0 {
		var names []string
		for _, f := range r.Failed {
			names = append(names, f.Name)
		}
		s.field("failed", "%s", strings.Join(names, ", "))
	}
	if r.Made+r.Before > 0 {
		command(s, "next", "hlsgen collect "+quoted(dir))
	}
}
