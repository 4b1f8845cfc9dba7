package outputdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// build returns a folder's files with their manifest. Each file contains its path and the build's name.
func build(t testing.TB, name string, paths ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, p := range paths {
		files[p] = []byte(p + " of " + name)
	}
	b, err := json.MarshalIndent(struct {
		Name string `json:"name"`
		ManifestRecord
	}{name, UnsealedRecordOf(files)}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	files[ManifestFileName] = SealManifest(b)
	return files
}

// put puts a folder in its place, as a run of hlsgen does.
func put(dir string, files map[string][]byte, how ReplacePolicy) ([]string, error) {
	f, err := ClaimFolder(dir, []string{"made"})
	if err != nil {
		return nil, err
	}
	kept, err := f.ReplaceContents(files, how)
	return kept, errors.Join(err, f.ReleaseClaim())
}

// spread writes files below a folder. A path that ends in a slash makes a folder.
func spread(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for path, data := range files {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "/") {
			if err := os.Mkdir(full, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(full, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree returns the text of every file below a folder, by path, without manifests, and an entry for every empty
// folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		if err != nil || e.Name() == ManifestFileName {
			return err
		}
		if e.IsDir() {
			if inside, err := os.ReadDir(path); err != nil || len(inside) > 0 {
				return err
			}
			all[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		all[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// texts joins files into one text.
func texts(files map[string]string) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(path + "=" + files[path] + ";")
	}
	return b.String()
}

// TestPut checks what may be replaced and what stays.
func TestPut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		there  map[string]string // beside build "a" of x and in/y, or instead of its files
		absent bool              // build "a" does not exist
		how    ReplacePolicy
		want   string // the folder afterwards; empty if Put refuses
		err    string
	}{
		{name: "nothing there", absent: true, want: "in/y=in/y of b;x=x of b;"},
		{name: "a build", err: "exists and is not empty"},
		{name: "a build, replaced", how: ReplaceOurs, want: "in/y=in/y of b;x=x of b;"},
		{name: "somebody's", absent: true, there: map[string]string{"z": ""}, how: ReplaceOurs,
			err: "it has no manifest"},
		{name: "somebody's, kept", absent: true, there: map[string]string{"z": ""}, how: ReplaceKeepingForeign,
			err: "it has no manifest"},
		{name: "another manifest", absent: true, there: map[string]string{ManifestFileName: `{"files": []}`},
			how: ReplaceOurs,
			err: "does not list files"},
		{name: "a changed manifest", there: map[string]string{ManifestFileName: string(build(t, "A",
			"x")[ManifestFileName]) +
			" "},
			how: ReplaceOurs, err: "its manifest.json was changed"},
		{name: "foreign", there: map[string]string{"in/z": "mine"}, how: ReplaceOurs, err: `did not write: "in/z"`},
		{name: "changed", there: map[string]string{"x": "mine"}, how: ReplaceOurs, err: `since hlsgen wrote it: "x"`},
		{name: "an empty folder", there: map[string]string{"n/": ""}, how: ReplaceOurs, err: `did not write: "n/"`},
		{name: "of its scripts", there: map[string]string{"made/z": "mine"}, how: ReplaceOurs,
			want: "in/y=in/y of b;x=x of b;"},
		{name: "kept", there: map[string]string{"in/z": "mine", "x": "my x", "n/m/": "", "made/z": ""},
			how:  ReplaceKeepingForeign,
			want: "in/y=in/y of b;in/z=mine;n/m/=;x=my x;"},
		{name: "a folder where a file has to be", there: map[string]string{"new/z": "mine"}, how: ReplaceKeepingForeign,
			err: `holds "new/z", which cannot be kept`},
		{name: "a file where a folder has to be", there: map[string]string{"sub": "mine"}, how: ReplaceKeepingForeign,
			err: `holds "sub", which cannot be kept`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir := filepath.Join(parent, "dir")
			if !c.absent {
				if _, err := put(dir, build(t, "a", "x", "in/y"), ReplaceNothing); err != nil {
					t.Fatal(err)
				}
			}
			for path, text := range c.there {
				spread(t, dir, map[string][]byte{path: []byte(text)})
			}
			before := texts(tree(t, parent))
			next := build(t, "b", "x", "in/y")
			if strings.Contains(c.name, "has to be") {
				next = build(t, "b", "x", "in/y", "new", "sub/s")
			}
			_, err := put(dir, next, c.how)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || texts(tree(t, parent)) != before {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			if got := texts(tree(t, dir)); err != nil || got != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
			if left, err := os.ReadDir(parent); len(left) != 1 {
				t.Errorf("beside it there is %v, %v", left, err)
			}
		})
	}
}

// TestKept checks that a stranger stays the same file, rather than becoming another with equal content, and that
// links are not followed.
func TestKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dir")
	if _, err := put(dir, build(t, "a", "x"), ReplaceNothing); err != nil {
		t.Fatal(err)
	}
	spread(t, dir, map[string][]byte{"z": []byte("mine")})
	was, err := os.Stat(filepath.Join(dir, "z"))
	if err = errors.Join(err, os.Symlink("/nowhere/at all", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	kept, err := put(dir, build(t, "b", "x"), ReplaceKeepingForeign)
	if err != nil || !slices.Equal(kept, []string{"link", "z"}) {
		t.Fatal(kept, err)
	}
	if is, err := os.Stat(filepath.Join(dir, "z")); err != nil || !os.SameFile(was, is) {
		t.Error("another file", err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || to != "/nowhere/at all" {
		t.Error(to, err)
	}
	// Files that cannot be linked are copied.
	for _, name := range []string{"z", "link"} {
		to := filepath.Join(dir, name+" copied")
		a, err := os.Lstat(filepath.Join(dir, name))
		b, err2 := a, copied(filepath.Join(dir, name), to)
		if err2 == nil {
			b, err2 = os.Lstat(to)
		}
		if err != nil || err2 != nil || a.Mode() != b.Mode() || a.Size() != b.Size() || os.SameFile(a, b) {
			t.Error(name, a, b, err, err2)
		}
	}
}

// TestRecover checks how the next process handles each state that a killed one may leave.
func TestRecover(t *testing.T) {
	t.Parallel()
	a, b := build(t, "a", "x"), build(t, "b", "x")
	plus := func(files map[string][]byte, path, text string) map[string][]byte {
		files = maps.Clone(files)
		files[path] = []byte(text)
		return files
	}
	for _, c := range []struct {
		name string
		dir  map[string][]byte            // nil if it does not exist
		work map[string]map[string][]byte // the folders beside it
		want string
	}{
		{"while it was written", a, map[string]map[string][]byte{fresh: {"x": []byte("half")}}, "x=x of a;"},
		{"before the exchange", a, map[string]map[string][]byte{whole: b}, "x=x of a;"},
		{"after the exchange", b, map[string]map[string][]byte{whole: a}, "x=x of b;"},
		{"while the old one was removed", b, map[string]map[string][]byte{whole: {"x": []byte("x of a")}}, "x=x of b;"},
		{"a stranger came just before the exchange", b, map[string]map[string][]byte{whole: plus(a, "z", "mine")},
			"x=x of b;z=mine;"},
		{"a file was changed just before the exchange", b, map[string]map[string][]byte{whole: plus(a, "x", "mine")},
			"x=mine;"},
		{"a kept file was changed since", plus(b, "z", "mine 2"), map[string]map[string][]byte{
			whole: plus(a, "z", "mine 1")}, "x=x of b;z=mine 2;"},
		{"between two renames", nil, map[string]map[string][]byte{old: plus(a, "z", "mine"), whole: b},
			"x=x of a;z=mine;"},
		{"after two renames", b, map[string]map[string][]byte{old: plus(a, "z", "mine")}, "x=x of b;z=mine;"},
		{"before anything", nil, map[string]map[string][]byte{}, "./=;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			dir := filepath.Join(parent, "dir")
			if c.dir != nil {
				spread(t, dir, c.dir)
			}
			spread(t, hidden(dir), map[string][]byte{lockFile: nil}) // a lock of no process
			for name, files := range c.work {
				spread(t, filepath.Join(hidden(dir), name), files)
			}
			f, err := ClaimFolder(dir, nil)
			if err == nil {
				err = f.ReleaseClaim()
			}
			left, _ := os.ReadDir(parent)
			if err != nil || len(left) != min(1, len(left)) {
				t.Fatal(err, left)
			}
			if c.dir == nil && len(c.work) == 0 {
				dir = parent
			}
			if got := texts(tree(t, dir)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestLasting checks that lasting folders are in the next folder, too, whatever happens to the process in between,
// and that scratch folders are not.
func TestLasting(t *testing.T) {
	t.Parallel()
	a, b := build(t, "a", "hls/x"), build(t, "b", "hls/x")
	made := map[string][]byte{"hls/made/1": []byte("1"), "hls/lasts/one/2": []byte("2")}
	claim := func(dir string) *ClaimedFolder {
		f, err := ClaimFolder(dir, []string{"hls/made"}, "hls/lasts")
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	const want = "hls/lasts/one/2=2;hls/x=hls/x of b;"
	for _, how := range []ReplacePolicy{ReplaceOurs, ReplaceKeepingForeign} {
		dir := filepath.Join(t.TempDir(), "dir")
		spread(t, dir, a)
		spread(t, dir, made)
		f := claim(dir)
		kept, err := f.ReplaceContents(b, how)
		if err = errors.Join(err, f.ReleaseClaim()); err != nil || len(kept) > 0 || texts(tree(t, dir)) != want {
			t.Errorf("%v: %v, %v, %s", how, err, kept, texts(tree(t, dir)))
		}
	}
	dir := filepath.Join(t.TempDir(), "dir") // killed after the exchange
	spread(t, dir, b)
	spread(t, filepath.Join(hidden(dir), whole), a)
	spread(t, filepath.Join(hidden(dir), whole), made)
	if err := claim(dir).ReleaseClaim(); err != nil || texts(tree(t, dir)) != want {
		t.Errorf("%v, %s", err, texts(tree(t, dir)))
	}
}

// TestSwap checks the method for systems that cannot exchange folders, and that a folder which cannot be replaced
// stays.
func TestSwap(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	f, err := ClaimFolder(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(f.work, whole)
	spread(t, dir, map[string][]byte{"a": nil})
	if err := f.swap(ready); err == nil {
		t.Error("a missing folder was put in place")
	}
	if got := texts(tree(t, dir)); got != "a=;" {
		t.Error(got)
	}
	spread(t, ready, map[string][]byte{"b": nil})
	if err := f.swap(ready); err != nil || texts(tree(t, dir)) != "b=;" || texts(tree(t, ready)) != "a=;" {
		t.Error(err, tree(t, parent))
	}
}

// TestClaim checks that one process has a place, that the next one gets it afterwards, and that nothing is left
// behind.
func TestClaim(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "a", "b", "dir")
	f, err := ClaimFolder(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	busy := new(PlaceBusyError)
	if _, err := ClaimFolder(dir, nil); !errors.As(err, &busy) {
		t.Errorf("claimed twice: %v", err)
	}
	other, err := ClaimFolder(filepath.Join(filepath.Dir(dir), "other"), nil)
	if err = errors.Join(err, other.ReleaseClaim(), f.ReleaseClaim()); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if _, err := ClaimFolder(filepath.Join(parent, strings.Repeat("n", 250)), nil); err != nil {
		t.Errorf("a long name: %v", err)
	}
}

// TestTogether lets many goroutines put folders in one place at once. Each either puts a folder or gets a
// PlaceBusyError, and the place has a complete folder at all times.
func TestTogether(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	parent := t.TempDir()
	dir := filepath.Join(parent, "dir")
	if _, err := put(dir, build(t, "0", "x", "y"), ReplaceNothing); err != nil {
		t.Fatal(err)
	}
	probe := exchange(filepath.Join(parent, "no"), dir)
	atomic := !errors.Is(probe, errors.ErrUnsupported)
	var wg sync.WaitGroup
	done := make(chan struct{})
	puts := 0
	var mu sync.Mutex
	for _, name := range []string{"1", "2", "3", "4"} {
		files := build(t, name, "x", "y")
		wg.Go(func() {
			for range 50 {
				_, err := put(dir, files, ReplaceOurs)
				if busy := new(PlaceBusyError); err != nil && !errors.As(err, &busy) {
					t.Error(err)
				} else if err == nil {
					mu.Lock()
					puts++
					mu.Unlock()
				}
			}
		})
	}
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := os.Stat(filepath.Join(dir, ManifestFileName)); err != nil && atomic {
				t.Error("the folder was away: ", err)
				return
			}
		}
	})
	wg.Wait()
	close(done)
	watch.Wait()
	there, err := InspectFolder(dir, nil)
	left, _ := os.ReadDir(parent)
	if err != nil || there.NotOursReason != nil || len(there.strangers()) > 0 || len(left) != 1 || puts == 0 {
		t.Errorf("%+v, %v, %v, %d puts", there, err, left, puts)
	}
}

// TestWriteFile checks what single files replace, and that errors name no file that the user did not name.
func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	spread(t, dir, map[string][]byte{"old": []byte("old"), "folder/": nil})
	spread(t, dir, map[string][]byte{filepath.Base(hidden(at("new"))): []byte("of a killed process")})
	for _, name := range []string{"old", "new"} {
		if err := WriteFileAtomically(at(name), []byte(name)); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(at(name)); err != nil || string(b) != name {
			t.Errorf("%q, %v", b, err)
		}
	}
	for name, want := range map[string]string{"folder": "folder: something other than a file has that name",
		"missing/file": "file: no such file or directory"} {
		if err := WriteFileAtomically(at(name), nil); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	lock, err := LockPath(at("old"))
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFileAtomically(at("old"), nil); err == nil ||
		err.Error() != "old: is being written by another hlsgen" {
		t.Error(err)
	}
	lock.RemoveAndUnlock()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Error(left, err)
	}
}

// TestScratch checks folders of this process, of an ended process, and of a running process, for which another lock
// stands.
func TestScratch(t *testing.T) {
	t.Parallel()
	kind := fmt.Sprintf("hlsgen-owned-test-%d", rand.Uint64())
	at := func(name string) string { return filepath.Join(os.TempDir(), kind+name) }
	left, runs, other := at(".1.left"), at(".1.runs"), at("-other.1.left")
	for _, dir := range []string{left, runs, other} {
		if err := os.MkdirAll(filepath.Join(dir, "hls"), 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
	}
	file := at(".1.file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	held, ok := hold(runs)
	if !ok {
		t.Skip("the file system of temporary files has no locks")
	}
	defer held.Close()

	var dirs [2]string
	var release [2]func() error
	for i := range dirs {
		var err error
		if dirs[i], release[i], err = MakeScratchFolder(kind); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{file, dirs[0], dirs[1], runs}
	if got := scratch(kind + "."); !sameElements(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("a folder of another kind is gone")
	}
	if err := release[0](); err != nil {
		t.Error(err)
	}
	if err := RemoveOwnScratchFolders(kind); err != nil {
		t.Error(err)
	}
	if got := scratch(kind + "."); !sameElements(got, []string{file, runs}) {
		t.Errorf("behind the release there is %q", got)
	}
}

func sameElements(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// TestGiveUp gives up a claim under which nothing was written, and one under which a folder is being written. The first
// leaves nothing, the second all.
func TestGiveUp(t *testing.T) {
	root := t.TempDir()
	idle, err := ClaimFolder(filepath.Join(root, "parent", "idle"), nil)
	if err != nil {
		t.Fatal(err)
	}
	busy, err := ClaimFolder(filepath.Join(root, "busy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(busy.work, fresh), 0o700); err != nil {
		t.Fatal(err)
	}
	ReleaseUnusedClaims()
	for _, f := range []*ClaimedFolder{idle, busy} {
		if _, err := os.Stat(f.work); (err == nil) != (f == busy) {
			t.Errorf("%s: %v", f.work, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "parent")); err == nil {
		t.Error("the parent that the claim made is there")
	}
	for _, f := range []*ClaimedFolder{idle, busy} {
		if err := f.ReleaseClaim(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(busy.work); err == nil {
		t.Error("a released claim has its hidden folder")
	}
}
