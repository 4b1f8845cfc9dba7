package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hlsgen/internal/outputdir"
	"hlsgen/internal/testsupport/tier"
)

// long is a build of a model in the current folder, whose search goes on for seconds after its first design.
const long = "build model.onnx --board pynq-z1 --no-csim --verify 0 --out made/out --search-time 20s"

// ctrlC is the byte that a terminal sends for Ctrl-C.
const ctrlC = "\x03"

// resnet is a folder with a model that is searched for long, for a process of its own.
func resnet(t *testing.T) (dir string) {
	t.Helper()
	b, err := os.ReadFile("../../internal/testsupport/models/digits-resnet-w4a4/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	write(t, filepath.Join(dir, "model.onnx"), string(b))
	return dir
}

// told makes hlsgen report every stage, and every design of the search, on stderr.
var told = []string{"HLSGEN_DEBUG=1"}

// TestInterruptedSearch interrupts builds on a terminal.
func TestInterruptedSearch(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	unignored(t, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	for _, c := range []struct {
		name string
		args string
		when string // this is shown
		do   func(*testing.T, *terminal)
		code int
	}{
		{"after the first design", long, "msg=found", pressed, exitOK},
		{"of an asked rate", long + " --fps 80000", "msg=found", pressed, exitOK},
		{"for the shortest latency", long + " --latency", "msg=found", pressed, exitOK},
		{"before the first design", long, "msg=reading", pressed, exitInterrupted},
		{"where it is not asked for", long + " --on-interrupt stop", "msg=found", pressed, exitInterrupted},
		{"with every warning an error", long + " --strict", "msg=found", pressed, exitDiagnostics},
		{"of a front", long + " --pareto --on-interrupt best", "msg=folding", pressed, exitInterrupted},
		{"termination", long, "msg=found", sent(syscall.SIGTERM), exitInterrupted},
		{"the terminal is closed", long, "msg=found", func(t *testing.T, x *terminal) { x.Close() }, exitInterrupted},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := resnet(t)
			cmd, temporary := process(t, dir, told, strings.Fields(c.args)...)
			x := onTerminal(t, cmd)
			x.sees(t, c.when)
			c.do(t, x)
			code := x.ends(t)
			before, _, _ := strings.Cut(x.text(), "^C")
			if c.when == "msg=reading" && strings.Contains(before, "msg=found") {
				t.Skip("the machine is too busy for a key before the first design")
			}
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, x.text())
			}
			leaves(t, dir, temporary, x.text(), c.code == exitOK)
			if c.code == exitOK {
				expect(t, "the terminal", x.text(), "warning[search-interrupted]")
			}
		})
	}
}

func pressed(t *testing.T, x *terminal) { x.types(t, ctrlC) }

func sent(s syscall.Signal) func(*testing.T, *terminal) {
	return func(t *testing.T, x *terminal) {
		if err := x.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
}

// leaves checks that a build left its whole folder, or nothing at all. The folder of an interrupted search has the
// command that makes its design again. leaves runs that command.
func leaves(t *testing.T, dir, temporary, shown string, whole bool) {
	t.Helper()
	if left := entries(t, temporary); left != "" {
		t.Errorf("temporary files are left: %s", left)
	}
	if !whole {
		if left := entries(t, dir); left != "model.onnx" {
			t.Errorf("left: %s; %s", left, shown)
		}
		return
	}
	if left := entries(t, dir) + " " + entries(t, filepath.Join(dir, "made")); left != "made model.onnx out" {
		t.Errorf("left: %s", left)
	}
	out := filepath.Join(dir, "made", "out")
	files := listed(t, out)
	if !strings.Contains(shown, "search-interrupted") {
		return
	}
	command := regained(t, out)
	const file = "final_hw_config.json"
	if err := os.Rename(filepath.Join(out, file), filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
	again := say(dir, nil, append(command, "--no-csim", "--verify", "0")...)
	if again.code != exitOK || strings.Contains(again.stderr, "interrupted") {
		t.Fatalf("%v: %+v", command, again)
	}
	same := listed(t, filepath.Join(dir, "again"))
	for path, sum := range files {
		switch path {
		// these have what is proved of it
		case "README.md", "report/certificate.json", "report/page.json", "report/report.html":
		case "report/cycle_simulation.json": // this has which depths were given
		default:
			if same[path] != sum {
				t.Errorf("%v: another %s", command, path)
			}
		}
	}
}

// regained is the command that makes a design again, as the folder's page has it.
func regained(t *testing.T, out string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "README.md", string(page), "The search for this design was interrupted")
	for line := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(line, "hlsgen build "); ok && strings.Contains(line, " --folding ") {
			return append([]string{"build"}, strings.Fields(rest)...)
		}
	}
	t.Fatalf("no command in %s", page)
	return nil
}

