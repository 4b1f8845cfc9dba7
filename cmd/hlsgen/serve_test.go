package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/npy"
	"hlsgen/internal/requests"
)

// A served is an answer as a client reads it.
type served struct {
	requests.Answer
	bodies   [][]byte
	progress []requests.Progress
}

// A client talks to a server in this process.
type client struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
	last int64
	done chan int
}

// serving starts a server in a folder.
func serving(t *testing.T, dir string) *client {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	c := &client{t: t, to: to, from: bufio.NewReader(from), done: make(chan int, 1)}
	go func() {
		code := run(context.Background(), []string{"serve", "--stdio"}, world{env: noEnv, dir: dir, stdin: in,
			stdout: out,
			stderr: io.Discard})
		out.Close()
		c.done <- code
	}()
	var hello requests.Hello
	c.read(&hello)
	if hello.Server != version() || hello.Version != requests.Version || hello.Limits != requests.DefaultLimits {
		t.Errorf("the first line is %+v", hello)
	}
	t.Cleanup(func() {
		to.Close()
		if code := <-c.done; code != exitOK {
			t.Errorf("the server ends with code %d", code)
		}
	})
	return c
}

// read reads a line.
func (c *client) read(to any) {
	c.t.Helper()
	line, err := c.from.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, to)
	}
	if err != nil {
		c.t.Fatalf("%v: %s", err, line)
	}
}

// send sends a request, and the bytes behind it.
func (c *client) send(r requests.Request, bodies ...[]byte) int64 {
	c.t.Helper()
	c.last++
	r.ID = c.last
	for i, b := range bodies {
		r.Parts[i].Bytes = int64(len(b))
	}
	line, err := json.Marshal(r)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, b := range append([][]byte{append(line, '\n')}, bodies...) {
		if _, err := c.to.Write(b); err != nil {
			c.t.Fatal(err)
		}
	}
	return r.ID
}

// receive reads the next answer, with the progress in front of it.
func (c *client) receive() (got served) {
	c.t.Helper()
	for {
		var line json.RawMessage
		c.read(&line)
		var p requests.Progress
		if err := errors.Join(json.Unmarshal(line, &p), json.Unmarshal(line, &got.Answer)); err != nil {
			c.t.Fatal(err)
		}
		if p.Phase != "" {
			got.progress = append(got.progress, p)
			continue
		}
		for _, p := range got.Parts {
			b := make([]byte, p.Bytes)
			if _, err := io.ReadFull(c.from, b); err != nil {
				c.t.Fatal(err)
			}
			got.bodies = append(got.bodies, b)
		}
		return got
	}
}

// ask sends a request and returns its answer.
func (c *client) ask(r requests.Request, bodies ...[]byte) served {
	c.t.Helper()
	id := c.send(r, bodies...)
	got := c.receive()
	if got.ID != id {
		c.t.Fatalf("answer %d to request %d", got.ID, id)
	}
	return got
}

