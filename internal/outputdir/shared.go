package outputdir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/safefile"
)

// SharedFileListName is the name of the list of files that hlsgen wrote into a shared folder, with one line per file as
// sha256sum prints it.
const SharedFileListName = "hlsgen.sha256"

// listHead is the first line of the list, by which it is recognised.
const listHead = "# what hlsgen wrote here, as sha256sum -c takes it\n"

// A SharedFolder is a folder in which hlsgen writes files beside those of others. It replaces only files that hlsgen
// itself has written and nobody has changed.
type SharedFolder struct {
	dir   string
	lock  *PathLock
	wrote map[string][]string // by name, the digests of files that hlsgen wrote there, the newest last
	list  *os.File            // open for appending lines; nil before the first line
}

// OpenSharedFolder makes the folder dir, if there is none, and claims it until ReleaseClaim. Errors include
// *PlaceBusyError, if another process has claimed it, and *ForeignFilesError, if hlsgen did not write its list of
// files. *HiddenPathOccupiedError is one as well.
func OpenSharedFolder(dir string) (*SharedFolder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, cause(err)
	}
	lock, err := LockPath(filepath.Join(dir, SharedFileListName+" lock"))
	if err != nil {
		return nil, err
	}
	s := &SharedFolder{dir: dir, lock: lock}
	if s.wrote, err = listed(filepath.Join(dir, SharedFileListName)); err != nil {
		lock.RemoveAndUnlock()
		return nil, cause(err)
	}
	return s, nil
}

// listed returns the hashes in a list, by file name; several count while one replaces another. A missing list is empty;
// lines that a killed process left incomplete are ignored. The error is a *ForeignFilesError if hlsgen did not write
// the list.
func listed(path string) (map[string][]string, error) {
	wrote := map[string][]string{}
	b, err := safefile.ReadRegularFile(path, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return wrote, nil
	}
	rest, ours := bytes.CutPrefix(b, []byte(listHead))
	if err != nil || !ours {
		return nil, &ForeignFilesError{&FolderInspection{Foreign: []string{SharedFileListName}}}
	}
	for line := range strings.Lines(string(rest)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if ok && strings.HasSuffix(line, "\n") {
			wrote[name] = append(wrote[name], sum)
		}
	}
	return wrote, nil
}

// CheckMayWrite returns nil if files with these names may be written: if each is missing, or is as hlsgen wrote it.
// Otherwise the error is a *ForeignFilesError with the other files.
func (s *SharedFolder) CheckMayWrite(names ...string) error {
	c := &FolderInspection{}
	for _, name := range names {
		full := filepath.Join(s.dir, name)
		info, err := os.Lstat(full)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return cause(err)
		case len(s.wrote[name]) == 0:
			c.Foreign = append(c.Foreign, name)
			continue
		}
		if !slices.ContainsFunc(s.wrote[name], func(sum string) bool {
			return (WrittenFile{name, info.Size(), sum}).is(full, fs.FileInfoToDirEntry(info))
		}) {
			c.Changed = append(c.Changed, name)
		}
	}
	if len(c.strangers()) > 0 {
		return &ForeignFilesError{c}
	}
	return nil
}

// WriteOwnFile writes a file completely or not at all, and adds it to the list first. The name has no folders. The
// error is a *ForeignFilesError if a file with that name is not ours.
func (s *SharedFolder) WriteOwnFile(name string, data []byte) error {
	if err := s.CheckMayWrite(name); err != nil {
		return err
	}
	if s.list == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	// While the new content replaces the old one, both count as ours.
	s.wrote[name] = append(s.wrote[name], digest(data))
	if _, err := fmt.Fprintf(s.list, "%s  %s\n", digest(data), name); err != nil {
		return cause(err)
	}
	return WriteFileAtomically(filepath.Join(s.dir, name), data)
}

// begin writes the list as it is known and opens it, so that further lines can be appended.
func (s *SharedFolder) begin() (err error) {
	path := filepath.Join(s.dir, SharedFileListName)
	if err := s.write(); err != nil {
		return err
	}
	s.list, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	return cause(err)
}

// write writes the whole list anew, sorted by name.
func (s *SharedFolder) write() error {
	b := []byte(listHead)
	for _, name := range slices.Sorted(maps.Keys(s.wrote)) {
		for _, sum := range s.wrote[name] {
			b = fmt.Appendf(b, "%s  %s\n", sum, name)
		}
	}
	return WriteFileAtomically(filepath.Join(s.dir, SharedFileListName), b)
}

// ReleaseClaim gives up the claim to the folder. If WriteOwnFile has written to the list, it first writes the list
// anew, with one line per file.
func (s *SharedFolder) ReleaseClaim() error {
	defer s.lock.RemoveAndUnlock()
	if s.list == nil {
		return nil
	}
	for name, sums := range s.wrote {
		s.wrote[name] = sums[len(sums)-1:]
	}
	return errors.Join(cause(s.list.Close()), s.write())
}