// listed returns the files of a build by path, with their checksums. The folder must have exactly the files that its
// manifest lists, with the contents that it states.
func listed(t *testing.T, dir string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, outputdir.ManifestFileName))
	if err != nil {
		t.Fatal(err)
	}
	var r outputdir.ManifestRecord
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, f := range r.Files {
		sums[f.Path] = f.SHA256
	}
	found := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == filepath.Join(dir, outputdir.ManifestFileName) {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		if sum := sha256.Sum256(text); sums[filepath.ToSlash(rel)] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is not as the manifest says", rel)
		}
		found++
		return err
	})
	if err != nil || found != len(sums) || found < 100 {
		t.Errorf("%d files, %d in the manifest: %v", found, len(sums), err)
	}
	return sums
}

// TestInterruptedTwice interrupts the search of a build, and then its compilers: they end with it.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "sh")
	unignored(t, os.Interrupt)
	dir := resnet(t)
	alive, slow := filepath.Join(t.TempDir(), "alive"), filepath.Join(t.TempDir(), "slow")
	script := "#!/bin/sh\nsleep 100000 > " + alive + "\n"
	if err := errors.Join(syscall.Mkfifo(alive, 0o600), os.WriteFile(slow, []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	args := strings.Replace(long, "--no-csim --verify 0", "--verify 1", 1)
	cmd, temporary := process(t, dir, append(told, "CXX="+slow), strings.Fields(args)...)
	x := onTerminal(t, cmd)
	x.sees(t, "msg=found")
	x.types(t, ctrlC)
	pipe, err := os.Open(alive) // waits for a compiler
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	x.sees(t, "the search ends with the best design so far")
	x.types(t, ctrlC)
	if code := x.ends(t); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, x.text())
	}
	if _, err := io.ReadAll(pipe); err != nil { // until the last has ended
		t.Error(err)
	}
	leaves(t, dir, temporary, x.text(), false)
}

// TestInterruptedJSON checks the JSON object of an interrupted search, and that a terminal shows the progress of the
// search.
func TestInterruptedJSON(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	unignored(t, os.Interrupt)
	cmd, _ := process(t, resnet(t), nil, strings.Fields(long+" --json")...)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	x := onTerminal(t, cmd)
	x.sees(t, " clocks a frame, ")
	x.sees(t, " % of the budget")
	x.types(t, ctrlC)
	if code := x.ends(t); code != exitOK {
		t.Fatalf("exit code %d: %s", code, x.text())
	}
	b := object(t, said{stdout: stdout.String()})
	certificate := b["certificate"].(map[string]any)
	if b["interrupted"] != true || certificate["interrupted"] != true ||
		certificate["gap"] != "left open: the search was interrupted" || len(b["diagnostics"].([]any)) != 1 {
		t.Errorf("%v, %v, %v", b["interrupted"], certificate, b["diagnostics"])
	}
}

// TestInterruptedElsewhere interrupts a search without a terminal.
func TestInterruptedElsewhere(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	unignored(t, os.Interrupt)
	for _, c := range []struct {
		args string
		code int
	}{{long, exitInterrupted}, {long + " --on-interrupt best", exitOK}} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			dir := resnet(t)
			cmd, temporary := process(t, dir, told, strings.Fields(c.args)...)
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var shown bytes.Buffer
			for b := make([]byte, 4096); !strings.Contains(shown.String(), "msg=found"); {
				n, err := stderr.Read(b)
				if shown.Write(b[:n]); err != nil {
					t.Fatalf("%v: %s", err, shown.String())
				}
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if _, err := shown.ReadFrom(stderr); err != nil {
				t.Error(err)
			}
			exit := new(exec.ExitError)
			if err := cmd.Wait(); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != c.code {
				t.Errorf("%v: %s", err, shown.String())
			}
			leaves(t, dir, temporary, shown.String(), c.code == exitOK)
		})
	}
}

// TestInterruptedAnywhere presses Ctrl-C at random moments of builds on a terminal, some with a long search, and some
// short ones. Each must leave a whole folder or nothing.
func TestInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	unignored(t, os.Interrupt)
	moments := 2
	if tier.Long() {
		moments = 20
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	short := strings.TrimSuffix(long, " --search-time 20s")
	cmd, _ := process(t, resnet(t), nil, strings.Fields(short)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	ends := map[int]int{}
	for i := range moments {
		args := []string{long, short}[i%2]
		at := time.Duration(rnd.Float64() * float64(whole) * 2)
		dir := resnet(t)
		cmd, temporary := process(t, dir, nil, strings.Fields(args)...)
		x := onTerminal(t, cmd)
		time.Sleep(at)
		x.WriteString(ctrlC) // where it is over, nobody reads
		code := x.ends(t)
		if code != exitOK && code != exitInterrupted {
			t.Errorf("after %v: exit code %d: %s", at, code, x.text())
		}
		ends[code]++
		if code == exitOK && i%2 == 0 {
			expect(t, "the terminal", x.text(), "warning[search-interrupted]")
		}
		leaves(t, dir, temporary, x.text(), code == exitOK)
		t.Logf("%s: after %v of %v: exit code %d, interrupted %t", args, at.Round(time.Millisecond),
			whole.Round(time.Millisecond), code, strings.Contains(x.text(), "search-interrupted"))
	}
	t.Logf("by exit code: %v", ends)
}
