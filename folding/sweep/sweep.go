// Package sweep folds a model for many boards, clocks, rates, styles and budgets, and shows which speeds are possible
// for which resources. It imports the model once for each number of samples that take turns. The searches run on all
// processors. A journal keeps their results, so that an interrupted sweep can resume. The files do not depend on the
// order in which searches end. In come Options; out come a SweepReport and a folder. It may import the compiler and
// what that may.
//
//	sweep.go     RunSweep: the workers, and the results that are known already
//	plan.go      every combination of the requested values, each a spec
//	precision.go other quantisers for the model, and their accuracy
//	space.go     the foldings of a model, listed once for many goals
//	point.go     the result of a spec: a PointResult, its status, the fronts it is on
//	journal.go   a line per search, written as it ends
//	readme.go    the folder's README
//	pictures.go  rates against resources, and clocks of layers
//	tables.go    sweep.csv and sweep.json
//	slurm.go     a job array that synthesises every design
//	collect.go   the reports of the job array, put into the tables: package synthesis reads them
//	page.go      the page of all points
package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"hlsgen/folding"
	"hlsgen/frontend"
	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/folder"
	"hlsgen/internal/options"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/safefile"
	"hlsgen/internal/samples"
	"hlsgen/internal/source"
	"hlsgen/internal/verify"
)

// Options describe a sweep. Its axes take the place of Board, ClockMHz, FPS, Interval, MaxUse and Interleave in the
// embedded options. An empty axis has one value, the default of a build.
type Options struct {
	options.Source
	options.Hardware
	options.Goal
	options.OutputFolder
	Boards    []string // names or paths
	Clocks    []float64
	FPS       []float64
	Intervals []float64 // clocks per frame, instead of FPS
	Memories  []dataflow.Memory
	Computes  []dataflow.MultiplierKind
	MaxUses   []folding.MaxUseFractions
	Samples   []int // numbers of samples that take turns; each needs an import
	// the precisions to quantise the model to again; if empty, the model stays as it is. Requantise is the user's text
	Precisions []frontend.QuantisationRecipe
	Requantise string
	// if not 0: find up to Front designs of the front for each combination, instead of one for each rate
	Front   int
	Bound   bool // whether to compute bounds of all designs instead of designs
	Workers int  // 0: one per processor

	Synthesise bool // whether the caller will call WriteSlurmJobs
}

// A SweepReport describes a finished sweep: its points, and the files that it writes.
type SweepReport struct {
	Model  string
	Source *source.ModelSource // nil if only reports were collected
	Points []PointResult       // in the order of the axes, boards first
	Total  int                 // the number of searches
	Kept   int                 // searches in the journal at the end
	Fresh  int                 // searches made by this run
	Out    string
	Files  []string // the files written, relative to Out

	Precision *PrecisionAccuracies // the accuracies of the model and of its variants; nil if the model stays as it is
	Accuracy  *samples.Accuracy    // the model's accuracy, if it stays as it is and there are labels

	Array     int    // the number of jobs in the array
	Script    string // the script for sbatch, relative to Out
	Collected int    // designs with a report of synthesis
}

// ChosenPoint returns the point that is marked as chosen: the fastest that fits and, among several precisions, is
// accurate enough. It returns nil if there is none.
func (r *SweepReport) ChosenPoint() *PointResult {
	for i := range r.Points {
		if r.Points[i].Chosen {
			return &r.Points[i]
		}
	}
	return nil
}

// CountedUnit returns the unit of all rates: frames, or samples if some frames hold several.
func (r *SweepReport) CountedUnit() string {
	most := 1
	for i := range r.Points {
		most = max(most, r.Points[i].Samples)
	}
	return folding.CountedUnitForSamplesPerFrame(most)
}

// RunSweep runs a sweep. If the user has to change something, d says what. The result is then nil, unless only a file
// that is written at the end is in the way. If ctx ends the sweep, the journal keeps the results so far, and RunSweep
// returns both an error and a result that counts them.
func RunSweep(ctx context.Context, o Options, d *diag.List) (*SweepReport, error) {
	specs := o.plan(d)
	if d.HasErrors() {
		return nil, nil
	}
	o.ReportProgress("importing", 0, 0)
	src, all, err := o.importAll(ctx, d)
	if err != nil || all == nil {
		return nil, err
	}
	r := &SweepReport{Model: src.Name, Source: src, Total: len(specs), Out: o.Out, Precision: all.precisions,
		Accuracy: all.accuracy}
	if r.Out == "" {
		r.Out = folder.DefaultBuildFolder(o.Model, "sweep")
	}
	j, err := openJournal(r.Out, header{Model: src.File, SHA256: src.SHA256()}, o.Force)
	if err != nil {
		return nil, refuse(r.Out, err, d)
	}
	if ok, err := r.admitted(d); !ok {
		return nil, errors.Join(err, j.close())
	}
	if j.broken > 0 {
		d.Add(diag.Diag{Severity: diag.SeverityWarning, Code: diag.SweepJournalDamaged, Where: journalFile,
			Msg: fmt.Sprintf("damaged lines: %d; their searches are made again",
				j.broken),
			Hint: "a killed run leaves one at the end; others come from a fault of the disk or the memory"})
		if d.HasErrors() {
			return nil, j.close()
		}
	}
	err = r.search(ctx, o, all, specs, j)
	if err == nil {
		judge(r.Points, r.Precision)
		o.ReportProgress("drawing", 0, 0)
		err = errors.Join(r.write(d), r.writeReadme(o, d))
	}
	return r, errors.Join(err, j.close())
}

