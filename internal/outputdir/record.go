package outputdir

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// ManifestFileName is the name of the file that contains a folder's ManifestRecord.
const ManifestFileName = "manifest.json"

// maxManifest limits the bytes that are read of a manifest.
const maxManifest = 16 << 20

// A ManifestRecord is the part of a folder's manifest that lists the files that hlsgen wrote, with a seal.
type ManifestRecord struct {
	Files []WrittenFile `json:"files"` // all files except the manifest, by path
	Seal  string        `json:"seal"`  // SHA-256 of the manifest with zeros in place of the seal
}

// A WrittenFile is the path, size and hash of a file that hlsgen wrote.
type WrittenFile struct {
	Path   string `json:"path"` // path below the folder, with slashes
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// unsealed stands in a manifest in place of the seal, until SealManifest puts the seal there.
var unsealed = strings.Repeat("0", 2*sha256.Size)

// UnsealedRecordOf returns the record of files by path, sorted and not sealed yet. The manifest is not among them.
func UnsealedRecordOf(files map[string][]byte) ManifestRecord {
	r := ManifestRecord{Seal: unsealed}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		r.Files = append(r.Files, WrittenFile{path, int64(len(files[path])), digest(files[path])})
	}
	return r
}

// SealManifest returns a copy of a manifest with the seal, a hash of the whole manifest. The manifest must contain an
// unsealed ManifestRecord, in which the seal replaces zeros.
func SealManifest(manifest []byte) []byte {
	at := bytes.LastIndex(manifest, []byte(unsealed))
	out := bytes.Clone(manifest)
	copy(out[at:], digest(manifest))
	return out
}

// digest returns the SHA-256 of b in hexadecimal digits.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// recorded returns the record in the manifest of a folder. The error states why the manifest shows no folder of ours:
// it is missing, unreadable or changed.
func recorded(dir string) (ManifestRecord, error) {
	var r ManifestRecord
	b, err := safefile.ReadRegularFile(filepath.Join(dir, ManifestFileName), maxManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, fmt.Errorf("it has no %s", ManifestFileName)
	case err != nil:
		return r, cause(err)
	case json.Unmarshal(b, &r) != nil || len(r.Files) == 0:
		return r, fmt.Errorf("its %s does not list files that hlsgen wrote", ManifestFileName)
	}
	at := bytes.LastIndex(b, []byte(r.Seal))
	blank := bytes.Clone(b)
	if copy(blank[at:], unsealed); len(r.Seal) != len(unsealed) || digest(blank) != r.Seal {
		return r, fmt.Errorf("its %s was changed since hlsgen wrote it", ManifestFileName)
	}
	return r, nil
}

// A FolderInspection holds what InspectFolder found in a folder: the files that are not as hlsgen wrote them. It does
// not tell files that are missing. Nothing is listed if the folder is not ours.
type FolderInspection struct {
	Empty         bool     // the folder is empty or does not exist
	NotOursReason error    // why the folder is not ours; nil if it is, or is empty
	Changed       []string // files that hlsgen wrote and somebody changed, by path
	// files, and folders without files, that hlsgen did not write, by path; folders end in a slash
	Foreign []string

	absent bool
}

// InspectFolder examines the folder dir, which may be missing. What is below the folders listed in scratch counts as
// neither foreign nor changed.
func InspectFolder(dir string, scratch []string) (*FolderInspection, error) {
	c := &FolderInspection{}
	entries, err := os.ReadDir(dir)
	if c.absent = errors.Is(err, fs.ErrNotExist); c.absent || err == nil && len(entries) == 0 {
		c.Empty = true
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	r, alien := recorded(dir)
	if c.NotOursReason = alien; alien != nil {
		return c, nil
	}
	ours := map[string]WrittenFile{}
	for _, f := range r.Files {
		ours[f.Path] = f
	}
	used := map[string]bool{ManifestFileName: true} // the manifest and every folder that is not empty
	var folders []string
	err = filepath.WalkDir(dir, func(full string, e fs.DirEntry, err error) error {
		if err != nil || full == dir {
			return err
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		path := filepath.ToSlash(rel)
		for at := parent(path); at != ""; at = parent(at) {
			used[at] = true
		}
		f, known := ours[path]
		switch {
		case e.IsDir() && slices.Contains(scratch, path):
			return fs.SkipDir
		case e.IsDir():
			folders = append(folders, path)
		case path == ManifestFileName:
		case !known:
			c.Foreign = append(c.Foreign, path)
		case !f.is(full, e):
			c.Changed = append(c.Changed, path)
		}
		return nil
	})
	for _, path := range folders {
		if !used[path] {
			c.Foreign = append(c.Foreign, path+"/")
		}
	}
	slices.Sort(c.Foreign)
	return c, err
}

// is reports whether the file at a full path, whose entry is e, has the size and content that hlsgen wrote.
func (f WrittenFile) is(full string, e fs.DirEntry) bool {
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.Bytes {
		return false
	}
	b, err := safefile.ReadRegularFile(full, f.Bytes)
	return (err == nil || errors.Is(err, safefile.ErrEmptyFile)) && digest(b) == f.SHA256
}

// parent returns the folder of a path with slashes, or "" at the top.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

// strangers returns, in a new slice, the paths of the files that were changed since hlsgen wrote them. Then follow the
// files and the folders without files that it did not write. The path of a folder ends in a slash.
func (c *FolderInspection) strangers() []string { return append(slices.Clone(c.Changed), c.Foreign...) }

// stranger reports whether the path is one of those that strangers returns.
func (c *FolderInspection) stranger(path string) bool {
	return slices.Contains(c.Changed, path) || slices.Contains(c.Foreign, path)
}

// allow returns a *ForeignFilesError if the policy how does not allow to replace the folder, and nil otherwise.
func (c *FolderInspection) allow(how ReplacePolicy) error {
	switch {
	case c.Empty:
		return nil
	case how == ReplaceNothing:
		return &ForeignFilesError{}
	case c.NotOursReason != nil, how == ReplaceOurs && len(c.strangers()) > 0:
		return &ForeignFilesError{c}
	}
	return nil
}

// A ForeignFilesError states that the files at a place may not be replaced, since hlsgen did not write them all. It has
// their FolderInspection, or nil if the place need only be empty.
type ForeignFilesError struct {
	There *FolderInspection // nil if nothing at all may exist there
}

func (e *ForeignFilesError) Error() string {
	switch {
	case e.There == nil:
		return "exists and is not empty"
	case e.There.NotOursReason != nil:
		return "is no build of hlsgen, and --force does not replace it: " + e.There.NotOursReason.Error()
	}
	var parts []string
	for _, p := range []struct {
		what  string
		paths []string
	}{{"what hlsgen did not write", e.There.Foreign}, {"what was changed since hlsgen wrote it", e.There.Changed}} {
		if len(p.paths) > 0 {
			parts = append(parts, p.what+": "+QuoteFirstPaths(p.paths))
		}
	}
	return "holds " + strings.Join(parts, "; and ")
}

// QuoteFirstPaths returns a text with the first five paths in quotes, and the number of the others. It returns
// "nothing" if there are no paths.
func QuoteFirstPaths(paths []string) string {
	const most = 5
	var names []string
	for _, p := range paths[:min(most, len(paths))] {
		names = append(names, fmt.Sprintf("%q", p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return cmp.Or(text, "nothing")
}
