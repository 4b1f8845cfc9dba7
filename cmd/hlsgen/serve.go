package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/onnxio"
	"hlsgen/internal/crash"
	"hlsgen/internal/diag"
	"hlsgen/internal/npy"
	"hlsgen/internal/outputdir"
	"hlsgen/internal/report"
	"hlsgen/internal/requests"
	"hlsgen/internal/simulate"
	"hlsgen/internal/source"
	"hlsgen/internal/suggest"
	"hlsgen/templates"
)

// serveCommand returns the command serve.
func serveCommand(a *app) *cobra.Command {
	var stdio bool
	cmd := a.list("serve --stdio", "Answer requests of other programs, such as the Python package",
		`Serve answers requests on standard input and output: a line of JSON each, with
arrays behind it. docs/requests.md describes them. A request is a command of
hlsgen with its options; models stay read between requests. The process ends
with its standard input, or with the process that started it.`, nil)
	cmd.Flags().BoolVar(&stdio, "stdio", false, "take requests on standard input, and answer on standard output")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		a.running = true
		if !stdio {
			return usagef("serve wants --stdio: requests come on standard input")
		}
		return serve(cmd.Context(), a)
	}
	return cmd
}

// scratchOfServer is the kind of the scratch folder of a server.
const scratchOfServer = "hlsgen-serve"

