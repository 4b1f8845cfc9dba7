// Package outputdir writes files and folders completely or not at all. Only one process at a time writes to a place,
// and none overwrites what somebody else wrote. A folder's manifest.json lists the files that hlsgen wrote there.
// All other files are called strangers. In folders shared with others, hlsgen.sha256 is the list.
//
//	folder.go    the place of a folder: claim it, write the new folder beside it, exchange the two
//	record.go    the list of a folder's files, and what the folder holds according to that list
//	strangers.go carries strangers into the new folder
//	shared.go    files in folders to which others write as well
//	file.go      single files
//	lock.go      locks: one process at a time; takes over what a killed process left
//	scratch.go   temporary folders, and removal of those that killed processes left
//
// The system decides the rest: system_linux.go, system_darwin.go and system_rest.go exchange folders,
// system_unix.go and system_other.go lock files.
//
// In come paths and bytes; out come folders and files, or who is in the way.
package outputdir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A ClaimedFolder is the place of a folder to which, from ClaimFolder to ReleaseClaim, only this process writes.
type ClaimedFolder struct {
	dir     string   // absolute, without symbolic links
	scratch []string // folders below that the folder's own scripts make, including lasting ones
	lasting []string // those of scratch that the next folder keeps
	work    string   // hidden folder beside the place, for what is being written
	lock    *PathLock
	made    []string // parents that were made for it, the deepest first
}

// A ReplacePolicy tells InspectForReplacement and ReplaceContents which present folder a new one may replace.
type ReplacePolicy int

// The policies. ReplaceNothing wants an empty folder or none, ReplaceOurs a folder without strangers, and
// ReplaceKeepingForeign one of ours whose strangers stay.
const (
	ReplaceNothing ReplacePolicy = iota
	ReplaceOurs
	ReplaceKeepingForeign
)

// The names in the hidden folder beside the place.
const (
	lockFile = "lock"
	fresh    = "new"   // the new folder while it is written
	whole    = "whole" // the new folder once complete; after the exchange, the former folder
	old      = "old"   // the former folder, where the system cannot exchange folders
)

// ClaimFolder claims the place of a folder, an absolute path, and completes what a killed process left. It makes
// missing parents. scratch and lasting are folders in it, with slashes, that its scripts make. The next folder keeps
// only lasting ones. Errors include *PlaceBusyError, if another process has the claim, and *HiddenPathOccupiedError.
func ClaimFolder(dir string, scratch []string, lasting ...string) (*ClaimedFolder, error) {
	f := &ClaimedFolder{dir: dir, scratch: slices.Concat(scratch, lasting), lasting: lasting, work: hidden(dir)}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		f.made = append(f.made, at)
	}
	if to, err := os.Readlink(dir); err == nil {
		return nil, fmt.Errorf("it is a link to %q, which does not exist", to)
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
			return nil, &HiddenPathOccupiedError{f.work, "it is no folder"}
		case !ours(info):
			return nil, &HiddenPathOccupiedError{f.work, theirs}
		}
		lock, err := acquire(filepath.Join(f.work, lockFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process is just ending and has removed its folder
		}
		if err != nil {
			return nil, cause(err)
		}
		f.lock = lock
		claims.Lock()
		claims.live[f] = true
		claims.Unlock()
		if err := f.recover(); err != nil {
			f.ReleaseClaim() // ignore the error: recover has reported the same
			return nil, cause(err)
		}
		return f, nil
	}
	return nil, &PlaceBusyError{}
}

// ReleaseClaim gives up the claim, and removes what was written of a folder that was not put in its place. It also
// removes parents that ClaimFolder made and that are still empty. It does nothing for a claim that is already released.
func (f *ClaimedFolder) ReleaseClaim() error {
	claims.Lock()
	defer claims.Unlock()
	if !claims.live[f] {
		return nil // ReleaseUnusedClaims was called
	}
	delete(claims.live, f)
	err := os.RemoveAll(filepath.Join(f.work, fresh))
	f.lock.RemoveAndUnlock()
	os.Remove(f.work) // fails if the next process is already in it
	f.unmake()
	return cause(err)
}

// claims holds the folders that this process has claimed and not released.
var claims = struct {
	sync.Mutex
	live map[*ClaimedFolder]bool
}{live: map[*ClaimedFolder]bool{}}

// ReleaseUnusedClaims releases the claims of this process under which nothing was written yet. A process calls it that
// ends before it has released them. Other claims are left to the next claim of the place, because a folder may be in
// the middle of its way there.
func ReleaseUnusedClaims() {
	claims.Lock()
	defer claims.Unlock()
	for f := range claims.live {
		entries, err := os.ReadDir(f.work)
		if err != nil || len(entries) > 1 { // more than the lock
			continue
		}
		delete(claims.live, f)
		f.lock.RemoveAndUnlock()
		os.Remove(f.work)
		f.unmake()
	}
}

// unmake removes the parents that ClaimFolder made, from the innermost on, as far as they are empty.
func (f *ClaimedFolder) unmake() {
	for _, dir := range f.made {
		if os.Remove(dir) != nil {
			break
		}
	}
}

