package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hlsgen/internal/outputdir"
	"hlsgen/internal/testsupport/tier"
)

// small lists flags that make a sweep quick.
var small = []string{"--board", "zcu104", "--clock", "200", "--interval", "1000"}

// writers is every way to have hlsgen write into a folder, called DIR here.
var writers = map[string][]string{
	"build --out":         {"build", iris, "--board", "zcu104", "--no-csim", "--verify", "1", "--out", "DIR"},
	"build --dump-passes": {"build", iris, "--board", "zcu104", "--no-csim", "--verify", "1", "--dump-passes", "DIR"},
	"check --dump-passes": {"check", iris, "--dump-passes", "DIR"},
	"sweep --out":         append([]string{"sweep", iris, "--out", "DIR"}, small...),
	"simulate --trace":    {"simulate", iris, "--input", irisInputs, "--trace", "DIR"},
	"weights --out":       {"weights", iris, "--for", "built", "--out", "DIR"},
	"examples":            {"examples", "DIR"},
	"reference":           {"reference", "DIR"},
}

// notWritten are the flags with a folder that is read, or written in a way that another test looks at.
var notWritten = map[string]string{
	"sweep --collect": "TestCollect of folding/sweep",
	"latencies":       "TestCalibrateDelays of internal/synthesis",
	"graph":           "TestGraph: it reads",
	"report":          "TestReport: it reads",
	"synth":           "TestSynth, in the folder of a build, below synth and hls/build.ip",
	"collect":         "TestCollect: it reads",
	"weights":         "its --for is read",
	"weights --for":   "TestWeightsRefused of internal/weights",
}

// states lists the files in which hlsgen keeps what it knows of a folder. hlsgen ignores wrong lines in them.
var states = []string{outputdir.SharedFileListName, "journal.jsonl"}

// TestFolders checks every way to have hlsgen write into a folder. A file of somebody else, under a name that hlsgen
// needs, stays as it is, and so does a file of hlsgen that somebody changed. hlsgen names both. It replaces its own
// files, or says that they are there.
func TestFolders(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	ways := maps.Clone(notWritten)
	for way := range writers {
		ways[way] = way
	}
	for _, c := range bare().root().Commands() {
		if strings.Contains(c.Use, "DIR") && ways[c.Name()] == "" {
			t.Errorf("%s writes into a folder that nobody looks after", c.Name())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if kind, _ := pflag.UnquoteUsage(f); kind == "DIR" && ways[c.Name()+" --"+f.Name] == "" {
				t.Errorf("%s --%s writes into a folder that nobody looks after", c.Name(), f.Name)
			}
		})
	}
	for way, words := range writers {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := filesIn(t, nil)
			if words[0] == "weights" {
				say(dir, nil, strings.Fields("build "+iris+" --board zcu104 --backend rtl --weights runtime --no-csim "+
					"--verify 1 --out built")...)
			}
			into := func(name string) said {
				args := slices.Clone(words)
				args[slices.Index(args, "DIR")] = name
				return say(dir, nil, args...)
			}
			if got := into("first"); got.code != exitOK {
				t.Fatalf("%+v", got)
			}
			there, err := os.ReadDir(filepath.Join(dir, "first"))
			if err != nil || len(there) == 0 {
				t.Fatalf("it wrote nothing: %v", err)
			}
			if tier.Quick() {
				there = there[:min(len(there), 3)]
			}
			again := into("first")
			refused := again.code == exitDiagnostics && strings.Contains(again.stderr, "output-exists")
			if again.code != exitOK && !refused {
				t.Errorf("again: %+v", again)
			}
			mine := []byte("mine\n")
			for _, e := range there {
				if !e.IsDir() && !slices.Contains(states, e.Name()) {
					path := filepath.Join(dir, "first", e.Name())
					was, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					write(t, path, string(was)+string(mine))
					got := into("first")
					if got.code != exitDiagnostics || !strings.Contains(got.stderr, "error[output-") {
						t.Errorf("over a changed %s: %+v", e.Name(), got)
					}
					if b, err := os.ReadFile(path); err != nil || !bytes.HasSuffix(b, mine) {
						t.Errorf("%s is no longer as somebody changed it, %v", e.Name(), err)
					}
					write(t, path, string(was))
				}
				name := "other-" + e.Name()
				path := filepath.Join(dir, name, e.Name())
				if e.IsDir() { // a file in the folder
					path = filepath.Join(path, "mine")
				}
				write(t, path, string(mine))
				got := into(name)
				if got.code != exitDiagnostics || !strings.Contains(got.stderr, "error[output-") {
					t.Errorf("over somebody's %s: %+v", e.Name(), got)
				}
				if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, mine) {
					t.Errorf("somebody's %s is %q now, %v", e.Name(), b, err)
				}
			}
		})
	}
}
