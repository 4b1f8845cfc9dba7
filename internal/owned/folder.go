// Package owned puts files and folders in their places: whole or not at all, by one process at a time, and never over
// what somebody else wrote. A folder's manifest.json lists what hlsgen wrote there; everything else is a stranger. In
// folders that are shared with others, hlsgen.sha256 does.
//
//	folder.go    a place for a folder: claimed, written beside, exchanged
//	record.go    the list of a folder's files, and what is there by that list
//	strangers.go carries what is not ours into the folder that takes the place
//	shared.go    files in folders that others write to as well
//	file.go      single files
//	lock.go      one process at a time; what a killed one left is taken over
//	scratch.go   temporary folders, and what is left of those of killed processes
//
// What systems have: system_linux.go, system_darwin.go and system_rest.go exchange, system_unix.go and system_other.go
// lock.
//
// In come paths and bytes; out come folders and files, or who is in the way. It sees regular.
package owned

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Folder is the place of a folder that this process alone writes to, from Claim to Release.
type Folder struct {
	dir     string   // absolute, without symbolic links
	scratch []string // lasting ones among them
	lasting []string
	work    string // beside it: what is being written
	lock    *Lock
	made    []string // parents that were made for it, the deepest first
}

// A How says what may be there already.
type How int

// What Put does with the folder that is there: it must be empty; it must be ours and is replaced; or it must be ours,
// and strangers in it stay.
const (
	Fresh How = iota
	Replace
	Keep
)

// The names in the folder beside the place.
const (
	lockFile = "lock"
	fresh    = "new"   // being written
	whole    = "whole" // written; after the exchange, what stood at the place
	old      = "old"   // what stood there, where the system cannot exchange
)

// Claim takes the place of a folder, an absolute path, and finishes what a killed process left of it. scratch are the
// folders below, with slashes, that the folder's own scripts make: they go with it, but for the lasting ones, which
// the next folder has, too. The error is a *BusyError where another process has the place.
func Claim(dir string, scratch []string, lasting ...string) (*Folder, error) {
	f := &Folder{dir: dir, scratch: slices.Concat(scratch, lasting), lasting: lasting, work: hidden(dir)}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		f.made = append(f.made, at)
	}
	if to, err := os.Readlink(dir); err == nil {
		return nil, fmt.Errorf("it is a link to %q, where nothing is", to)
	}
	for range attempts {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			f.unmake()
			return nil, cause(err)
		}
		made := os.Mkdir(f.work, 0o700)
		if made != nil && !errors.Is(made, fs.ErrExist) {
			f.unmake()
			return nil, cause(made)
		}
		switch info, err := os.Lstat(f.work); {
		case err != nil || made == nil:
		case !info.IsDir():
			return nil, &WayError{f.work, "it is no folder"}
		case !ours(info):
			return nil, &WayError{f.work, theirs}
		}
		lock, err := acquire(filepath.Join(f.work, lockFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process ends just now, and took its folder along
		}
		if err != nil {
			return nil, cause(err)
		}
		f.lock = lock
		if err := f.recover(); err != nil {
			f.Release() // what it cannot remove is what recover could not
			return nil, cause(err)
		}
		return f, nil
	}
	return nil, &BusyError{}
}

// Release gives the place free. Of a folder that was not put there it leaves nothing.
func (f *Folder) Release() error {
	err := os.RemoveAll(filepath.Join(f.work, fresh))
	f.lock.Release()
	os.Remove(f.work) // not where the next process is in it already
	f.unmake()
	return cause(err)
}

// unmake removes the parents that were made, where nothing is in them.
func (f *Folder) unmake() {
	for _, dir := range f.made {
		if os.Remove(dir) != nil {
			break
		}
	}
}

// Inspect looks at what is at the place; the error is a *StrangersError where it may not be replaced so.
func (f *Folder) Inspect(how How) (*Contents, error) {
	there, err := Inspect(f.dir, f.scratch)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := there.allow(how); err != nil || there.Empty {
		return there, err
	}
	path, err := stuck(f.dir, f.lasting)
	if err == nil && path != "" {
		err = &StuckError{path}
	}
	return there, err
}

// unreadable is an error of reading a folder, with the path: it may lie deep below it.
func unreadable(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
		return &StuckError{path.Path}
	}
	return cause(err)
}

// A StuckError names what lies in a folder and cannot be removed, so that no other one can take its place.
type StuckError struct{ Path string }

func (e *StuckError) Error() string {
	return fmt.Sprintf("holds %q, which this user may not remove", e.Path)
}