// serve answers requests until standard input or the parent process ends.
func serve(ctx context.Context, a *app) error {
	dir, release, err := outputdir.MakeScratchFolder(scratchOfServer)
	if err != nil {
		return err
	}
	defer release()
	if a.leave != nil {
		defer a.leave()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go stopWithParent(ctx, stop)
	s := &server{world: a.world, dir: dir, calls: callsOf(a.world),
		models: map[int64]*servedModel{0: newServedModel("")}}
	err = requests.Serve(ctx, untilDone(ctx, a.stdin), a.stdout, version(), requests.DefaultLimits, s)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// callsOf returns the names of calls in a world: those of the server, and of the commands that print JSON.
func callsOf(w world) []string {
	names := []string{callLoad, callUnload, callFrames, callLibrary, "cancel"}
	for _, c := range bareRoot(w).Commands() {
		if c.Flags().Lookup("json") != nil {
			names = append(names, c.Name())
		}
	}
	return names
}

// Accept implements requests.Handler.
func (s *server) Accept(r *requests.Request) (requests.Job, error) {
	s.mu.Lock()
	m := s.models[r.Model]
	s.mu.Unlock()
	if m == nil {
		return nil, &requests.Error{Message: fmt.Sprintf("there is no model %d", r.Model), Hint: "load it first"}
	}
	j := &job{server: s, request: r, model: m, dir: s.place()}
	if !slices.Contains(s.calls, r.Call) {
		return nil, &requests.Error{Message: fmt.Sprintf("there is no call %q%s", r.Call,
			suggest.DidYouMeanSuffix(r.Call, s.calls)), Hint: "want " + strings.Join(s.calls, ", ")}
	}
	for _, p := range r.Parts {
		if !isFileName(p.Option) || p.Name != "" && r.Call == callLoad && !isFileName(p.Name) {
			return nil, &requests.Error{Message: fmt.Sprintf("a part is called %q, %q", p.Option, p.Name),
				Hint: "give it the name of its option"}
		}
	}
	for _, name := range r.Take {
		if !isFileName(name) {
			return nil, &requests.Error{Message: fmt.Sprintf("a file to take is called %q", name),
				Hint: "give a name without a folder"}
		}
	}
	return j, os.Mkdir(j.dir, 0o700)
}

// isFileName reports whether a text names a file without its folder.
func isFileName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00")
}

// bareRoot returns the tree of commands in a world, for its names and flags.
func bareRoot(w world) *cobra.Command { return newApp(w, nil).root() }

// Part implements requests.Job.
func (j *job) Part(i int) (io.WriteCloser, error) {
	path := j.part(i)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Quick implements requests.Job: models have numbers in the order of requests.
func (j *job) Quick() bool { return j.request.Call == callLoad || j.request.Call == callUnload }

// Close implements requests.Job. The files of a request go with it, but for those of a model.
func (j *job) Close() {
	if j.dir != "" {
		os.RemoveAll(j.dir)
	}
}

// Answer implements requests.Job.
func (j *job) Answer(ctx context.Context, progress func(phase string, done, total int)) *requests.Answer {
	a, err := j.answer(ctx, progress)
	refused, internal := new(requests.Error), new(crash.InternalError)
	switch {
	case err == nil:
		return a
	case errors.As(err, &refused):
		return &requests.Answer{Exit: exitUsage, Error: refused.Message, Hint: refused.Hint}
	case errors.As(err, &internal):
		return &requests.Answer{Exit: exitInternal, Error: err.Error()}
	case ctx.Err() != nil:
		return &requests.Answer{Exit: exitInterrupted, Error: "interrupted"}
	}
	return &requests.Answer{Exit: exitDiagnostics, Error: err.Error()}
}

// answer computes the answer. A panic becomes a *crash.InternalError.
func (j *job) answer(ctx context.Context, progress func(string, int, int)) (a *requests.Answer, err error) {
	defer crash.RecoverPanicIntoError(&err)
	switch j.request.Call {
	case callLoad:
		return j.load()
	case callUnload:
		return j.unload()
	case callFrames:
		return j.frames(ctx)
	case callLibrary:
		return j.library(ctx)
	}
	return j.command(ctx, progress)
}

// A loadedModel is the result of a load.
type loadedModel struct {
	Model  int64  `json:"model"` // its number
	Name   string `json:"name"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	// the names of the model's inputs and outputs
	Inputs  []string `json:"inputs"`
	Outputs []string `json:"outputs"`
}

// load reads a model from the part of the request, or from the file that the argument names. The server keeps a copy,
// tensors in other files included.
func (j *job) load() (*requests.Answer, error) {
	r := j.request
	if (len(r.Arguments) == 1) == (len(r.Parts) == 1) || len(r.Arguments)+len(r.Parts) > 1 {
		return nil, &requests.Error{Message: "load wants one model", Hint: "give a path, or the bytes as a part"}
	}
	if err := j.understands(); err != nil {
		return nil, err
	}
	path := ""
	if len(r.Parts) == 1 {
		path = j.part(0)
	} else {
		path = under(j.folder(), r.Arguments[0])
	}
	var d diag.List
	src := source.ReadModelFile(path, &d)
	var g *graph.Graph
	if src != nil {
		g = onnxio.ParseGraph(src.File, src.ONNX, &d)
	}
	if g == nil {
		return answerOf(exitDiagnostics, failure{report.CurrentReportHead, outcomeOf(&d, nil)})
	}
	kept := filepath.Join(j.dir, src.File)
	if err := os.WriteFile(kept, src.ONNX, 0o600); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.loaded++
	loaded := loadedModel{j.loaded, src.Name, src.File, src.SHA256(), []string{}, []string{}}
	for _, v := range g.Inputs {
		loaded.Inputs = append(loaded.Inputs, v.Name)
	}
	for _, v := range g.Outputs {
		loaded.Outputs = append(loaded.Outputs, v.Name)
	}
	j.models[j.loaded], j.dir = newServedModel(kept), "" // the folder is the model's now
	return answerOf(exitOK, loaded)
}

// understands returns an error if an option of the request is none of simulate, or has a value that it does not take.
func (j *job) understands() error {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(j.request.Options)) {
		texts, err := textsOf(name, j.request.Options[name])
		if err != nil {
			return err
		}
		words = append(words, texts...)
	}
	cmd, _, err := bareRoot(world{env: j.env, dir: j.folder()}).Find([]string{"simulate"})
	if err == nil {
		err = cmd.ParseFlags(words)
	}
	if err != nil {
		return &requests.Error{Message: flagError(cmd, err).Error(), Hint: "hlsgen simulate --help has the options"}
	}
	return nil
}

// frames runs the layers of a model on the frames of the parts, one for each stream. Without parts it checks options
// alone.
func (j *job) frames(ctx context.Context) (*requests.Answer, error) {
	var rows []*npy.Array
	for i := range j.request.Parts {
		arrays, err := npy.ReadArrays(j.part(i))
		if err != nil || arrays[""] == nil {
			return nil, &requests.Error{Message: fmt.Sprintf("stream %d is no array: %v", i, err), Hint: "give .npy"}
		}
		rows = append(rows, arrays[""])
	}
	o := simulate.Options{}
	if err := j.modelOptions(&o); err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return answerOf(exitOK, struct{}{})
	}
	var d diag.List
	out, err := simulate.RunFrames(ctx, o, rows, &d)
	if unfit := new(simulate.UnfitFramesError); errors.As(err, &unfit) {
		return nil, &requests.Error{Message: unfit.Reason, Hint: "send what the design's host.json says"}
	}
	if internal := new(crash.InternalError); ctx.Err() != nil || errors.As(err, &internal) {
		return nil, cmp.Or(err, ctx.Err())
	}
	if err != nil || out == nil {
		return answerOf(exitDiagnostics, failure{report.CurrentReportHead, outcomeOf(&d, err)})
	}
	a, err := answerOf(exitOK, struct{}{})
	for i, x := range out {
		b, e := npy.EncodeNPY(x)
		err = errors.Join(err, e)
		a.Parts = append(a.Parts, requests.Part{Option: callFrames, Name: fmt.Sprint(i), Bytes: int64(len(b))})
		a.Bodies = append(a.Bodies, bytes.NewReader(b))
	}
	return a, err
}

// library compiles the C++ in the folder of a build to a library, which a driver can use as a device, and returns its
// path. make makes again only what is older than its sources.
func (j *job) library(ctx context.Context) (*requests.Answer, error) {
	if len(j.request.Arguments) != 1 {
		return nil, &requests.Error{Message: "library wants the folder of a build", Hint: "give its path"}
	}
	folder := filepath.Join(under(j.folder(), j.request.Arguments[0]), "hls")
	if _, err := os.Stat(filepath.Join(folder, "Makefile")); err != nil {
		return &requests.Answer{Exit: exitDiagnostics, Error: j.request.Arguments[0] + " has no C++",
			Hint: "build it with --backend hls or both"}, nil
	}
	maker := templates.NewKillableCommand(ctx, folder, []string{"make", "-s", "BUILD=build", "lib"})
	said, err := maker.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return &requests.Answer{Exit: exitDiagnostics, Error: "the C++ cannot be compiled: " + err.Error(),
			Hint: "install make and g++"}, nil
	case err != nil:
		return nil, fmt.Errorf("make -C %s lib: %w\n%s", folder, err, said[max(0, len(said)-2000):])
	}
	made, err := fs.Glob(os.DirFS(folder), "build/lib*.so")
	if err != nil || len(made) != 1 {
		return nil, fmt.Errorf("make -C %s lib has made %v, want one library", folder, made)
	}
	return answerOf(exitOK, struct {
		Library string `json:"library"`
	}{filepath.Join(folder, filepath.FromSlash(made[0]))})
}

// modelOptions sets the options of the model of the request, those of simulate.
func (j *job) modelOptions(o *simulate.Options) error {
	text, err := json.Marshal(j.request.Options)
	if err != nil {
		return err
	}
	var stdout bytes.Buffer
	args := []string{"simulate", "--json"}
	for _, name := range slices.Sorted(maps.Keys(j.request.Options)) {
		texts, err := textsOf(name, j.request.Options[name])
		if err != nil {
			return err
		}
		args = append(args, texts...)
	}
	if j.model.path != "" {
		args = append(args, "--input=-", "--", j.model.path)
	}
	taken := false
	w := world{env: j.env, plain: true, dir: j.folder(), stdout: &stdout, stderr: io.Discard}
	w.options = func(found simulate.Options) { *o, taken = found, true }
	const help = "hlsgen simulate --help has the options"
	if run(context.Background(), args, w); !taken {
		var said failure
		if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
			return err
		}
		return &requests.Error{Message: said.Error, Hint: help}
	}
	if err := simulate.CheckRunsFrames(o.Engine); err != nil {
		return &requests.Error{Message: err.Error(), Hint: help}
	}
	o.Warm = j.model.warmed("frames" + string(text))
	return nil
}

// unload forgets a model.
func (j *job) unload() (*requests.Answer, error) {
	if j.model.path == "" {
		return nil, &requests.Error{Message: "the example stays loaded", Hint: "give the number of a model"}
	}
	j.mu.Lock()
	delete(j.models, j.request.Model)
	j.mu.Unlock()
	if err := os.RemoveAll(filepath.Dir(j.model.path)); err != nil {
		return nil, err
	}
	return answerOf(exitOK, struct{}{})
}

// answerOf returns an answer with a result.
func answerOf(exit int, result any) (*requests.Answer, error) {
	text, err := json.Marshal(result)
	return &requests.Answer{Exit: exit, Result: text}, err
}
