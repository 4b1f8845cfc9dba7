package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/requests"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/tier"
	pagetemplate "hlsgen/templates/report"
)

// A pageReader reads a page that hlsgen report --serve shows, in this process.
type pageReader struct {
	t       *testing.T
	address string
	stop    func() // as Ctrl-C does
	code    chan int
}

// servesPage starts hlsgen report --serve in a folder with arguments.
func servesPage(t *testing.T, dir string, args ...string) *pageReader {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	from, to := io.Pipe()
	p := &pageReader{t: t, stop: stop, code: make(chan int, 1)}
	go func() {
		p.code <- run(ctx, append([]string{"report", "--serve"}, args...), world{env: noEnv, environ: pairs(nil),
			dir: dir, stdout: to, stderr: to})
		to.Close()
	}()
	t.Cleanup(stop)
	shown := bufio.NewScanner(from)
	all := ""
	for p.address == "" && shown.Scan() {
		all += shown.Text() + "\n"
		p.address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\w{20,}/`).FindString(shown.Text())
	}
	go io.Copy(io.Discard, from)
	if p.address == "" {
		t.Fatalf("no address: %s", all)
	}
	return p
}

// get returns the status and the content of a path.
func (p *pageReader) get(path string) (int, string) {
	p.t.Helper()
	r, err := http.Get(p.address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// orders sends a request to rebuild with the bytes behind its line. It returns the answer, and the number of lines
// about its progress.
func (p *pageReader) orders(line, behind string) (a requests.Answer, progress int) {
	p.t.Helper()
	r, err := http.Post(p.address+"rebuild", "application/x-ndjson", strings.NewReader(line+"\n"+behind))
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		p.t.Fatal(r.Status)
	}
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var x struct {
			requests.Answer
			Phase  string `json:"phase"`
			Server string `json:"hlsgen"`
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			p.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		switch {
		case x.Phase != "":
			progress++
		case x.Server == "":
			a = x.Answer
		}
	}
	return a, progress
}

// figuresOf returns the layers, the cost and the clocks in the JSON of a build.
func figuresOf(t *testing.T, text []byte) (f struct {
	Board    string  `json:"board"`
	Interval float64 `json:"interval_clocks"`
	Latency  int     `json:"latency_clocks"`
	Layers   any     `json:"layers"`
	FIFOs    any     `json:"fifo_cost"`
	Cost     any     `json:"cost"`
	Files    []struct {
		Code string `json:"code"`
	} `json:"diagnostics"`
}) {
	t.Helper()
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	return f
}

// TestReportServe has the page of a served build ask for other designs. They are those that build makes with the same
// options. What a page may not ask for is refused, and the folder stays as it is.
func TestReportServe(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	build := func(args string) said {
		return say(dir, nil, strings.Fields("build "+iris+" --no-csim "+args)...)
	}
	if got := build("--board pynq-z1 --with-model --interval 32 --max-use 0.8 --out built"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	before := hashOf(t, filepath.Join(dir, "built"))
	p := servesPage(t, dir, "built")
	if status, text := p.get(""); status != http.StatusOK || !strings.Contains(text, "on pynq-z1</title>") {
		t.Errorf("%d: %.300s", status, text)
	}
	if status, _ := p.get("compare"); status != http.StatusNotFound {
		t.Errorf("%d for a comparison with nothing", status)
	}
	folding := read(t, dir, "built/folding.json")
	for _, c := range []struct{ name, options, folding, same string }{
		{"another rate", `{"interval":8}`, "", "--board pynq-z1 --max-use 0.8 --interval 8"},
		{"the fastest that fits", `{"fps":null}`, "", "--board pynq-z1 --max-use 0.8"},
		{"another board and back end", `{"board":"zcu104","backend":"rtl"}`, "",
			"--board zcu104 --backend rtl --max-use 0.8 --interval 32"},
		{"a folding", `{}`, folding, "--board pynq-z1 --max-use 0.8 --folding built/folding.json"},
		{"another budget", `{"max-use":"0.5","least":"dsp"}`, "",
			"--board pynq-z1 --max-use 0.5 --least dsp --interval 32"},
	} {
		parts := ""
		if c.folding != "" {
			parts = fmt.Sprintf(`,"parts":[{"option":"folding","bytes":%d}]`, len(c.folding))
		}
		got, progress := p.orders(`{"id":5,"call":"build","progress":true,"options":`+c.options+parts+`}`, c.folding)
		want := build(c.same + " --json --force --out want")
		if got.Exit != exitOK || got.ID != 5 || progress == 0 || want.code != exitOK {
			t.Errorf("%s: %+v after %d lines, %+v", c.name, got, progress, want)
			continue
		}
		if a, b := figuresOf(t, got.Result), figuresOf(t, []byte(want.stdout)); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %+v, build makes %+v", c.name, a, b)
		}
		if status, data := p.get("data.json"); status != http.StatusOK ||
			!samePage(t, data, read(t, dir, "want/report/page.json")) {
			t.Errorf("%s: %d, other data of the page than build's", c.name, status)
		}
	}
	if status, text := p.get("compare"); status != http.StatusOK || !strings.Contains(text, "What differs") {
		t.Errorf("%d: %.300s", status, text)
	}
	shown := func() string { _, data := p.get("data.json"); return data }
	last := shown()
	for _, c := range []struct {
		line, behind string
		exit         int
		want         string
	}{
		{`{"id":1,"call":"build","options":{"fps":1e12}}`, "", exitDiagnostics, "fps-unreachable"},
		{`{"id":1,"call":"build","options":{"board":"none"}}`, "", exitDiagnostics, "board-unknown"},
		{`{"id":1,"call":"build","options":{"max-use":"x"}}`, "", exitUsage, "max-use"},
		{`{"id":1,"call":"build","options":{"board":"./b.json"}}`, "", exitUsage, "is a file"},
		{`{"id":1,"call":"build","options":{"out":"/tmp/x"}}`, "", exitUsage, "not for a page"},
		{`{"id":1,"call":"build","options":{"folding":"/etc/passwd"}}`, "", exitUsage, "not for a page"},
		{`{"id":1,"call":"build","options":{"calibrate":"/etc/passwd"}}`, "", exitUsage, "not for a page"},
		{`{"id":1,"call":"simulate"}`, "", exitUsage, "none to build"},
		{`{"id":1,"call":"build","model":1}`, "", exitUsage, "none to build"},
		{`{"id":1,"call":"build","folder":"/"}`, "", exitUsage, "none to build"},
		{`{"id":1,"call":"build","arguments":["/etc/passwd"]}`, "", exitUsage, "none to build"},
		{`{"id":1,"call":"build","take":{"out":"x"}}`, "", exitUsage, "none to build"},
		{`{"id":1,"call":"build","parts":[{"option":"data","bytes":1}]}`, "x", exitUsage, "no folding"},
		{`{"id":1,"call":"build","parts":[{"option":"folding","bytes":1}]}`, "{", exitDiagnostics, "folding-invalid"},
		{`{"id":1,"call":"build","options":{},"more":1}`, "", exitUsage, "no request"},
		{`build`, "", exitUsage, "no request"},
	} {
		got, _ := p.orders(c.line, c.behind)
		if text := string(got.Result) + got.Error + got.Hint; got.Exit != c.exit || !strings.Contains(text, c.want) {
			t.Errorf("%s: exit %d, %s", c.line, got.Exit, text)
		}
	}
	if shown() != last {
		t.Error("a refused order changes what is shown")
	}
	if r, err := http.Post(p.address+"reset", "", nil); err != nil || r.StatusCode != http.StatusOK {
		t.Error(r, err)
	}
	if got := shown(); got != read(t, dir, "built/report/page.json") {
		t.Error("a reset does not show the folder's design")
	}
	p.stop()
	if code := <-p.code; code != exitOK {
		t.Errorf("it ends with code %d", code)
	}
	if after := hashOf(t, filepath.Join(dir, "built")); after != before {
		t.Error("the folder was changed")
	}
}

// samePage reports whether two contents of report/page.json are alike but for the options, which name the folding's
// file otherwise.
func samePage(t *testing.T, a, b string) bool {
	t.Helper()
	var both [2]map[string]any
	for i, text := range []string{a, b} {
		if err := json.Unmarshal([]byte(text), &both[i]); err != nil {
			t.Fatal(err)
		}
		delete(both[i], "given")
	}
	return reflect.DeepEqual(both[0], both[1])
}

// hashOf returns the names and contents of all files of a folder.
func hashOf(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %d %s\n", path, len(text), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestReportServeRefuses checks command lines and folders that cannot be served.
func TestReportServeRefuses(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	write(t, filepath.Join(dir, "float.onnx"), string(samplefiles.Unquantised(t, filepath.Join(dir, iris))))
	sampled := "build float.onnx --calibrate " + irisInputs + " --board pynq-z1 --no-csim --verify 0 "
	for _, line := range []string{"build " + iris + " --board pynq-z1 --no-csim --verify 0 --out plain",
		"build --board pynq-z1 --no-csim --verify 0 --out example", sampled + "--interval 16 --out sampled",
		sampled + "--folding sampled/folding.json --out again"} {
		if got := say(dir, nil, strings.Fields(line)...); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"report plain --serve", exitDiagnostics, "does not have its model"},
		{"report plain --serve --built-from " + irisInputs, exitDiagnostics, "another model"},
		{"report example --serve --built-from " + iris, exitDiagnostics, "another model"},
		{"report sampled --serve", exitDiagnostics, "--calibrate FILE --folding folding.json"},
		{"report nothing --serve", exitDiagnostics, "holds no page"},
		{"report plain example --serve", exitUsage, "--serve wants one folder"},
		{"report plain --serve --json", exitUsage, "excludes --out, --force and --json"},
		{"report plain --serve --out x.html", exitUsage, "excludes --out, --force and --json"},
		{"report plain --built-from " + iris, exitUsage, "--built-from is for --serve"},
		{"report plain example third", exitUsage, "or two of build"},
	} {
		got := say(dir, nil, strings.Fields(c.args)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
	var pages [2]pagetemplate.Page
	for i, built := range []string{"sampled", "again"} {
		if err := json.Unmarshal([]byte(read(t, dir, built+"/report/page.json")), &pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := pages[0], pages[1]; !reflect.DeepEqual(a.Layers, b.Layers) || !reflect.DeepEqual(a.FIFOs, b.FIFOs) ||
		!reflect.DeepEqual(a.Resources, b.Resources) || a.Interval != b.Interval {
		t.Error("with the folding and the samples another design comes out") // what the refusal advises
	}
	for _, args := range [][]string{{"plain", "--built-from", iris}, {"example"}} {
		p := servesPage(t, dir, args...)
		if status, _ := p.get(""); status != http.StatusOK {
			t.Errorf("%s: %d", args, status)
		}
		p.stop()
		<-p.code
	}
}
