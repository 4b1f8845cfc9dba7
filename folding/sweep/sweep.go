// Package sweep folds a model for many boards, clocks, rates, styles and budgets, and shows what can be had for how
// much. A model is imported once for each number of
// samples that take turns; the searches run on all processors; a journal keeps what is found, so that a sweep
// can be interrupted and goes on where it was. The files do not depend on the order in which searches end. In come
// Options; out come a Result and a folder. It may import the compiler and what that may.
//
//	sweep.go     Run: the workers, and what is already known
//	plan.go      every combination of what was asked, each a spec
//	precision.go other quantisers for the model, and what they cost in accuracy
//	space.go     what a model may be folded to, listed once for many goals
//	point.go     what became of a spec: a Point, its fate, the fronts it is on
//	journal.go   a line per search, kept as it ends
//	tables.go    sweep.csv, sweep.json and the pictures; readme.go: the folder's page
//	slurm.go     a job array that synthesises every design
//	collect.go   what it left, put into the tables: package synthesis reads the tools' reports
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
	"hlsgen/internal/compiler"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/owned"
	"hlsgen/internal/regular"
)

// Options are what a sweep is asked for. Of the embedded Options those count that say how the model is read, Latency,
// Least, IO, Unroll, AccPerPE, FIFO, the formula of costs, Out, Force, Version and Progress. An empty axis has one
// value, the default of a build.
type Options struct {
	compiler.Options
	Boards    []string // names or paths
	Clocks    []float64
	FPS       []float64
	Intervals []float64 // clocks per frame, instead of FPS
	Memories  []dataflow.Memory
	Computes  []dataflow.Compute
	MaxUses   []folding.Use
	Samples   []int // that take turns: an import for each
	// what the model is quantised to, again, each; empty: it stays. The texts are how they were asked for
	Precisions []frontend.Recipe
	Requantise string
	// not 0: at most so many designs worth choosing from of every combination, instead of one for each rate
	Front   int
	Bound   bool // no designs, but what none goes below
	Workers int  // 0: as many as there are processors

	Synthesise bool // Slurm is to follow
}

// A Result is a sweep's story.
type Result struct {
	Model  string
	Source *compiler.Source // nil where only reports were collected
	Points []Point          // in the order of the axes, boards first
	Total  int              // searches
	Kept   int              // of these, in the journal in the end
	Fresh  int              // of these, made now
	Out    string
	Files  []string // that were written, below Out

	Precision *Precisions       // what was found of the model and of those made of it; nil where it stays
	Accuracy  *samples.Accuracy // of the model, where it stays, with labels

	Array     int    // jobs of the array that was written
	Script    string // below Out, that is given to sbatch
	Collected int    // designs with reports of synthesis
}

// Chosen is the point that is marked; nil where none fits.
func (r *Result) Chosen() *Point {
	for i := range r.Points {
		if r.Points[i].Chosen {
			return &r.Points[i]
		}
	}
	return nil
}

// Unit is what the rates of all points count: frames, or samples where some frames hold several.
func (r *Result) Unit() string {
	most := 1
	for i := range r.Points {
		most = max(most, r.Points[i].Samples)
	}
	return folding.Unit(most)
}

// Run sweeps. What the user has to change is in d, and then the result is nil. Where ctx ends it, what was found is
// kept, and the result says how much that is, beside the error.
func Run(ctx context.Context, o Options, d *diag.List) (*Result, error) {
	specs := o.plan(d)
	if d.Failed() {
		return nil, nil
	}
	o.Step("importing", 0, 0)
	src, all, err := o.importAll(ctx, d)
	if err != nil || all == nil {
		return nil, err
	}
	r := &Result{Model: src.Name, Source: src, Total: len(specs), Out: o.Out, Precision: all.precisions,
		Accuracy: all.accuracy}
	if r.Out == "" {
		r.Out = compiler.DefaultOut(o.Model, "sweep")
	}
	j, err := openJournal(r.Out, header{Model: src.File, SHA256: src.Sum()}, o.Force)
	if err != nil {
		return nil, refuse(r.Out, err, d)
	}
	if ok, err := r.admitted(d); !ok {
		return nil, errors.Join(err, j.close())
	}
	if j.broken > 0 {
		d.Add(diag.Diag{Severity: diag.Warning, Code: diag.JournalDamaged, Where: journalFile,
			Msg: fmt.Sprintf("lines that are not as they were written: %d; what they had is worked out again",
				j.broken),
			Hint: "a run that was killed leaves one at the end; others are a fault of the disk or the memory"})
		if d.Failed() {
			return nil, j.close()
		}
	}
	err = r.search(ctx, o, all, specs, j)
	if err == nil {
		judge(r.Points, r.Precision)
		o.Step("drawing", 0, 0)
		err = errors.Join(r.write(d), r.writeReadme(o, d))
	}
	return r, errors.Join(err, j.close())
}