// stuck is the path of what this user cannot remove from a folder; "" where all of it goes. The lasting folders are
// moved as they are.
func stuck(dir string, lasting []string) (at string, err error) {
	err = filepath.WalkDir(dir, func(full string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			at = full
			return fs.SkipAll
		}
		if err != nil || !e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		moved := err == nil && slices.Contains(lasting, filepath.ToSlash(rel))
		entries, err := os.ReadDir(full)
		switch {
		case !moved && errors.Is(err, fs.ErrPermission), (moved || len(entries) > 0) && !changeable(full):
			at = full
			return fs.SkipAll
		case moved:
			return fs.SkipDir
		case err != nil:
			return err
		}
		if at = kept(full, e, entries); at != "" {
			return fs.SkipAll
		}
		return nil
	})
	return at, err
}

// kept is the path of an entry that a sticky folder of another user keeps, as it is another user's, too.
func kept(dir string, e fs.DirEntry, entries []fs.DirEntry) string {
	info, err := e.Info()
	if err != nil || info.Mode()&fs.ModeSticky == 0 || ours(info) || os.Geteuid() == 0 {
		return ""
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && !ours(info) {
			return filepath.Join(dir, entry.Name())
		}
	}
	return ""
}

// A LeftError says that a folder is in its place, and what of the one that stood there cannot be removed.
type LeftError struct {
	Path string
	Err  error
}

func (e *LeftError) Error() string {
	return fmt.Sprintf("%q, of a folder that was replaced, cannot be removed: %v", e.Path, e.Err)
}

func (e *LeftError) Unwrap() error { return e.Err }

// discard removes what has been replaced.
func discard(left string) error {
	err := os.RemoveAll(left)
	if path := new(fs.PathError); errors.As(err, &path) {
		return &LeftError{path.Path, path.Err}
	}
	return err
}

// Put puts a folder of these files in its place, whole or not at all: paths have slashes, and one of them is the
// manifest. It returns the strangers that stayed, or a *StrangersError of those that are in the way.
func (f *Folder) Put(files map[string][]byte, how How) (kept []string, err error) {
	kept, err = f.put(files, how)
	return kept, cause(err)
}

func (f *Folder) put(files map[string][]byte, how How) ([]string, error) {
	there, err := f.Inspect(how)
	if err != nil {
		return nil, err
	}
	next := filepath.Join(f.work, fresh)
	for path, data := range files {
		full := filepath.Join(next, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			return nil, err
		}
	}
	for _, path := range there.strangers() {
		if err := carry(f.dir, next, path); err != nil {
			return nil, err
		}
	}
	ready := filepath.Join(f.work, whole)
	if err := os.Rename(next, ready); err != nil {
		return nil, err
	}
	if err := f.exchange(ready); err != nil {
		return nil, errors.Join(err, os.RemoveAll(ready))
	}
	return there.strangers(), f.settle(ready)
}

// exchange puts the folder that is ready in its place, and what stood there, if anything did, in its stead.
func (f *Folder) exchange(ready string) error {
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(ready, f.dir)
	}
	err := exchange(ready, f.dir)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.swap(ready)
}

// swap exchanges in two steps; recover knows what to do between them.
func (f *Folder) swap(ready string) error {
	aside := filepath.Join(f.work, old)
	if err := os.Rename(f.dir, aside); err != nil {
		return err
	}
	if err := os.Rename(ready, f.dir); err != nil {
		return errors.Join(err, os.Rename(aside, f.dir))
	}
	return os.Rename(aside, ready)
}

// recover finishes or undoes what a killed process has begun.
func (f *Folder) recover() error {
	aside := filepath.Join(f.work, old)
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(aside, f.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(discard(filepath.Join(f.work, fresh)), f.settle(aside),
		f.settle(filepath.Join(f.work, whole)))
}

// settle removes a folder that has been replaced, or was never put in its place. A stranger in it that is not at the
// place as well goes there first.
func (f *Folder) settle(left string) error {
	was, err := Inspect(left, f.scratch)
	if err != nil || was.absent {
		return err
	}
	is, err := Inspect(f.dir, f.scratch)
	if err != nil {
		return err
	}
	for _, path := range was.strangers() {
		if is.stranger(path) {
			continue // the one that the user sees counts
		}
		if err := carry(left, f.dir, path); err != nil {
			return err
		}
	}
	for _, path := range f.lasting {
		if err := hand(left, f.dir, filepath.FromSlash(path)); err != nil {
			return err
		}
	}
	return discard(left)
}

// hand moves a folder below from to the same place below to, where there is none yet.
func hand(from, to, path string) error {
	if _, err := os.Lstat(filepath.Join(to, path)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := os.Lstat(filepath.Join(from, path)); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(to, path)), 0o755); err != nil {
		return err
	}
	return os.Rename(filepath.Join(from, path), filepath.Join(to, path))
}

// hidden is the path beside a path where it is written first. It is the same every time, so that a process finds what
// a killed one has left.
func hidden(path string) string {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), ".hlsgen-"+hex.EncodeToString(sum[:8]))
}

// cause is an error without the paths that the user never named.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var left *LeftError
	switch {
	case errors.As(err, &left):
		return left
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
