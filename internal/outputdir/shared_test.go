package outputdir

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// share writes a file into a folder, as a run of hlsgen does.
func share(dir, name, text string) error {
	s, err := OpenSharedFolder(dir)
	if err != nil {
		return err
	}
	return errors.Join(s.WriteOwnFile(name, []byte(text)), s.ReleaseClaim())
}

// TestShared checks which files of a shared folder are replaced.
func TestShared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		wrote map[string]string // written by earlier runs
		there map[string]string // written by somebody else after that
		err   string
		want  string // content of x afterwards
	}{
		{name: "no folder", want: "new"},
		{name: "somebody's other files", there: map[string]string{"y": "mine"}, want: "new"},
		{name: "somebody's file", there: map[string]string{"x": "mine"}, err: `did not write: "x"`, want: "mine"},
		{name: "somebody's empty file", there: map[string]string{"x": ""}, err: `did not write: "x"`, want: ""},
		{name: "ours", wrote: map[string]string{"x": "old"}, want: "new"},
		{name: "ours, empty", wrote: map[string]string{"x": ""}, want: "new"},
		{name: "ours, changed", wrote: map[string]string{"x": "old"}, there: map[string]string{"x": "mine"},
			err: `since hlsgen wrote it: "x"`, want: "mine"},
		{name: "ours under another name", wrote: map[string]string{"y": "mine"}, there: map[string]string{"x": "mine"},
			err: `did not write: "x"`, want: "mine"},
		{name: "somebody's list", there: map[string]string{SharedFileListName: "mine"}, err: `did not write: "hlsgen.sha256"`,
			want: "none"},
		{name: "a folder", there: map[string]string{"x/z": "mine"}, err: `did not write: "x"`, want: "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a", "b")
			for name, text := range c.wrote {
				if err := share(dir, name, text); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range c.there {
				spread(t, dir, map[string][]byte{name: []byte(text)})
			}
			err := share(dir, "x", "new")
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
			got, err := os.ReadFile(filepath.Join(dir, "x"))
			if err != nil {
				got = []byte("none")
			}
			if string(got) != c.want {
				t.Errorf("x is %q, want %q", got, c.want)
			}
			for name, text := range c.there {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
					t.Errorf("somebody's %s is %q, %v", name, b, err)
				}
			}
			if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); len(hidden) > 0 || err != nil {
				t.Errorf("%v is left, %v", hidden, err)
			}
		})
	}
}

// TestSharedTogether checks that only one process at a time has a folder.
func TestSharedTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := OpenSharedFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	busy := new(PlaceBusyError)
	if _, err := OpenSharedFolder(dir); !errors.As(err, &busy) {
		t.Errorf("shared twice: %v", err)
	}
	if err := s.ReleaseClaim(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("a run that wrote nothing left %v, %v", left, err)
	}
}

// TestSharedKilled checks that a file of a killed run counts as ours, whether or not the file and its line in the
// list are complete.
func TestSharedKilled(t *testing.T) {
	t.Parallel()
	for _, there := range []string{"old", "new"} {
		dir := t.TempDir()
		if err := share(dir, "x", "old"); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSharedFolder(dir)
		if err == nil {
			err = s.WriteOwnFile("x", []byte("new"))
		}
		if err != nil {
			t.Fatal(err)
		}
		s.list.WriteString(strings.Repeat("0", 64) + "  z") // without a line end
		s.lock.RemoveAndUnlock()
		spread(t, dir, map[string][]byte{"x": []byte(there), "z": []byte("mine")})
		if err := share(dir, "x", "newer"); err != nil {
			t.Errorf("where %s stands: %v", there, err)
		}
		if err := share(dir, "z", "newer"); err == nil {
			t.Error("a file of which no whole line speaks was replaced")
		}
	}
}

// TestSharedList checks that sha256sum accepts the list.
func TestSharedList(t *testing.T) {
	t.Parallel()
	sum := tier.Needs(t, "sha256sum")[0]
	dir := t.TempDir()
	for _, name := range []string{"x", "y", "x"} {
		if err := share(dir, name, name+name); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.Command(sum, "--strict", "-c", SharedFileListName)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || string(out) != "x: OK\ny: OK\n" {
		t.Errorf("%s, %v", out, err)
	}
}
