package synthesis

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hlsgen/internal/diag"
	"hlsgen/internal/outputdir"
	"hlsgen/templates"
)

//go:embed task.sh
var taskScript string

//go:embed vivado.tcl
var vivadoScript string

//go:embed slurm.sh
var slurmScript string

// Options select what Synthesise runs. Env, which returns the value of an environment variable, and Step must not be
// nil.
type Options struct {
	Flows   []VerilogSource // empty: all flows of the folder
	Last    Stage
	Workers int  // tasks at a time; 0: one per processor, at most eight
	Slurm   bool // run tasks as jobs of Slurm instead
	Env     func(string) string
	// Step is called with the number of tasks done.
	Step func(stage string, done, total int)
}

// ToolTaskCounts lists and counts the tasks of a call of Synthesise by what became of them.
type ToolTaskCounts struct {
	Tasks   []ToolTask
	Before  int        // number of tasks whose results were current at the start
	Made    int        // number of tasks done in this run
	Failed  []ToolTask // tasks that failed
	Waiting int        // number of tasks that did not begin
}

// mostWorkers is the number of tasks that run at a time by default, since each may take gigabytes.
const mostWorkers = 8

// Synthesise runs the layers and, if asked for, the whole design through the tools, except where results are current.
// It reports a layer that fails in d, with its log, and goes on with other layers, but not with the whole design. It
// returns nil if nothing can run, after adding the reason to d, or with an error.
func (p *Project) Synthesise(ctx context.Context, o Options, d *diag.List) (r *ToolTaskCounts, err error) {
	if len(o.Flows) == 0 {
		o.Flows = p.Flows
	}
	if !p.fits(o, d) {
		return nil, nil
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	place, err := outputdir.ClaimFolder(dir, templates.CleanedProjectFolders, templates.KeptProjectFolders...)
	if busy := new(outputdir.PlaceBusyError); errors.As(err, &busy) {
		d.AddError(diag.OutputFolderBusy, "", filepath.Base(dir)+" "+busy.Error(),
			"wait for it: what it has done stays done")
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, place.ReleaseClaim()) }()
	if err := p.prepare(o.Flows); err != nil {
		return nil, err
	}
	r = &ToolTaskCounts{}
	layers := o.Last
	if layers == StageBitstream {
		layers = StageVivado
	}
	if ok, err := p.round(ctx, o, p.tasks(o.Flows, layers), r, d); !ok {
		return nil, err
	} else if err != nil || o.Last != StageBitstream || d.HasErrors() {
		return r, err
	}
	_, err = p.round(ctx, o, []ToolTask{{o.Flows[0], p.Top, StageBitstream}}, r, d)
	return r, err
}

// fits reports whether the project has all flows that the options ask for and, for a bitstream, the folder vivado. If
// not, it adds an error to d.
func (p *Project) fits(o Options, d *diag.List) bool {
	for _, f := range o.Flows {
		if !slices.Contains(p.Flows, f) {
			d.AddError(diag.BackendUnfitForBoard, "", fmt.Sprintf("the build has no %s", f),
				"build it with --backend both")
			return false
		}
	}
	if _, err := os.Stat(p.path("vivado/Makefile")); err != nil && o.Last == StageBitstream {
		d.AddError(diag.BackendUnfitForBoard, "",
			"the build has no folder vivado: hlsgen knows no host's port of "+p.Board,
			"--until vivado takes the layers through the tools")
		return false
	}
	return true
}

