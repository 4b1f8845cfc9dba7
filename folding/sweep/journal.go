package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"hlsgen/internal/outputdir"
	"hlsgen/internal/safefile"
)

// journalFile is the journal's name in the output folder.
const journalFile = "journal.jsonl"

// maxJournal is the largest journal, in bytes, that is read.
const maxJournal = 1 << 30

// A header is the first line of a journal: what the sweep's searches depend on besides their specs.
type header struct {
	Sweep  int    `json:"hlsgen_sweep"` // the version of the journal's form
	Model  string `json:"model"`
	SHA256 string `json:"model_sha256"`
}

// form is the version of the journal's form. A journal of another version is replaced by a new one.
const form = 4

// An entry is any later line of a journal: the result of one search, under its key.
type entry struct {
	Key    string        `json:"key"`
	Points []PointResult `json:"points"`
}

// A journal keeps the results of searches, one line each, in the order of their ends. A line counts only if it is
// unchanged. Lines that an interrupted run left incomplete, or that a disk has changed, are dropped.
type journal struct {
	mu     sync.Mutex
	file   *os.File
	lock   *outputdir.PathLock
	done   map[string][]PointResult
	broken int // damaged lines
}

// Each line is an object of a checksum and the content that it covers:
//
//	{"sha256":"<of the text from here to the last brace>","of":{...}}
const (
	lineStart  = `{"sha256":"`
	lineMiddle = `","of":`
	lineEnd    = "}"
)

// sealed returns v as a line of the journal, with its checksum and without the line break.
func sealed(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	return fmt.Appendf(nil, "%s%s%s%s%s", lineStart, hex.EncodeToString(sum[:]), lineMiddle, b, lineEnd), nil
}

// unsealed reads the content of a line into v. It reports false if the line does not match its checksum.
func unsealed(line []byte, v any) (ok bool) {
	rest, found := bytes.CutPrefix(line, []byte(lineStart))
	given, b, middle := bytes.Cut(rest, []byte(lineMiddle))
	b, end := bytes.CutSuffix(b, []byte(lineEnd))
	sum := sha256.Sum256(b)
	return found && middle && end && string(given) == hex.EncodeToString(sum[:]) && json.Unmarshal(b, v) == nil
}

// An otherModel is the error that a folder holds the sweep of another model, which has the name.
type otherModel struct{ name string }

func (e *otherModel) Error() string {
	return fmt.Sprintf("it holds the sweep of another model, %q", e.name)
}

var errNoSweep = errors.New("it is not empty, and holds no sweep")

// openJournal opens the journal in dir, or begins one. If fresh is true it begins anew, but only in a folder that holds
// a sweep. The process holds the folder's lock until it closes the journal; the error is an *outputdir.PlaceBusyError
// if another process holds it.
func openJournal(dir string, h header, fresh bool) (_ *journal, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, journalFile)
	lock, err := outputdir.LockPath(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			lock.RemoveAndUnlock()
		}
	}()
	j := &journal{done: map[string][]PointResult{}, lock: lock}
	data, err := readJournal(dir, path)
	if err != nil {
		return nil, err
	}
	keep, err := j.read(data, h, fresh)
	if err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if !bytes.Equal(keep, data) {
		if err = j.file.Truncate(0); err == nil {
			_, err = j.file.Write(keep)
		}
	}
	if err == nil && len(keep) == 0 {
		h.Sweep = form
		err = j.line(h)
	}
	if err != nil {
		return nil, errors.Join(err, j.file.Close())
	}
	return j, nil
}

// readJournal returns the content of the journal at path. It returns nil for an empty folder, and errNoSweep for a
// folder with other files.
func readJournal(dir, path string) ([]byte, error) {
	data, err := safefile.ReadRegularFile(path, maxJournal)
	switch {
	case errors.Is(err, safefile.ErrEmptyFile):
		return nil, nil
	case !errors.Is(err, fs.ErrNotExist):
		return data, err
	}
	files, err := os.ReadDir(dir)
	if len(files) > 1 { // there is more than the lock
		err = errNoSweep
	}
	return nil, err
}

// read takes over the undamaged lines of data, if they are of header h, and returns them. With fresh it takes over
// none. The error may be an otherModel.
func (j *journal) read(data []byte, h header, fresh bool) (keep []byte, err error) {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	first, rest, _ := bytes.Cut(whole, []byte("\n"))
	var was header
	switch {
	case len(whole) == 0:
		j.broken = min(1, len(data))
		return nil, nil
	case unsealed(first, &was) && was.Sweep != 0:
	case json.Unmarshal(first, &was) == nil && was.Sweep != 0 && was.Sweep != form: // forms 1 and 2 had no checksums
	case bytes.HasPrefix(first, []byte(lineStart)), bytes.Contains(first, []byte("hlsgen_sweep")):
		was, j.broken = header{Sweep: form, SHA256: h.SHA256}, 1 // damaged; the keys of later lines contain the model
	default:
		return nil, errNoSweep
	}
	if len(whole) < len(data) {
		j.broken++
	}
	for line := range bytes.Lines(rest) {
		var e entry
		if !unsealed(bytes.TrimSuffix(line, []byte("\n")), &e) {
			j.broken++
			continue
		}
		keep = append(keep, line...)
		j.done[e.Key] = e.Points
	}
	switch {
	case was.SHA256 != h.SHA256 && !fresh:
		return nil, &otherModel{was.Model}
	case fresh || was.Sweep != form:
		j.done, j.broken = map[string][]PointResult{}, 0
		return nil, nil
	}
	h.Sweep = form
	b, err := sealed(h)
	return append(append(b, '\n'), keep...), err
}

// line appends v as one line with a checksum.
func (j *journal) line(v any) error {
	b, err := sealed(v)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(b, '\n'))
	return err
}

// add records the points that a search found, under the search's key.
func (j *journal) add(key string, points []PointResult) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[key] = points
	return j.line(entry{key, points})
}

// close closes the file and releases the folder.
func (j *journal) close() error {
	err := j.file.Close()
	j.lock.RemoveAndUnlock()
	return err
}
