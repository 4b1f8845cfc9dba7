package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hlsgen/boards"
	"hlsgen/internal/diag"
	"hlsgen/internal/requests"
	"hlsgen/internal/safefile"
	"hlsgen/internal/source"
)

// A rebuilder builds the design of a folder again with other options, for the page that --serve shows.
type rebuilder struct {
	*server
	given map[string]any // the options of the folder's build

	mu    sync.Mutex
	shown string // folder of the last rebuilt design; empty for the one that is served
}

// callBuild is the call that a page may make: a command.
const callBuild = "build"

// changeable lists the options that a page may change. None of them names a file.
var changeable = []string{"backend", "board", "clock", "cost", "fifo", "fps", "interval", "io", "latency", "least",
	"max-latency", "max-unroll", "max-use", "over-budget"}

// goals lists the options that say how fast a design is to be. Where one is given, or a folding, the folder's do not
// hold.
var goals = []string{"fps", "interval", "latency", "max-latency"}

// withFiles lists options whose files are not in the folder of a build.
var withFiles = []string{"calibrate", "cell-config", "latencies", "lstm-config"}

// inFolder is the part of a folder's manifest that says how to build its design again.
type inFolder struct {
	Model   string            `json:"model"`
	SHA256  string            `json:"model_sha256"`
	Board   string            `json:"board"`
	Clock   float64           `json:"clock_mhz"`
	Options map[string]string `json:"options"`
}

// mostManifest is the largest manifest of a build that is read, in bytes.
const mostManifest = 64 << 20

// rebuilderOf returns what builds the design of a folder again, in a scratch folder. model is the path of the model's
// file; if it is empty, the model is the folder's, or the embedded example. It returns nil after adding an error to d.
func rebuilderOf(w world, scratch, dir, shown, model string, d *diag.List) (*rebuilder, error) {
	var was inFolder
	text, err := safefile.ReadRegularFile(filepath.Join(dir, "manifest.json"), mostManifest)
	if err == nil {
		err = safefile.SimplifyJSONError(json.Unmarshal(text, &was))
	}
	if err != nil {
		d.AddError(diag.FileUnreadable, shown, "manifest.json: "+err.Error(), "give a folder that hlsgen build wrote")
		return nil, nil
	}
	for _, name := range withFiles {
		if was.Options[name] != "" {
			d.AddError(diag.FileUnreadable, shown, fmt.Sprintf("it was built with --%s, and its file is not in the "+
				"folder: without it another design would come out", name),
				fmt.Sprintf("download folding.json from the page, and give that to hlsgen build beside the file: "+
					"--%s FILE --folding folding.json", name))
			return nil, nil
		}
	}
	src := modelOf(dir, model, was.SHA256, d)
	if src == nil {
		return nil, nil
	}
	b := &rebuilder{server: &server{world: w, dir: scratch, calls: []string{callBuild},
		models: map[int64]*servedModel{}}, given: givenOptions(&was)}
	if src.Example {
		b.models[0] = newServedModel("")
		return b, nil
	}
	name := filepath.Base(was.Model)
	if !isFileName(name) {
		name = "model.onnx"
	}
	path := b.place(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	b.models[0] = newServedModel(path)
	return b, os.WriteFile(path, src.ONNX, 0o600)
}

// modelOf returns the model of a folder's build. It returns nil after adding an error to d if there is none, or another
// one than the build's, which has the hash.
func modelOf(dir, path, hash string, d *diag.List) *source.ModelSource {
	if path == "" {
		if src := source.ReadModelFile("", d); src.SHA256() == hash {
			return src
		}
		path = filepath.Join(dir, "model.onnx")
		if _, err := os.Stat(path); err != nil {
			d.AddError(diag.FileUnreadable, "model.onnx", "the folder does not have its model",
				"give the model that was built: --built-from FILE; or build with --with-model")
			return nil
		}
	}
	src := source.ReadModelFile(path, d)
	if src != nil && src.SHA256() != hash {
		d.AddError(diag.FileUnreadable, filepath.Base(path), "it is another model than the one that was built",
			"give that one: --built-from FILE")
		return nil
	}
	return src
}

// repeated finds where the text of a flag that may be given several times goes from one value to the next.
var repeated = regexp.MustCompile(`,([^,=]+=)`)

// givenOptions returns the options of a folder's build, as a request has them.
func givenOptions(was *inFolder) map[string]any {
	all := map[string]any{"board": was.Board, "clock": json.Number(fmt.Sprint(was.Clock))}
	for name, text := range was.Options {
		switch name {
		case "folding": // its file is not in the folder
		case "dim", "shape", "initial-state", "state":
			var list []any
			for _, one := range strings.Split(repeated.ReplaceAllString(text, "\x00$1"), "\x00") {
				list = append(list, one)
			}
			all[name] = list
		default:
			all[name] = text
		}
	}
	return all
}

// Accept implements requests.Handler. It takes a single request, to build.
func (b *rebuilder) Accept(r *requests.Request) (requests.Job, error) {
	if r.Call != callBuild || r.Model != 0 || r.Folder != "" || len(r.Arguments)+len(r.Take) > 0 {
		return nil, &requests.Error{Message: "the request is none to build with other options",
			Hint: "give the call build, with options and at most the part folding"}
	}
	folding := len(r.Parts) == 1 && r.Parts[0].Option == "folding" && r.Parts[0].Name == ""
	if len(r.Parts) > 0 && !folding {
		return nil, &requests.Error{Message: "a part is no folding",
			Hint: "give at most one part, of the option folding"}
	}
	options := maps.Clone(b.given)
	anew := folding
	for name := range r.Options {
		if !slices.Contains(changeable, name) {
			return nil, &requests.Error{Message: fmt.Sprintf("the option %q is not for a page", name),
				Hint: "want " + strings.Join(changeable, ", ")}
		}
		anew = anew || slices.Contains(goals, name)
	}
	if name, ok := r.Options["board"].(string); ok && boards.IsBoardFilePath(name) {
		return nil, &requests.Error{Message: fmt.Sprintf("the board %q is a file", name),
			Hint: "give the name of a board, as hlsgen boards lists them"}
	}
	if _, ok := r.Options["board"]; ok && r.Options["clock"] == nil {
		delete(options, "clock") // each board has its own
	}
	if anew {
		for _, name := range goals {
			delete(options, name)
		}
	}
	maps.Copy(options, r.Options)
	maps.DeleteFunc(options, func(_ string, v any) bool { return v == nil })
	out := b.place("design")
	options["out"], options["no-csim"] = out, true
	r.Options = options
	made, err := b.server.Accept(r)
	if err != nil {
		return nil, err
	}
	return &rebuild{Job: made, of: b, out: out}, nil
}

// A rebuild is a job that builds a design again.
type rebuild struct {
	requests.Job
	of  *rebuilder
	out string
}

// Answer implements requests.Job. A design that is built is the one that is shown from then on.
func (j *rebuild) Answer(ctx context.Context, progress func(phase string, done, total int)) *requests.Answer {
	a := j.Job.Answer(ctx, progress)
	if a.Exit == exitOK {
		j.of.show(j.out)
	} else {
		os.RemoveAll(filepath.Dir(j.out))
	}
	return a
}

// show makes the design in a folder the one that is shown, and removes the one before. With an empty path it is the
// design that is served.
func (b *rebuilder) show(dir string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown != "" {
		os.RemoveAll(filepath.Dir(b.shown))
	}
	b.shown = dir
}

// showing returns the folder of the rebuilt design that is shown, or an empty path.
func (b *rebuilder) showing() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shown
}