// refuse makes a diagnostic of a folder that is not the place for this sweep.
func refuse(out string, err error, d *diag.List) error {
	other := new(otherModel)
	busy := new(owned.BusyError)
	if errors.As(err, &busy) {
		d.Fail(diag.OutputBusy, "", fmt.Sprintf("%s %v", out, busy), "wait for it, or give another --out")
		return nil
	}
	if !errors.Is(err, errNoSweep) && !errors.As(err, &other) && !regular.Unreadable(err) {
		return fmt.Errorf("%s: %w", out, err)
	}
	hint := "give another folder: --out DIR"
	if other.name != "" {
		hint += ", or --force to begin anew"
	}
	d.Fail(diag.OutputExists, "", fmt.Sprintf("%s: %v", out, err), hint)
	return nil
}

// importAll imports the model for each number of samples that take turns; no spaces after errors were added to d.
func (o *Options) importAll(ctx context.Context, d *diag.List) (*compiler.Source, *spaces, error) {
	all := &spaces{models: map[made]*dataflow.Model{}, refused: map[string]string{}, sums: map[string]string{},
		made: map[string]*space{}}
	if len(o.Precisions) > 0 {
		return o.precisions(ctx, all, d)
	}
	var src *compiler.Source
	for _, samples := range or(o.Samples, 1) {
		one, told := o.importing(samples), diag.List{Strict: d.Strict}
		c, err := compiler.Check(ctx, one, &told)
		d.Merge(told.Diags) // most is the same for every number
		if err != nil || c == nil || d.Failed() {
			return nil, nil, err
		}
		src, all.models[made{samples: samples}] = c.Source, c.Imported.Model
		if all.accuracy, err = compiler.AccuracyOf(ctx, one, c, d); err != nil || d.Failed() {
			return nil, nil, err
		}
	}
	shapes, err := o.imports()
	if err != nil {
		return nil, nil, err
	}
	all.salt = src.Sum() + shapes
	return src, all, nil
}

// importing is the options of an import, and of builds of what it gives.
func (o *Options) importing(samples int) compiler.Options {
	one := o.Options
	one.Samples = samples
	return one
}

// imports is what else than the model's bytes shapes what is imported, and the version that does it. The samples that
// take turns are a part of each spec.
func (o *Options) imports() (string, error) {
	b := fmt.Appendf(nil, "%s\n%v\n", o.Version, o.Dims)
	if len(o.Shapes) > 0 {
		b = fmt.Appendf(b, "%q\n", o.Shapes.Texts())
	}
	if l := o.Lengths; l != nil {
		b = fmt.Appendf(b, "%s %d..%d\n", l.Axis, l.Min, l.Max)
	}
	if t := o.Arrives; t != nil {
		b = fmt.Appendf(b, "%v %q %q\n", t, t.Means(), t.Deviations())
	}
	if q := o.Quantise; q != nil {
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
		formats, err := regular.ReadFile(path, compiler.MaxSettings)
		if err != nil {
			return "", err
		}
		b = append(b, formats...)
	}
	return string(b), nil
}

// search makes the searches that the journal has not, and gathers the points of all.
func (r *Result) search(ctx context.Context, o Options, all *spaces, specs []spec, j *journal) error {
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
	o.Step("searching", before, len(specs))
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
			o.Step("searching", r.Kept, len(specs))
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

// Path is a file below the output folder.
func (r *Result) Path(name string) string { return filepath.Join(r.Out, filepath.FromSlash(name)) }
