// Package requests carries requests and answers over two streams of bytes: a line of JSON each, and behind it the bytes
// of its parts, such as arrays. docs/requests.md describes the form.
//
// In come requests, out go answers, in the order in which they are ready. The jobs of a Handler compute them, several
// at a time.
//
//	requests.go  the form of requests and answers
//	serve.go     reads requests, runs them, cancels them
package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Version is the version of the form. It grows where a key goes or comes to mean something else.
const Version = 1

// Limits bound what is read. Larger requests are refused before their parts are read.
type Limits struct {
	LineBytes int   `json:"line_bytes"` // of the JSON of a request
	PartBytes int64 `json:"part_bytes"` // of all parts of a request
}

// DefaultLimits holds the limits of a server: a line has at most 1 MiB, a part at most 1 GiB.
var DefaultLimits = Limits{LineBytes: 1 << 20, PartBytes: 1 << 30}

// A Hello is the first line that a server writes.
type Hello struct {
	Server  string `json:"hlsgen"` // the version of hlsgen
	Version int    `json:"version"`
	Limits  Limits `json:"limits"`
}

// A Request asks for the result of a command.
type Request struct {
	// repeated in what answers it; of requests at work, each has its own
	ID   int64  `json:"id"`
	Call string `json:"call"` // a command, or one of the calls of the server
	// as load has numbered it; 0 or absent: the embedded example
	Model     int64          `json:"model,omitempty"`
	Folder    string         `json:"folder,omitempty"`    // where relative paths start
	Arguments []string       `json:"arguments,omitempty"` // of commands that take others than a model
	Options   map[string]any `json:"options,omitempty"`   // by the names of the command line, without dashes
	// options whose file comes back as a part, with the file's name
	Take     map[string]string `json:"take,omitempty"`
	Of       int64             `json:"of,omitempty"`       // the request that is cancelled
	Progress bool              `json:"progress,omitempty"` // tell the phases of the work
	Parts    []Part            `json:"parts,omitempty"`    // what follows the line
}

// A Part describes bytes behind a line: the file of an option, such as an .npy file for input. Name tells several
// arrays of one option apart.
type Part struct {
	Option string `json:"option"`
	Name   string `json:"name,omitempty"`
	Bytes  int64  `json:"bytes"`
}

// A Progress is a line about a request at work.
type Progress struct {
	ID    int64    `json:"id"`
	Phase string   `json:"phase"`
	Share *float64 `json:"share,omitempty"` // of the phase, from 0 to 1, where it is known
}

// An Answer ends a request.
type Answer struct {
	ID     int64           `json:"id"`
	Exit   int             `json:"exit"`             // the exit code that the command line would end with
	Result json.RawMessage `json:"result,omitempty"` // what the command prints with --json
	Error  string          `json:"error,omitempty"`  // why there is no result
	Hint   string          `json:"hint,omitempty"`
	Parts  []Part          `json:"parts,omitempty"` // what follows the line
	Bodies []io.Reader     `json:"-"`               // of the parts
}

// An Error says why a request is refused, and what to do.
type Error struct{ Message, Hint string }

// Error returns the message and the hint.
func (e *Error) Error() string { return e.Message + ": " + e.Hint }

// total returns the bytes of all parts. It returns an error if a part has a negative size.
func (r *Request) total() (n int64, err error) {
	for _, p := range r.Parts {
		if p.Bytes < 0 || n+p.Bytes < n {
			return 0, &Error{fmt.Sprintf("part %q has %d bytes", p.Option, p.Bytes), "give the size of what follows"}
		}
		n += p.Bytes
	}
	return n, nil
}

// parse reads the line of a request. Unknown keys are errors.
func parse(line []byte) (*Request, error) {
	r := &Request{}
	in := json.NewDecoder(strings.NewReader(string(line)))
	in.DisallowUnknownFields()
	in.UseNumber()
	err := in.Decode(r)
	if err == nil && in.More() {
		err = errors.New("there is more behind it")
	}
	if err != nil {
		return r, &Error{"a line is no request: " + err.Error(), "docs/requests.md has the form"}
	}
	return r, nil
}

// A writer writes lines and parts, one answer at a time.
type writer struct {
	mu sync.Mutex
	to io.Writer
}

// line writes a value as a line of JSON, and bodies behind it. After an error, which the reader of the stream has
// caused, nothing of use can follow.
func (w *writer) line(v any, bodies ...io.Reader) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := text.WriteTo(w.to); err != nil {
		return err
	}
	for _, b := range bodies {
		if _, err := io.Copy(w.to, b); err != nil {
			return err
		}
	}
	return nil
}
