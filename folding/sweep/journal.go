package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// journalFile is the journal's name in the output folder.
const journalFile = "journal.jsonl"

// A header is the first line of a journal.
type header struct {
	Sweep  int    `json:"hlsgen_sweep"` // the version of the form
	Model  string `json:"model"`
	SHA256 string `json:"model_sha256"`
}

// form is the version of the journal's form; another one is begun anew.
const form = 2

// An entry is a later line: what a search has found.
type entry struct {
	Key    string  `json:"key"`
	Points []Point `json:"points"`
}

// A journal keeps what was found, a line for each search, in the order in which they end. A line counts once it is
// whole: what an interrupted run has begun to write is cut off.
type journal struct {
	mu   sync.Mutex
	file *os.File
	done map[string][]Point
}

// An otherModel error says that a folder holds the sweep of another model.
type otherModel struct{ name string }

func (e *otherModel) Error() string {
	return fmt.Sprintf("it holds the sweep of another model, %q", e.name)
}

var errNoSweep = errors.New("it is not empty, and holds no sweep")

// openJournal opens the journal in dir, or begins one. fresh begins anew; the folder must still be one of ours.
func openJournal(dir string, h header, fresh bool) (*journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, journalFile)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			return nil, errors.Join(err, errNoSweep)
		}
	case err != nil:
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	j := &journal{done: map[string][]Point{}}
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	var was header
	switch {
	case len(data) == 0:
	case json.Unmarshal(first, &was) != nil || was.Sweep == 0:
		return nil, errNoSweep
	case fresh || was.Sweep != form:
		data = nil
	case was.SHA256 != h.SHA256:
		return nil, &otherModel{was.Model}
	default:
		for line := range bytes.Lines(rest) {
			var e entry
			if json.Unmarshal(line, &e) == nil {
				j.done[e.Key] = e.Points
			}
		}
	}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	if err := j.file.Truncate(int64(len(data))); err != nil {
		return nil, errors.Join(err, j.file.Close())
	}
	if len(data) == 0 {
		h.Sweep = form
		if err := j.line(h); err != nil {
			return nil, errors.Join(err, j.file.Close())
		}
	}
	return j, nil
}

// line writes one line.
func (j *journal) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = j.file.Write(append(b, '\n'))
	return err
}

// add keeps what a search has found.
func (j *journal) add(key string, points []Point) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[key] = points
	return j.line(entry{key, points})
}
