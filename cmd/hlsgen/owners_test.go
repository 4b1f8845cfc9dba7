package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// nobody is a user and a group without rights.
const nobody = 65534

// ownFolder is the folder of own, which TestMain removes. It is empty if no test asked for it.
var ownFolder string

// own returns this test program at a place where every user may run it, because go test builds it in a folder of its
// own user.
var own = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "hlsgen-test")
	if err != nil {
		return "", err
	}
	ownFolder = dir
	path := filepath.Join(dir, "hlsgen")
	from, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	return path, errors.Join(err, to.Close(), os.Chmod(dir, 0o755))
})

// A shed is a folder of a user without rights, in which the test can leave files of root.
type shed struct {
	*testing.T
	dir string
}

// newShed makes one; only root can.
func newShed(t *testing.T) shed {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("it needs files of two users: run it as root")
	}
	dir, err := os.MkdirTemp("", "shed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := shed{t, dir}
	s.must(os.Chmod(dir, 0o755), os.Chown(dir, nobody, nobody))
	return s
}

func (s shed) must(errs ...error) {
	s.Helper()
	if err := errors.Join(errs...); err != nil {
		s.Fatal(err)
	}
}

func (s shed) path(name string) string { return filepath.Join(s.dir, name) }

// leave leaves a file of root's in a folder of root's.
func (s shed) leave(name string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o755), os.WriteFile(s.path(name), []byte("root's"), 0o644))
}

// run runs hlsgen as the user without rights, or as root, and checks its exit code and output.
func (s shed) run(root bool, code int, says string, args ...string) {
	s.Helper()
	program, err := own()
	s.must(err)
	cmd := exec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{asHlsgen + "=1", "TMPDIR=" + s.dir, "PATH=" + os.Getenv("PATH")}
	if !root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() != code || !strings.Contains(out.String(), says) {
		s.Errorf("%v: exit code %d, want %d; %s, want %q in it", args, cmd.ProcessState.ExitCode(), code, out.String(),
			says)
	}
}

// same checks that the folder has not changed.
func (s shed) same(was map[string]string) {
	s.Helper()
	if is := tree(s.T, s.dir); !maps.Equal(is, was) {
		s.Errorf("now there are %v, not %v", slices.Sorted(maps.Keys(is)), slices.Sorted(maps.Keys(was)))
	}
}

// hiddenBeside returns the hidden path beside a path, where hlsgen writes first.
func hiddenBeside(path string) string {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), ".hlsgen-"+hex.EncodeToString(sum[:8]))
}

func building(more ...string) []string {
	return append([]string{"build", "--board", "zcu104", "--no-csim", "--out", "d"}, more...)
}

// TestLeftovers checks a folder with files of root, as sudo make leaves them. It is replaced whole or not at all, on
// every try, and the message names these files.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for name, at := range map[string]string{"of a make": "d/hls/build/deep/x", "of a synthesis": "d/synth/x",
		"beside the design": "d/notes/x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShed(t)
			s.run(false, exitOK, "", building()...)
			s.leave(at)
			was := tree(t, s.dir)
			for range 2 {
				for _, force := range []string{"--force", "--force=keep"} {
					says := filepath.Dir(at)
					if name == "of a make" {
						says = "d/hls/build"
					}
					if name == "beside the design" && force == "--force" {
						says = `did not write: "notes/x"`
					}
					s.run(false, exitDiagnostics, says, building(force)...)
					s.same(was)
				}
			}
			s.must(os.RemoveAll(s.path(filepath.Dir(at))))
			s.run(false, exitOK, "", building("--force")...)
		})
	}
	t.Run("a file in a folder of one's own", func(t *testing.T) {
		t.Parallel()
		s := newShed(t)
		s.run(false, exitOK, "", building()...)
		was := tree(t, s.dir)
		s.must(os.MkdirAll(s.path("d/hls/build"), 0o755), os.Chown(s.path("d/hls/build"), nobody, nobody))
		s.leave("d/hls/build/x")
		for range 2 {
			s.run(false, exitOK, "", building("--force")...)
			s.same(was)
		}
	})
	t.Run("what an earlier run could not remove", func(t *testing.T) {
		t.Parallel()
		s := newShed(t)
		s.run(false, exitOK, "", building()...)
		hidden := hiddenBeside(s.path("d"))
		s.leave(strings.TrimPrefix(hidden, s.dir) + "/whole/hls/x")
		s.must(os.Chown(hidden, nobody, nobody), os.Chown(hidden+"/whole", nobody, nobody))
		was := tree(t, s.dir)
		for range 2 {
			s.run(false, exitDiagnostics, hidden+"/whole/hls", building("--force")...)
			s.same(was)
		}
		s.must(os.RemoveAll(hidden))
		s.run(false, exitOK, "", building("--force")...)
	})
}

// TestForeignHidden checks that hlsgen does not use files of another user at the place where it writes first, and names
// them. Everybody can put some there in a folder that all may write to.
func TestForeignHidden(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, c := range []struct {
		name  string
		args  []string
		at    string // beside what
		file  bool
		owner int
	}{
		{"a build", building(), "d", false, 0},
		{"a build of root's", building(), "d", false, nobody},
		{"a build, replaced", building("--force"), "d", false, 0},
		{"a file for a folder", building(), "d", true, 0},
		{"a lock", []string{"build", "--board", "zcu104", "--no-csim", "--out", "d"}, ".hlsgen-d", false, 0},
		{"a model", []string{"convert", "--clean", "--out", "m.onnx"}, "m.onnx", true, 0},
		{"a shared folder", []string{"check", "--dump-passes", "p"}, "p/hlsgen.sha256 lock", true, 0},
		{"a shared folder of root's", []string{"check", "--dump-passes", "p"}, "p/hlsgen.sha256 lock", true, nobody},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShed(t)
			s.must(os.Chown(s.dir, 0, 0), os.Chmod(s.dir, 0o777|os.ModeSticky))
			hidden := hiddenBeside(s.path(c.at))
			if c.name == "a lock" {
				// A hidden folder of one's own, in which somebody else's lock is.
				hidden = hiddenBeside(s.path("d")) + "/lock"
				s.must(os.Mkdir(filepath.Dir(hidden), 0o777), os.Chown(filepath.Dir(hidden), nobody, nobody))
				c.file = true
			}
			s.must(os.MkdirAll(filepath.Dir(hidden), 0o777))
			if strings.HasPrefix(c.at, "p/") {
				s.must(os.Chmod(s.path("p"), 0o777|os.ModeSticky))
			}
			if c.file {
				s.must(os.WriteFile(hidden, nil, 0o666), os.Chmod(hidden, 0o666))
			} else {
				s.must(os.Mkdir(hidden, 0o777), os.Chmod(hidden, 0o777))
			}
			s.must(os.Chown(hidden, c.owner, c.owner))
			was := tree(t, s.dir)
			for range 2 {
				s.run(c.owner == nobody, exitDiagnostics, filepath.Base(hidden), c.args...)
				s.same(was)
			}
			s.must(os.RemoveAll(hidden))
			s.run(c.owner == nobody, exitOK, "", c.args...)
		})
	}
}

// TestDanglingLink checks that no folder replaces a link that leads nowhere.
func TestDanglingLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "d")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for _, force := range []string{"--force=false", "--force", "--force=keep"} {
		text := unharmed(t, dir, exitDiagnostics, false, building(force)...)
		to, err := os.Readlink(link)
		if err != nil || to != "nowhere" || !strings.Contains(text, `a link to "nowhere"`) {
			t.Errorf("%s: %v, %v: %s", force, to, err, text)
		}
	}
}