// TestServe compares answers with what command lines give: the JSON, the outputs, the files.
func TestServe(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	x := contents(t, filepath.Join(dir, irisInputs))
	loaded := c.ask(requests.Request{Call: "load", Arguments: []string{iris}})
	if want := `{"model":1,"name":"model","file":"model.onnx",`; !strings.HasPrefix(string(loaded.Result), want) {
		t.Fatalf("%s, %s", loaded.Result, loaded.Error)
	}
	same := func(got served, line ...string) {
		t.Helper()
		want := say(dir, nil, append(line, "--json")...)
		var text bytes.Buffer
		if err := json.Compact(&text, []byte(want.stdout)); err != nil || text.String() != string(got.Result) ||
			got.Exit != want.code {
			t.Errorf("%v: exit code %d, %.2000s %s\nwant %d, %.2000s", line, got.Exit, got.Result, got.Error, want.code,
				text.String())
		}
	}
	same(c.ask(requests.Request{Call: "check", Model: 1}), "check", iris)
	same(c.ask(requests.Request{Call: "check", Model: 1, Options: map[string]any{"acc-bits": "3"}}), "check", iris,
		"--acc-bits", "3")
	same(c.ask(requests.Request{Call: "check"}), "check")
	same(c.ask(requests.Request{Call: "boards"}), "boards")
	same(c.ask(requests.Request{Call: "build", Model: 1, Options: map[string]any{"bord": "zcu104"}}), "build", iris,
		"--bord", "zcu104")
	same(c.ask(requests.Request{Call: "build", Model: 1, Options: map[string]any{"board": "nothing", "fps": 10}}),
		"build",
		iris, "--board", "nothing", "--fps", "10")
	for range 2 { // read, and kept
		got := c.ask(requests.Request{Call: "simulate", Model: 1, Progress: true, Take: map[string]string{"output": "y",
			"trace": "t.npz"}, Parts: []requests.Part{{Option: "input"}}}, x)
		same(got, "simulate", iris, "--input", irisInputs, "--output", "y.npy", "--trace", "t.npz")
		if len(got.bodies) != 2 || len(got.progress) == 0 || got.Parts[0].Name != "31" {
			t.Fatalf("%+v, %+v", got.Parts, got.progress)
		}
		for i, file := range []string{"y.npy", "t.npz"} {
			if !bytes.Equal(got.bodies[i], contents(t, filepath.Join(dir, file))) {
				t.Errorf("%s has other bytes", file)
			}
		}
	}
	got := c.ask(requests.Request{Call: "simulate", Model: 1, Options: map[string]any{"engine": "eval"},
		Take: map[string]string{"output": "y"}, Parts: []requests.Part{{Option: "input"}}}, x)
	same(got, "simulate", iris, "--input", irisInputs, "--engine", "eval")
	if c.ask(requests.Request{Call: "unload", Model: 1}).Exit != exitOK {
		t.Error("the model stays")
	}
	if got := c.ask(requests.Request{Call: "check", Model: 1}); got.Error != "there is no model 1" {
		t.Errorf("%+v", got)
	}
}

// TestServedModels loads models from bytes, gives arrays by name, and changes a file under a loaded model.
func TestServedModels(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	model := contents(t, filepath.Join(dir, iris))
	path := filepath.Join(dir, "net.onnx")
	if err := os.WriteFile(path, model, 0o666); err != nil {
		t.Fatal(err)
	}
	c.ask(requests.Request{Call: "load", Arguments: []string{"net.onnx"}, Folder: dir})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.ask(requests.Request{Call: "load", Parts: []requests.Part{{Option: "model", Name: "net.onnx"}}}, model)
	x := contents(t, filepath.Join(dir, irisInputs))
	first := say(dir, nil, "simulate", iris, "--input", irisInputs, "--output", "y.npy")
	if first.code != exitOK {
		t.Fatal(first)
	}
	want := contents(t, filepath.Join(dir, "y.npy"))
	for _, r := range []requests.Request{{Model: 1, Parts: []requests.Part{{Option: "input"}}},
		{Model: 2, Parts: []requests.Part{{Option: "input", Name: "inp.1"}}}} {
		r.Call, r.Take = "simulate", map[string]string{"output": "y"}
		got := c.ask(r, x)
		if len(got.bodies) != 1 || !bytes.Equal(got.bodies[0], want) {
			t.Errorf("%d: %s %s", r.Model, got.Result, got.Error)
		}
	}
	made := c.ask(requests.Request{Call: "convert", Model: 2, Options: map[string]any{"to": "qcdq"},
		Take: map[string]string{"out": "qcdq.onnx"}})
	if say(dir, nil, "convert", iris, "--to", "qcdq", "--out", "q.onnx").code != exitOK || len(made.bodies) != 1 ||
		!bytes.Equal(made.bodies[0], contents(t, filepath.Join(dir, "q.onnx"))) {
		t.Errorf("%s %s", made.Result, made.Error)
	}
}

