package sweep

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"hlsgen/frontend/quantise"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/source"
	"hlsgen/templates"
)

// readmeFile is the name of the output folder's README.
const readmeFile = "README.md"

// The files of a job array, in the output folder.
const (
	pointsFolder = "points"
	pointsFile   = "points.txt"
	scriptFile   = "synthesise.sh"
	vivadoFile   = "synthesise.tcl"
)

// sweepFiles describes the files of a sweep.
var sweepFiles = []templates.ReadmeEntry{
	{Patterns: []string{readmeFile}, What: "this page"},
	{Patterns: []string{"sweep.csv"},
		What: "every point: the request, whether it fits, rate, latency, resources, bottleneck"},
	{Patterns: []string{"sweep.json"},
		What: "the same, with the folding file of every point"},
	{Patterns: []string{PageFileName},
		What: "the page of every point, for a browser: pictures that lead to designs, a table that sorts"},
	{Patterns: []string{"pareto-*.svg", "pareto-*.png"},
		What: "samples per second against a resource; the chosen point is marked"},
	{Patterns: []string{"accuracy-*.svg", "accuracy-*.png"},
		What: "accuracy against a cost, for each format of activations"},
	{Patterns: []string{"w*a*.onnx"},
		What: "the quantised model: w4a8 has weights of 4 bits and activations of 8"},
	{Patterns: []string{"cycles.svg", "cycles.png"}, What: "the clocks of every layer of the chosen point"},
	{Patterns: []string{"chosen.json"}, What: "the folding file of the chosen point"},
	{Patterns: []string{journalFile},
		What: "the results of the searches, in the order in which they ended; an interrupted sweep resumes from here"},
	{Patterns: []string{outputdir.SharedFileListName},
		What: "the files that hlsgen wrote here; it replaces no other file"},
	{Patterns: []string{pointsFolder + "/"},
		What: "a build of each different design that fits, with the files of its synthesis"},
	{Patterns: []string{pointsFile}, What: "the names of the builds, a line for each job"},
	{Patterns: []string{scriptFile}, What: "a Slurm job array that synthesises the builds"},
	{Patterns: []string{vivadoFile}, What: "the part of each job that runs in Vivado"},
}

// writeReadme writes the README of the folder, which describes the files of the sweep that are present. It adds a
// diagnostic to d if a file is in the way.
func (r *SweepReport) writeReadme(o Options, d *diag.List) error {
	paths := []string{readmeFile}
	err := filepath.WalkDir(r.Out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() != pointsFolder {
			return err
		}
		rel, err := filepath.Rel(r.Out, path)
		if e.IsDir() {
			paths = append(paths, pointsFolder+"/")
			return fs.SkipDir
		}
		if rel = filepath.ToSlash(rel); templates.AnyReadmeEntryMatches(sweepFiles, rel) && rel != readmeFile {
			paths = append(paths, rel) // other files are not the sweep's
		}
		return err
	})
	if err != nil {
		return err
	}
	page := templates.ReadmeContents{Title: templates.FormatMarkdownCodeSpan(r.Model) + ", a sweep", Files: sweepFiles,
		About: fmt.Sprintf("%s designs of the model %s, made by hlsgen %s.", whole(len(r.Points)),
			templates.FormatMarkdownCodeSpan(r.Model), o.Version)}
	page.Steps = append(page.Steps, templates.ReadmeStep{Title: "Continue the sweep",
		Commands: []string{templates.QuoteShellCommand(o.command(r.Source))},
		Text: "Searches whose results are in the journal are not repeated. Add values to search only the new " +
			"ones."})
	if c := r.ChosenPoint(); c != nil {
		step := templates.ReadmeStep{Title: "Build the chosen point"}
		frame := "a frame"
		if c.Samples > 1 {
			frame += fmt.Sprintf(" of %d samples", c.Samples)
		}
		if s := c.Sequences; s != nil {
			frame = fmt.Sprintf("a sequence of %d steps, the longest,", s.Longest.Steps)
		}
		step.Text = fmt.Sprintf("It takes %s every %s clocks: %s %s/s.", frame, number(c.Interval), number(c.FPS),
			r.CountedUnit())
		if auto := "auto"; c.Memory == auto && c.Compute == auto {
			step.Commands = []string{templates.QuoteShellCommand(o.chosen(c, r.Source))}
		} else {
			step.Text += "\nIts folding is in `sweep.json`. Save it as a file for `hlsgen build --folding`."
		}
		page.Steps = append(page.Steps, step)
	}
	if _, err := os.Stat(r.PathInOutputFolder(scriptFile)); err == nil {
		page.Steps = append(page.Steps, templates.ReadmeStep{Title: "Synthesise all",
			Commands: []string{"sbatch " + scriptFile, "hlsgen sweep --collect ."},
			Text: "Run this on the cluster. The second line collects the reports when the jobs are done. Logs are in " +
				"`points`."})
	}
	text, err := page.RenderReadme(paths)
	if err != nil {
		return err
	}
	return r.put([]file{{readmeFile, text}}, d)
}

// command returns the words of the command line that repeats the sweep in its folder.
func (o *Options) command(src *source.ModelSource) []string {
	words := src.CommandWords("sweep")
	var list []string
	for _, b := range o.Boards {
		list = append(list, options.BoardArgumentInFolder(b))
	}
	axis := func(flag string, values []string) {
		if len(values) > 0 {
			words = append(words, "--"+flag, strings.Join(values, ","))
		}
	}
	axis("board", list)
	axis("clock", texts(o.Clocks, number))
	axis("fps", texts(o.FPS, number))
	axis("interval", texts(o.Intervals, number))
	axis("memory", texts(o.Memories, func(m dataflow.Memory) string { return style(m) }))
	axis("compute", texts(o.Computes, func(c dataflow.MultiplierKind) string { return style(c) }))
	axis("interleave", texts(o.Samples, strconv.Itoa))
	if o.Requantise != "" {
		axis("requantize", []string{o.Requantise})
		if o.Requantise == quantise.LeastBitsRecipeName {
			axis("keep", []string{number(cmp.Or(o.KeepShare, source.DefaultSameClassShare))})
		}
	}
	for _, use := range o.MaxUses {
		words = append(words, "--max-use", use.String())
	}
	switch {
	case o.Front > 0:
		words = append(words, "--pareto", "--points", strconv.Itoa(o.Front))
	case o.Bound:
		words = append(words, "--bound")
	}
	return append(append(words, o.ofBuild().DesignFlags()...), "--out", ".")
}

// chosen returns the words of the command line that builds point p, to be run beside the model.
func (o *Options) chosen(p *PointResult, src *source.ModelSource) []string {
	if p.Precision != "" {
		quantised := *o
		quantised.Calibrate, quantised.LSTM, quantised.Cells = "", "", ""
		o, src = &quantised, &source.ModelSource{File: p.Precision + ".onnx"}
	}
	words := append(src.CommandWords("build"), "--board", options.BoardArgumentInFolder(p.BoardArgument(o.Boards)),
		"--clock",
		number(p.ClockMHz), "--max-use", p.MaxUse)
	switch {
	case o.Front > 0:
		words = append(words, "--interval", number(p.Interval))
	case p.Asked > 0:
		words = append(words, "--interval", number(p.Asked))
	case p.FPSAsked > 0:
		words = append(words, "--fps", number(p.FPSAsked))
	}
	return append(words, o.importing(p.Samples).DesignFlags()...)
}

func texts[T any](values []T, text func(T) string) (list []string) {
	for _, v := range values {
		list = append(list, text(v))
	}
	return list
}
