package synthtest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hlsgen/templates"
)

//go:embed threads/hls_stream.h
var threadsStream []byte

// An edit replaces the only match of a pattern in a file.
type edit struct{ at, text string }

// edited returns a text with the edits made.
func edited(path string, text []byte, edits []edit) ([]byte, error) {
	for _, e := range edits {
		at := regexp.MustCompile(e.at)
		if n := len(at.FindAll(text, -1)); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times", path, e.at, n)
		}
		text = at.ReplaceAll(text, []byte(e.text))
	}
	return text, nil
}

// waitingBench makes the test bench wait for words instead of calling functions. No frame is started again.
var waitingBench = []edit{
	{`if \(count == 0 \|\| at == count\) return false;`, "if (at + 1 == count) return false;"},
	{`return made\+\+ < .*;`, `return made++ < 1;`},
	{`return !done && next_call\(\);`, "hls::breathe();\n        made++;\n        return !done;"},
	{`for \(; !out\.empty\(\); i\+\+\) \{`, "for (; i < want.size(frame()); i++) {"},
	{`for \(; !in\.empty\(\); left\+\+\) in\.read\(\);`, "while (!in.empty()) hls::breathe();"},
}

var (
	checkText  = regexp.MustCompile(`(?s)static void check_(\w+)\(.*?\n\}\n`)
	frameLoop  = "    while (bench.next_frame()) {\n"
	fifoDepth  = regexp.MustCompile(`(?m)^#pragma HLS STREAM variable=(\w+) depth=(\d+)$`)
	topCall    = regexp.MustCompile(`(?m)^    (\w+)\([\w, ]+\);$`)
	topEnd     = regexp.MustCompile(`(?m)^\}$`)
	checksLoop = edit{`for \(const auto check : checks\) check\(bench\);`,
		"for (const auto check : checks) {\n        std::fflush(stdout);\n        if (fork() == 0) {\n" +
			"            check(bench);\n            return bench.finish();\n        }\n        int code = 1;\n" +
			"        if (wait(&code) < 0 || code != 0) return 1;\n    }\n    std::puts(\"PASS all\");\n    return 0;"}
)

// threaded returns a copy of a project with a thread for every process. The threads start with the checks of the
// bench.
func threaded(files templates.ProjectFiles) (list templates.ProjectFiles, err error) {
	for _, f := range files {
		text := f.Data
		switch {
		case f.Path == "hls/csim/hls_stream.h":
			text = threadsStream
		case strings.HasSuffix(f.Path, "/testbench.hpp"):
			text, err = edited(f.Path, text, waitingBench)
		case f.Path == "hls/top.cpp":
			text = fifoDepth.ReplaceAll(text, []byte("$0\n    $1.holds($2);"))
			text = topCall.ReplaceAll(text, []byte("    hls::process run_$1([&] { $0 });"))
			text = topEnd.ReplaceAll(text, []byte("    hls::until_ended();\n}"))
		case f.Path == "hls/tb/tb.cpp":
			text, err = edited(f.Path, append([]byte("#include <sys/wait.h>\n#include <unistd.h>\n"), text...),
				[]edit{checksLoop})
			text = checkText.ReplaceAllFunc(text, func(check []byte) []byte {
				name := string(checkText.FindSubmatch(check)[1])
				call := regexp.MustCompile(`(?m)^            (` + name + `\(.*\));$`)
				running := "    hls::process running([&] { " + string(call.FindSubmatch(check)[1]) + "; });\n"
				check = call.ReplaceAll(check, nil)
				return []byte(strings.Replace(string(check), frameLoop, running+frameLoop, 1))
			})
		}
		if err != nil {
			return nil, err
		}
		list = append(list, templates.GeneratedFile{Path: f.Path, Data: text})
	}
	return list, nil
}

// CheckThreaded compiles a project with recordings as synthesis reads it, and runs its bench. Every process is a thread
// with pauses; a read waits for a word, and a write for room. All recorded words must come, and no others, within
// patience seconds for each check. Then it repeats this with kernels that never test for a word, but wait for one
// input after the other.
func CheckThreaded(ctx context.Context, dir, cxx string, patience int, files templates.ProjectFiles) error {
	ready, err := threaded(files)
	if err != nil {
		return err
	}
	// Most of the time goes into the headers of threads, which one unit reads once.
	unit := "#include \"layers.cpp\"\n#include \"tb/tb.cpp\"\n"
	if files.ContentsOf("hls/top.cpp") != nil {
		unit = "#include \"top.cpp\"\n" + unit
	}
	ready = append(ready, templates.GeneratedFile{Path: "hls/one.cpp", Data: []byte(unit)})
	if err := ready.WriteBelow(dir); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := work{ctx, filepath.Join(dir, "hls")}
	if _, err := w.run(cxx, "-std=c++14", "-D__SYNTHESIS__", "-O0", "-w", "-pthread", "-Icsim", "-I.", "-o",
		"threads.out", "one.cpp"); err != nil {
		return err
	}
	for _, all := range []string{"ONLY_PORTS_WAIT=1", "ALL_WAIT=1"} {
		if out, err := w.run("env", all, fmt.Sprint("PATIENCE=", patience), "./threads.out", "tb/data"); err != nil {
			return fmt.Errorf("threads, %s: %w", all, err)
		} else if !strings.Contains(out, "PASS all") {
			return fmt.Errorf("threads, %s: no verdict", all)
		}
	}
	return nil
}