// TestServedFrames runs the layers on the codes that a driver would send, and compares what comes with a trace.
func TestServedFrames(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	c.ask(requests.Request{Call: "load", Arguments: []string{iris}})
	if got := say(dir, nil, "simulate", iris, "--input", irisInputs, "--trace", "t.npz"); got.code != exitOK {
		t.Fatal(got)
	}
	traced, err := npy.ReadArrays(filepath.Join(dir, "t.npz"))
	if err != nil {
		t.Fatal(err)
	}
	codes := traced["/features/features.0/act_quant/export_handler/Quant_output_0#integers"]
	codes.Shape = []int{codes.Shape[0], len(codes.Data) / codes.Shape[0]}
	rows, err := npy.EncodeNPY(codes)
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for name, a := range traced {
		if strings.HasSuffix(name, "product#integers") {
			want = a.Data
		}
	}
	for _, engine := range []string{"fast", "eval", "cycle"} {
		got := c.ask(requests.Request{Call: "frames", Model: 1, Options: map[string]any{"engine": engine},
			Parts: []requests.Part{{Option: "frames"}}}, rows)
		if len(got.bodies) != 1 {
			t.Fatalf("%s %s", got.Result, got.Error)
		}
		if a, err := npy.ParseNPY(got.bodies[0]); err != nil || len(want) == 0 || !slices.Equal(a.Data, want) {
			t.Errorf("engine %s gives other codes: %v", engine, err)
		}
	}
	for engine, wrong := range map[string]string{"fast": "", "fst": "did you mean fast?", "reference": "as written"} {
		got := c.ask(requests.Request{Call: "frames", Model: 1, Options: map[string]any{"engine": engine}})
		if (got.Exit == exitOK) != (wrong == "") || !strings.Contains(got.Error, wrong) {
			t.Errorf("engine %s without frames: %+v", engine, got.Answer)
		}
	}
	if got := c.ask(requests.Request{Call: "frames", Model: 1, Parts: []requests.Part{{Option: "frames"}}},
		contents(t, filepath.Join(dir, irisInputs))); got.Exit != exitUsage || got.Error == "" {
		t.Errorf("real numbers are frames: %+v", got.Answer)
	}
}

// TestServeRefuses sends requests that are refused: each says why, and the next one is answered.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	part := []requests.Part{{Option: "input"}}
	for _, x := range []struct {
		r     requests.Request
		wrong string
	}{
		{requests.Request{Call: "chek"}, `there is no call "chek", did you mean check?`},
		{requests.Request{Call: "serve"}, `there is no call "serve"`},
		{requests.Request{Call: "check", Model: 7}, "there is no model 7"},
		{requests.Request{Call: "check", Options: map[string]any{"json": true}},
			`the option "json" is not for requests`},
		{requests.Request{Call: "check", Options: map[string]any{"dim": map[string]any{"T": 3}}},
			`the option "dim" is no text`},
		{requests.Request{Call: "simulate", Parts: []requests.Part{{Option: "../x"}}}, `a part is called "../x"`},
		{requests.Request{Call: "simulate", Take: map[string]string{"trace": "a/b"}}, `a file to take is called "a/b"`},
		{requests.Request{Call: "load"}, "load wants one model"},
		{requests.Request{Call: "library"}, "library wants the folder of a build"},
		{requests.Request{Call: "library", Arguments: []string{"."}}, ". has no C++"},
		{requests.Request{Call: "load", Arguments: []string{iris}, Options: map[string]any{"input-tipe": "UINT8"}},
			"unknown flag: --input-tipe, did you mean --input-type?"},
		{requests.Request{Call: "unload"}, "the example stays loaded"},
		{requests.Request{Call: "check", Parts: part}, ""},
	} {
		var bodies [][]byte
		if len(x.r.Parts) > 0 {
			bodies = [][]byte{[]byte("some bytes\nand a line\n")}
		}
		got := c.ask(x.r, bodies...)
		if got.Exit == exitOK || !strings.HasPrefix(got.Error, x.wrong) {
			t.Errorf("%+v: %d, %q, %s", x.r, got.Exit, got.Error, got.Result)
		}
	}
	if got := c.ask(requests.Request{Call: "load", Parts: []requests.Part{{Option: "model", Name: "x.onnx"}}},
		[]byte("nothing")); got.Exit != exitDiagnostics || !strings.Contains(string(got.Result), "model-malformed") {
		t.Errorf("%s", got.Result)
	}
	fmt.Fprintf(c.to, "{\"id\":99,\"call\":\"check\",\"colour\":1}\n")
	if got := c.receive(); got.Exit != exitUsage || !strings.Contains(got.Error, `unknown field "colour"`) {
		t.Errorf("%+v", got.Answer)
	}
}

