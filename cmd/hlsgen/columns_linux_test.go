package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hlsgen/internal/examples"
	"hlsgen/internal/testsupport/tier"
)

// onScreen runs hlsgen on a terminal of the given number of columns, and returns its output there.
func onScreen(t *testing.T, dir string, columns int, args ...string) string {
	t.Helper()
	master, slave := pseudoTerminal(t)
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 50, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		var all strings.Builder
		for b := make([]byte, 4096); ; {
			n, err := master.Read(b) // EIO once nobody has the other end
			all.Write(b[:n])
			if err != nil {
				shown <- all.String()
				return
			}
		}
	}()
	run(context.Background(), args, world{env: noEnv, dir: dir, stdout: slave, stderr: slave})
	slave.Close()
	return <-shown
}

// tooWide returns the lines that a terminal breaks. It leaves out lines with a single word that is longer: a path or a
// name.
func tooWide(shown string, columns int) (wide []string) {
	for line := range strings.FieldsFuncSeq(shown, func(r rune) bool { return r == '\n' || r == '\r' }) {
		word := strings.TrimSuffix(strings.TrimSpace(line), ` \`)
		if columnsOf(line) > columns && (strings.Contains(word, " ") || columnsOf(word) <= columns-len(` \`)) {
			wide = append(wide, line)
		}
	}
	return wide
}

// pageCommands returns the command lines of hlsgen that docs/cli.md shows, as the page runs them but without a
// compiler.
func pageCommands(t *testing.T) (lines []string) {
	t.Helper()
	page := read(t, "../..", "docs/cli.md")
	for _, m := range regexp.MustCompile(`(?m)^\$ hlsgen (.*)`).FindAllStringSubmatch(page, -1) {
		line := m[1]
		if strings.HasPrefix(line, "build") && !strings.Contains(line, "--no-csim") {
			line += " --no-csim"
		}
		lines = append(lines, line)
	}
	return lines
}

// otherCommands are command lines that docs/cli.md has no block of: every command, with and without an error. DIR is a
// folder of its own for each width.
var otherCommands = []string{"boards", "check", "check --acc-bits 4 --input x.npy", "stats --data x.npy",
	"layers", "passes", "explain", "examples", "examples DIR/examples", "formats", "version", "--help",
	"reference DIR/pages", "simulate", "simulate --board zcu104 --engine cycle", "convert --clean --out DIR/clean.onnx",
	"build --board pynq",
	"build --board vck190 --no-csim --out DIR/note", "weights " + iris + " --for loaded --out DIR/weights",
	"synth loaded",
	"sweep --board zcu104,pynq-z1 --fps 1e4,1e12 --memory auto,ultra --max-use 0.5,lut=0.6 --out DIR/swept",
	"graph loaded --out DIR/g.svg", "report loaded --out DIR/r.html",
	"serve", "collect loaded", "latencies " + reports + " --out DIR/c.json",
	"build --bord zcu104", "check -q -v",
	"explain no-such-thing"}

// TestColumnsOfCommands checks that a terminal breaks no line of a command, except for a longer path or name. It runs
// every command of docs/cli.md on the first example, with its help, and prints every page of explain.
func TestColumnsOfCommands(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	lines := append(pageCommands(t), otherCommands...)
	for _, c := range bare().root().Commands() {
		shown := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line+" ", c.Name()+" ") })
		if !shown && c.Name() != "help" && c.Name() != "completion" { // a script, for a shell to read
			t.Errorf("no line has the command %s", c.Name())
		}
		lines = append(lines, c.Name()+" --help")
	}
	for _, code := range codes() {
		lines = append(lines, "explain "+code)
	}
	dir := filesIn(t, nil)
	for name, from := range map[string]string{"model.onnx": "model.onnx", "x.npy": "inputs.npy"} {
		data, err := examples.EmbeddedFiles.ReadFile(examples.NamesAndDocs[0].Name + "/" + from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(data))
	}
	for _, line := range []string{"simulate model.onnx --input x.npy --output y.npy",
		"build " + iris + " --board pynq-z1 --backend rtl --weights runtime --no-csim --verify 1 --out loaded"} {
		if got := say(dir, nil, strings.Fields(line)...); got.code != exitOK {
			t.Fatalf("%+v", got)
		}
	}
	widths := []int{60, 120}
	if tier.Long() {
		widths = []int{60, 80, 120, 200}
	}
	for _, columns := range widths {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			own := strconv.Itoa(columns)
			if err := errors.Join(os.Mkdir(filepath.Join(dir, own), 0o777),
				os.RemoveAll(filepath.Join(dir, "hlsgen-out"))); err != nil {
				t.Fatal(err)
			}
			widest := 0
			for _, line := range lines {
				args := strings.Fields(strings.ReplaceAll(line, "DIR", own))
				if i := slices.Index(args, "--out"); i >= 0 && !strings.Contains(args[i+1], "/") {
					args[i+1] = own + "/" + args[i+1]
				}
				shown := onScreen(t, dir, columns, args...)
				if shown == "" && args[0] != "reference" {
					t.Errorf("hlsgen %s shows nothing", line)
				}
				for _, wide := range tooWide(shown, columns) {
					t.Errorf("hlsgen %s: %d columns: %q", line, columnsOf(wide), wide)
				}
				for l := range strings.Lines(shown) {
					widest = max(widest, columnsOf(strings.TrimRight(l, "\r\n")))
				}
			}
			if widest < columns-5 {
				t.Errorf("no line has more than %d columns: the terminal's are not used", widest)
			}
		})
	}
}