// InspectForReplacement examines the present folder. The error is a *ForeignFilesError if the policy how forbids
// replacing it. It is an *UnremovableEntryError if an entry of it cannot be removed, or not be read for lack of
// permission.
func (f *ClaimedFolder) InspectForReplacement(how ReplacePolicy) (*FolderInspection, error) {
	there, err := InspectFolder(f.dir, f.scratch)
	if err != nil {
		return nil, unreadable(err)
	}
	if err := there.allow(how); err != nil || there.Empty {
		return there, err
	}
	path, err := stuck(f.dir, f.lasting)
	if err == nil && path != "" {
		err = &UnremovableEntryError{path}
	}
	return there, err
}

// unreadable returns an *UnremovableEntryError with the path if an error denies permission to read an entry, and
// otherwise its cause.
func unreadable(err error) error {
	if path := new(fs.PathError); errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
		return &UnremovableEntryError{path.Path}
	}
	return cause(err)
}

// An UnremovableEntryError names an entry of a folder that cannot be removed, so that no other folder can take its
// place.
type UnremovableEntryError struct{ Path string }

func (e *UnremovableEntryError) Error() string {
	return fmt.Sprintf("holds %q, which this user may not remove", e.Path)
}

// stuck returns the path of an entry that this user cannot remove from a folder, or "" if all can be removed. The
// folders in lasting only have to be moved.
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

// kept returns the path of an entry of folder dir that this user cannot remove, since dir is sticky and both belong to
// others. It returns "" if there is none.
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

// A FormerFolderLeftError states that the new folder is in its place, but a part of the former folder cannot be
// removed.
type FormerFolderLeftError struct {
	Path string
	Err  error
}

func (e *FormerFolderLeftError) Error() string {
	return fmt.Sprintf("%q, of a folder that was replaced, cannot be removed: %v", e.Path, e.Err)
}

func (e *FormerFolderLeftError) Unwrap() error { return e.Err }

// discard removes a folder that has been replaced. The error is a *FormerFolderLeftError if a part of it stays.
func discard(left string) error {
	err := os.RemoveAll(left)
	if path := new(fs.PathError); errors.As(err, &path) {
		return &FormerFolderLeftError{path.Path, path.Err}
	}
	return err
}

// ReplaceContents puts a folder with these files in its place, completely or not at all. Paths have slashes; one file
// must be the manifest. It returns the strangers that were kept. Errors include those of InspectForReplacement,
// *FileTypeConflictError, and *FormerFolderLeftError, with which the new folder is in place.
func (f *ClaimedFolder) ReplaceContents(files map[string][]byte, how ReplacePolicy) (kept []string, err error) {
	kept, err = f.put(files, how)
	return kept, cause(err)
}

// put does what ReplaceContents does, but its errors may have paths that the user never named.
func (f *ClaimedFolder) put(files map[string][]byte, how ReplacePolicy) ([]string, error) {
	there, err := f.InspectForReplacement(how)
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

// exchange puts the complete new folder, ready, in its place. The former folder, if there is one, moves to where the
// new one was.
func (f *ClaimedFolder) exchange(ready string) error {
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(ready, f.dir)
	}
	err := exchange(ready, f.dir)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return f.swap(ready)
}

// swap does what exchange does in several steps, for systems that cannot do it in one. If the process is killed in
// between, recover completes it.
func (f *ClaimedFolder) swap(ready string) error {
	aside := filepath.Join(f.work, old)
	if err := os.Rename(f.dir, aside); err != nil {
		return err
	}
	if err := os.Rename(ready, f.dir); err != nil {
		return errors.Join(err, os.Rename(aside, f.dir))
	}
	return os.Rename(aside, ready)
}

// recover completes or undoes what a killed process has begun with the place, and removes its leftovers.
func (f *ClaimedFolder) recover() error {
	aside := filepath.Join(f.work, old)
	if _, err := os.Lstat(f.dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(aside, f.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(discard(filepath.Join(f.work, fresh)), f.settle(aside),
		f.settle(filepath.Join(f.work, whole)))
}

// settle removes the folder left, which was replaced or never put in its place. First it carries over strangers and
// lasting folders that the present folder lacks.
func (f *ClaimedFolder) settle(left string) error {
	was, err := InspectFolder(left, f.scratch)
	if err != nil || was.absent {
		return err
	}
	is, err := InspectFolder(f.dir, f.scratch)
	if err != nil {
		return err
	}
	for _, path := range was.strangers() {
		if is.stranger(path) {
			continue // the version that the user sees wins
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

// hand moves the folder path below from to the same path below to. It does nothing if there is no such folder, or
// something exists at the new place.
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

// hidden returns the hidden path, beside a path, at which things are written first. It depends on the path alone, so
// that a process finds what a killed one has left.
func hidden(path string) string {
	sum := sha256.Sum256([]byte(filepath.Base(path)))
	return filepath.Join(filepath.Dir(path), ".hlsgen-"+hex.EncodeToString(sum[:8]))
}

// cause returns the cause inside an error of a file operation, without paths that the user never named. A
// *FormerFolderLeftError and other errors stay as they are.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	var left *FormerFolderLeftError
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