// TestServeDefect panics in a command, and in a job beside the commands: answers have the code of a defect. The first
// answer is the one of the stand-in of python/tests.
func TestServeDefect(t *testing.T) {
	t.Parallel()
	s := &server{world: world{env: noEnv, dir: t.TempDir()}}
	defect := func(string, int, int) { panic("index 3") }
	command := &job{server: s, request: &requests.Request{Call: "simulate"}, model: newServedModel(""),
		dir: t.TempDir()}
	if a := command.Answer(t.Context(), defect); a.Exit != exitInternal ||
		string(a.Result) != `{"version":2,"diagnostics":[],"error":"internal error: index 3"}` {
		t.Errorf("%d, %s", a.Exit, a.Result)
	}
	beside := &job{server: s, request: &requests.Request{Call: callFrames}} // without a model
	if a := beside.Answer(t.Context(), defect); a.Exit != exitInternal ||
		!strings.HasPrefix(a.Error, "internal error: ") {
		t.Errorf("%d, %s", a.Exit, a.Error)
	}
}

// TestServeTwo answers a request while another one is at work, which is then cancelled.
func TestServeTwo(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	long := c.send(requests.Request{Call: "build", Progress: true, Options: map[string]any{"board": "zcu104",
		"search-time": "10m", "no-csim": true, "out": "long"}})
	for { // until it is at work
		var p requests.Progress
		if c.read(&p); p.ID == long && p.Phase == folds {
			break
		}
	}
	short := c.send(requests.Request{Call: "boards"})
	if got := c.receive(); got.ID != short || got.Exit != exitOK {
		t.Fatalf("%d: %+v", short, got.Answer)
	}
	if got := c.ask(requests.Request{Call: "load", Arguments: []string{iris}}); got.Exit != exitOK {
		t.Errorf("%+v", got.Answer)
	}
	cancel := c.send(requests.Request{Call: "cancel", Of: long})
	ends := map[int64]int{}
	for range 2 {
		got := c.receive()
		ends[got.ID] = got.Exit
	}
	if ends[cancel] != exitOK || ends[long] != exitInterrupted {
		t.Errorf("%v", ends)
	}
	if _, err := os.Stat(filepath.Join(dir, "long")); err == nil {
		t.Error("a cancelled build leaves a folder")
	}
}

// TestServeTogether runs a model from several clients' threads at once, whose answers come in any order.
func TestServeTogether(t *testing.T) {
	t.Parallel()
	dir := filesIn(t, nil)
	c := serving(t, dir)
	c.ask(requests.Request{Call: "load", Arguments: []string{iris}})
	x := contents(t, filepath.Join(dir, irisInputs))
	say(dir, nil, "simulate", iris, "--input", irisInputs, "--output", "y.npy")
	want := contents(t, filepath.Join(dir, "y.npy"))
	const several = 12
	var sent sync.WaitGroup
	sent.Go(func() {
		for k := range several {
			c.send(requests.Request{Call: "simulate", Model: 1, Options: map[string]any{"engine": []string{"fast",
				"eval", "reference"}[k%3]}, Take: map[string]string{"output": "y"},
				Parts: []requests.Part{{Option: "input"}}}, x)
		}
	})
	seen := map[int64]bool{}
	for range several {
		got := c.receive()
		if seen[got.ID] = true; len(got.bodies) != 1 || !bytes.Equal(got.bodies[0], want) {
			t.Errorf("%d: %s %s", got.ID, got.Result, got.Error)
		}
	}
	sent.Wait()
	if len(seen) != several {
		t.Errorf("answers to %d requests", len(seen))
	}
}

// contents returns the bytes of a file.
func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