// mostOrder is the largest line, and the largest part, of an order in bytes.
const mostOrder = 1 << 20

// order carries out the request in a body: a line of JSON and its part, as hlsgen serve takes them.
func (b *rebuilder) order(ctx context.Context, body io.Reader, answer io.Writer) error {
	s := &single{of: b, ctx: ctx, answered: make(chan struct{})}
	limits := requests.Limits{LineBytes: mostOrder, PartBytes: mostOrder}
	return requests.Serve(ctx, io.MultiReader(body, s), answer, version(), limits, s)
}

// A single takes one request. As a reader behind the request it ends when that is answered, so that the request is not
// cancelled before.
type single struct {
	of       *rebuilder
	ctx      context.Context
	taken    bool
	working  bool // the request is complete
	answered chan struct{}
}

// Accept implements requests.Handler.
func (s *single) Accept(r *requests.Request) (requests.Job, error) {
	if s.taken {
		return nil, &requests.Error{Message: "there is more than one request", Hint: "send one at a time"}
	}
	s.taken = true
	j, err := s.of.Accept(r)
	if err != nil {
		return nil, err
	}
	return &singleJob{j, s}, nil
}

// Read implements io.Reader.
func (s *single) Read([]byte) (int, error) {
	if s.working {
		select {
		case <-s.answered:
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	return 0, io.EOF
}

// A singleJob is the job of the only request.
type singleJob struct {
	requests.Job
	of *single
}

// Quick implements requests.Job. It is called when all parts were read.
func (j *singleJob) Quick() bool {
	j.of.working = true
	return false
}

// Close implements requests.Job.
func (j *singleJob) Close() {
	j.Job.Close()
	if j.of.working {
		close(j.of.answered)
	}
}