// refuse adds a diagnostic to d and returns nil if err says that the folder out cannot take this sweep. It returns any
// other error.
func refuse(out string, err error, d *diag.List) error {
	other := new(otherModel)
	busy := new(outputdir.PlaceBusyError)
	if errors.As(err, &busy) {
		d.AddError(diag.OutputFolderBusy, "", fmt.Sprintf("%s %v", out, busy), "wait for it, or give another --out")
		return nil
	}
	if !errors.Is(err, errNoSweep) && !errors.As(err, &other) && !safefile.IsReadFailure(err) {
		return fmt.Errorf("%s: %w", out, err)
	}
	hint := "give another folder: --out DIR"
	if other.name != "" {
		hint += ", or --force to begin anew"
	}
	d.AddError(diag.OutputFolderUnusable, "", fmt.Sprintf("%s: %v", out, err), hint)
	return nil
}

// importAll imports the model for each number of samples that take turns. It returns nil spaces if it added errors to
// d.
func (o *Options) importAll(ctx context.Context, d *diag.List) (*source.ModelSource, *spaces, error) {
	all := &spaces{models: map[made]*dataflow.Model{}, refused: map[string]string{}, sums: map[string]string{},
		made: map[string]*space{}}
	if len(o.Precisions) > 0 {
		return o.precisions(ctx, all, d)
	}
	var src *source.ModelSource
	for _, samples := range or(o.Samples, 1) {
		one, told := o.importing(samples).Source, diag.List{Strict: d.Strict}
		c, err := check.Run(ctx, check.Options{Source: one}, &told)
		d.AddMissing(told.Diags) // most diagnostics are the same for every number
		if err != nil || c == nil || d.HasErrors() {
			return nil, nil, err
		}
		src, all.models[made{samples: samples}] = c.Source, c.Imported.Model
		if all.accuracy, err = verify.OpenSamplesAndMeasureAccuracy(ctx, one, c.Source, c.Imported.Model,
			d); err != nil ||
			d.HasErrors() {
			return nil, nil, err
		}
	}
	shapes, err := o.imports()
	if err != nil {
		return nil, nil, err
	}
	all.salt = src.SHA256() + shapes
	return src, all, nil
}

// importing returns the options to import the model with the given number of samples per frame, and to build it.
func (o *Options) importing(samples int) build.Options {
	one := o.ofBuild()
	one.Interleave = samples
	return one
}

// ofBuild returns the options of a build that has none of the axes.
func (o *Options) ofBuild() build.Options {
	return build.Options{Source: o.Source, Hardware: o.Hardware, Goal: o.Goal, OutputFolder: o.OutputFolder}
}

// imports returns a text of all options that shape the import, and of hlsgen's version. The number of samples that take
// turns is not in it, because each spec has it.
func (o *Options) imports() (string, error) {
	b := fmt.Appendf(nil, "%s\n%v\n", o.Version, o.Dims)
	if len(o.Shapes) > 0 {
		b = fmt.Appendf(b, "%q\n", o.Shapes.FlagValues())
	}
	if l := o.Lengths; l != nil {
		b = fmt.Appendf(b, "%s %d..%d\n", l.Axis, l.Min, l.Max)
	}
	if t := o.InputType; t != nil {
		b = fmt.Appendf(b, "%v %q %q\n", t, t.MeanFlagValues(), t.StdFlagValues())
	}
	if q := o.InputQuant; q != nil {
		b = fmt.Appendf(b, "%v %v\n", q.Type, q.Scale)
	}
	if len(o.Initial) > 0 {
		b = fmt.Appendf(b, "%v\n", o.Initial)
	}
	if len(o.States) > 0 {
		b = fmt.Appendf(b, "%v\n", o.States)
	}
	if len(o.Outputs) > 0 {
		b = fmt.Appendf(b, "%q\n", o.Outputs)
	}
	if o.Stateful {
		b = append(b, "stateful\n"...)
	}
	for _, path := range []string{o.LSTM, o.Cells} {
		if path == "" {
			continue
		}
		formats, err := safefile.ReadRegularFile(path, safefile.MaxSettingsFileBytes)
		if err != nil {
			return "", err
		}
		b = append(b, formats...)
	}
	return string(b), nil
}

// search makes the searches that the journal does not have, and collects the points of all searches.
func (r *SweepReport) search(ctx context.Context, o Options, all *spaces, specs []spec, j *journal) error {
	keys := make([]string, len(specs))
	var missing []int
	for i, s := range specs {
		keys[i] = s.key(all.saltOf(s))
		if _, ok := j.done[keys[i]]; !ok {
			missing = append(missing, i)
		}
	}
	before := len(specs) - len(missing)
	r.Kept = before
	o.ReportProgress("searching", before, len(specs))
	group, going := errgroup.WithContext(ctx)
	group.SetLimit(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)))
	var mu sync.Mutex
	for _, i := range missing {
		if going.Err() != nil {
			break
		}
		group.Go(func() error {
			points, err := specs[i].search(going, all)
			if err == nil {
				err = j.add(keys[i], points)
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			r.Fresh++
			r.Kept = before + r.Fresh
			o.ReportProgress("searching", r.Kept, len(specs))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range specs {
		r.Points = append(r.Points, r.Precision.mark(j.done[keys[i]])...)
	}
	return nil
}

// PathInOutputFolder returns the path of a file in the output folder.
func (r *SweepReport) PathInOutputFolder(name string) string {
	return filepath.Join(r.Out, filepath.FromSlash(name))
}
