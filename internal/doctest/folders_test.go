package doctest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestFolders checks that every folder that hlsgen writes has a README.md whose table names every file in it, and
// no others.
func TestFolders(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "bash")
	p := build(t)
	dir := p.folder(t)
	hostile := "z`|$(touch pwned)\n```\n# x.onnx"
	model, err := os.ReadFile(filepath.Join(dir, "model.onnx"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, hostile), model, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, folders string }{
		{"hlsgen build --board zcu104 --verify 1 --no-csim --out out", "out"},
		{"hlsgen build model.onnx --board ./mine.json --fps 1000 --max-use 0.5,dsp=1 --cost finn --io stream " +
			"--verify 1 --no-csim --out own", "own"},
		{"hlsgen build z* --board pynq-z1 --verify 1 --no-csim --out hostile", "hostile"},
		{"hlsgen sweep model.onnx --board zcu104,pynq-z1 --interval 1,6 --out sweep", "sweep"},
		{"hlsgen sweep model.onnx --board pynq-z1 --bound --out bounds", "bounds"},
		{"hlsgen sweep model.onnx --board ./mine.json --pareto --points 2 --memory block --jobs slurm --out jobs",
			"jobs jobs/points/*"},
		{"hlsgen sweep z* --board pynq-z1 --out swept", "swept"},
		{"hlsgen examples examples", "examples/*"},
	} {
		p.run(t, dir, c.command, 0)
		for _, pattern := range strings.Fields(c.folders) {
			folders, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(folders) == 0 {
				t.Fatal(pattern, err)
			}
			for _, folder := range folders {
				checkReadme(t, folder)
			}
		}
	}
	// The commands that this README.md gives work: the bench runs, and the build makes the same design again.
	for _, folder := range []string{"out", "own", "hostile"} {
		at := filepath.Join(dir, folder)
		commands := commandsOf(t, at)
		again := commands[len(commands)-1]
		if !strings.HasPrefix(again, "hlsgen build ") {
			t.Fatal(again)
		}
		p.run(t, at, "cp ../model.onnx ../z* ../mine.json .; "+again+" --verify 1 --no-csim && diff -r hls "+
			"again/hls && rm -r again model.onnx mine.json z*", 0)
	}
	for _, folder := range []string{"sweep", "bounds", "swept"} {
		at := filepath.Join(dir, folder)
		before := p.run(t, at, "cat sweep.csv", 0)
		p.run(t, at, "cp ../model.onnx ../z* .; "+commandsOf(t, at)[0], 0)
		if after := p.run(t, at, "cat sweep.csv", 0); after != before {
			t.Errorf("%s goes on to another sweep:\n%s\nbefore\n%s", folder, after, before)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a model's name was run")
	}
}

var row = regexp.MustCompile("(?m)^\\| (`.*`) \\| ")

// checkReadme compares the table in a folder's README.md with the files there.
func checkReadme(t *testing.T, folder string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Error(err)
		return
	}
	var patterns []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for _, code := range inlineCode.FindAllStringSubmatch(m[1], -1) {
			patterns = append(patterns, code[1])
		}
	}
	found := map[string]bool{}
	err = filepath.WalkDir(folder, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		named := false
		for _, p := range patterns {
			ok, err := path.Match(p, rel)
			if err != nil {
				return err
			}
			if ok || strings.HasSuffix(p, "/") && strings.HasPrefix(rel, p) {
				named, found[p] = true, true
			}
		}
		if !named {
			t.Errorf("%s/README.md does not say what %s is", folder, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patterns {
		if !found[p] {
			t.Errorf("%s/README.md names %s, which is not there", folder, p)
		}
	}
	if len(patterns) < 4 {
		t.Errorf("%s/README.md names only %v", folder, patterns)
	}
	if strings.Contains(string(text), "\n# x") || strings.Contains(string(text), filepath.Dir(folder)) {
		t.Errorf("%s/README.md has a name unescaped, or a path of this machine:\n%s", folder, text)
	}
}

// commandsOf returns the lines of all blocks in a folder's README.md.
func commandsOf(t *testing.T, folder string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(t, folder, string(text)) {
		all = append(all, strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")...)
	}
	return all
}