// prepare writes the scripts of the flows, and lists of files for generated SystemVerilog, into the folder of
// synthesis. They count among the sources of results.
func (p *Project) prepare(flows []VerilogSource) error {
	vivado := strings.NewReplacer("@PART@", p.Part, "@PERIOD@",
		strconv.FormatFloat(p.period(), 'f', -1, 64)).Replace(vivadoScript)
	files := map[string]string{"task.sh": taskScript, "vivado.tcl": vivado, "slurm.sh": slurmScript}
	if slices.Contains(flows, VerilogSourceHlsgen) {
		for _, name := range p.modules[VerilogSourceHlsgen] {
			list, err := p.written(name)
			if err != nil {
				return err
			}
			files["rtl/"+name+"/files"] = strings.Join(list, "\n") + "\n"
		}
	}
	for name, text := range files {
		at := p.path(path.Join(folder, name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := outputdir.WriteFileAtomically(at, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// round runs those tasks whose results are not current, and adds what became of all to r. ok is false if a program is
// missing, as d then says.
func (p *Project) round(ctx context.Context, o Options, all []ToolTask, r *ToolTaskCounts, d *diag.List) (ok bool,
	err error) {
	var stale []ToolTask
	for _, t := range all {
		if !p.current(t) {
			stale = append(stale, t)
		}
	}
	r.Tasks, r.Before = append(r.Tasks, all...), r.Before+len(all)-len(stale)
	if len(stale) == 0 {
		return true, nil
	}
	if !o.toolsFor(stale, d) {
		return false, nil
	}
	for _, t := range stale { // remove marks of an earlier run
		if err := os.RemoveAll(p.path(t.work() + "/failed")); err != nil {
			return true, err
		}
	}
	if o.Slurm {
		err = p.submit(ctx, o, stale)
	} else {
		err = p.pool(ctx, o, stale)
	}
	for _, t := range stale {
		if p.current(t) {
			r.Made++
			continue
		}
		if _, _, said := p.logOf(t); ctx.Err() != nil && !said {
			r.Waiting++
			continue
		}
		r.Failed = append(r.Failed, t)
		if err == nil {
			p.ReportFailedTask(t, d)
		}
	}
	return true, err
}

// toolsFor reports whether the programs that the tasks call are installed; if not, d says which. With Slurm only its
// own are needed here.
func (o Options) toolsFor(stale []ToolTask, d *diag.List) bool {
	need := []string{"bash", "make", "flock", "sha256sum"}
	if o.Slurm {
		need = []string{"sbatch"}
	}
	for _, name := range need {
		if _, err := exec.LookPath(name); err != nil {
			d.AddError(diag.VendorToolMissing, "", name+" is not in the PATH",
				"install it; on a cluster, run hlsgen where jobs are submitted")
			return false
		}
	}
	if o.Slurm {
		return true
	}
	here := func(variable string, names ...string) {
		own := names[0]
		if given := o.Env(variable); given != "" {
			names = []string{given}
		}
		if !slices.ContainsFunc(names, func(name string) bool { _, err := exec.LookPath(name); return err == nil }) {
			d.AddError(diag.VendorToolMissing, "", strings.Join(names, " or ")+" is not in the PATH",
				"source settings64.sh of its installation first, or give its path: "+variable+"=/path/to/"+own)
		}
	}
	if slices.ContainsFunc(stale, func(t ToolTask) bool { return t.Flow == VerilogSourceHLS }) {
		here("HLSGEN_HLS", "vitis_hls", "vitis-run")
	}
	if slices.ContainsFunc(stale, func(t ToolTask) bool { return t.Last != StageHLS }) {
		here("HLSGEN_VIVADO", "vivado")
	}
	return !d.HasErrors()
}

// pool runs tasks on this machine, several at a time, until all have ended. It returns an error if a task's script
// could not run, or if ctx has ended. Failures of the tools are no error.
func (p *Project) pool(ctx context.Context, o Options, stale []ToolTask) error {
	workers := o.Workers
	if workers == 0 {
		workers = min(runtime.NumCPU(), mostWorkers)
	}
	var (
		mu    sync.Mutex
		wait  sync.WaitGroup
		first error
		done  int
	)
	o.Step("synthesising", 0, len(stale))
	next := make(chan ToolTask)
	for range min(workers, len(stale)) {
		wait.Go(func() {
			for t := range next {
				err := p.call(ctx, o, t)
				mu.Lock()
				if done++; err != nil && first == nil {
					first = err
				}
				o.Step("synthesising", done, len(stale))
				mu.Unlock()
			}
		})
	}
	for _, t := range stale {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- t:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return first
}

// call runs task.sh for a task and waits for it. It returns an error only if the script could not run, and none after
// ctx has ended. A failure of the tools shows in the files that they leave.
func (p *Project) call(ctx context.Context, o Options, t ToolTask) error {
	cmd := templates.NewKillableCommand(ctx, p.Dir, append([]string{"bash", folder + "/task.sh"}, t.arguments()...))
	cmd.Env = o.environment()
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err == nil || ctx.Err() != nil || errors.As(err, &exit) && len(out) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: %s", t.Name, err, bytes.TrimSpace(out[:min(len(out), 1000)]))
}

// environment returns this process's environment with the variables of o that name the tools, HLSGEN_HLS and
// HLSGEN_VIVADO.
func (o Options) environment() []string {
	env := os.Environ()
	for _, name := range []string{"HLSGEN_HLS", "HLSGEN_VIVADO"} {
		if given := o.Env(name); given != "" {
			env = append(env, name+"="+given)
		}
	}
	return env
}

// submit runs tasks as an array of Slurm jobs and waits for its end. The jobs go on if this process is killed. It
// returns an error if sbatch accepts no jobs or ctx ends, but none for jobs that fail.
func (p *Project) submit(ctx context.Context, o Options, stale []ToolTask) error {
	var lines strings.Builder
	for _, t := range stale {
		fmt.Fprintln(&lines, strings.Join(t.arguments(), " "))
	}
	if err := outputdir.WriteFileAtomically(p.path(folder+"/tasks.txt"), []byte(lines.String())); err != nil {
		return err
	}
	cmd := templates.NewKillableCommand(ctx, p.Dir, []string{"sbatch", "--wait", fmt.Sprintf("--array=0-%d",
		len(stale)-1),
		folder + "/slurm.sh"})
	cmd.Env = o.environment()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(2 * time.Second); ; {
		select {
		case err := <-ended:
			tick.Stop()
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil && !bytes.Contains(said.Bytes(), []byte("Submitted batch job")):
				return fmt.Errorf("sbatch: %w: %s", err, bytes.TrimSpace(said.Bytes()))
			}
			return nil
		case <-tick.C:
			n := 0
			for _, t := range stale {
				if p.current(t) {
					n++
				}
			}
			o.Step("synthesising on the cluster", n, len(stale))
		}
	}
}

// ReportFailedTask reports in d that a task has failed, with the name of its log and the log's last lines.
func (p *Project) ReportFailedTask(t ToolTask, d *diag.List) {
	tool, log, said := p.logOf(t)
	msg := fmt.Sprintf("%s: %s has failed", t.Name, tool)
	if !said {
		msg = t.Name + " was ended before it was done"
	}
	if len(p.Flows) > 1 {
		msg = fmt.Sprintf("%s of %s", msg, t.Flow)
	}
	d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.SynthesisFailed, Where: log, Msg: msg,
		Hint:  "the log says why; the same command goes on from there, and does what is done not again",
		Notes: telling(p.path(log))})
}

// Limits for showing a log.
const (
	lastBytes  = 256 << 10 // bytes that are searched
	lastLines  = 3         // lines that are shown
	lineLength = 200       // bytes of a line that are shown
)

// telling returns the last lines of a log file that state an error or, if there are none, its last lines. It returns
// nil for an unreadable file.
func telling(name string) []string {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	} else if info.Size() > lastBytes {
		if _, err := f.Seek(-lastBytes, io.SeekEnd); err != nil {
			return nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, lastBytes))
	if err != nil {
		return nil
	}
	var lines, errs []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(strings.ToValidUTF8(line, "?")); line == "" {
			continue
		}
		if r := []rune(line); len(r) > lineLength {
			line = string(r[:lineLength]) + "..."
		}
		lines = append(lines, line)
		if strings.HasPrefix(line, "ERROR") || strings.HasPrefix(line, "FATAL") {
			errs = append(errs, line)
		}
	}
	if len(errs) > 0 {
		lines = errs
	}
	return lines[max(0, len(lines)-lastLines):]
}
