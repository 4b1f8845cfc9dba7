package requests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// An echo answers with the parts of a request, in capitals. A call "wait" ends when it is cancelled.
type echo struct{ closed chan string }

// Accept implements Handler.
func (e echo) Accept(r *Request) (Job, error) {
	if r.Call == "no" {
		return nil, &Error{"no", "ask for something else"}
	}
	return &echoed{echo: e, r: r}, nil
}

// An echoed is the job of an echo.
type echoed struct {
	echo
	r     *Request
	parts []*bytes.Buffer
}

// A kept is a part in memory. A full one fails.
type kept struct {
	*bytes.Buffer
	full bool
}

// Write implements io.Writer.
func (k kept) Write(b []byte) (int, error) {
	if k.full {
		return 0, errors.New("the disk is full")
	}
	return k.Buffer.Write(b)
}

// Close implements io.Closer.
func (kept) Close() error { return nil }

// Part implements Job.
func (e *echoed) Part(i int) (io.WriteCloser, error) {
	if e.r.Parts[i].Option == "none" {
		return nil, errors.New("there is no place")
	}
	e.parts = append(e.parts, new(bytes.Buffer))
	return kept{e.parts[len(e.parts)-1], e.r.Parts[i].Option == "full"}, nil
}

// Quick implements Job.
func (e *echoed) Quick() bool { return e.r.Call == "quick" }

// Close implements Job.
func (e *echoed) Close() { e.closed <- e.r.Call }

// Answer implements Job.
func (e *echoed) Answer(ctx context.Context, progress func(string, int, int)) *Answer {
	progress("works", 1, 4)
	if e.r.Call == "wait" {
		<-ctx.Done()
		return &Answer{Exit: 130, Error: "interrupted"}
	}
	a := &Answer{}
	for i, p := range e.parts {
		text := bytes.ToUpper(p.Bytes())
		a.Parts = append(a.Parts, Part{e.r.Parts[i].Option, "", int64(len(text))})
		a.Bodies = append(a.Bodies, bytes.NewReader(text))
	}
	return a
}

// served returns what a server writes for what it reads, without the first line.
func served(t *testing.T, in io.Reader, limits Limits) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(context.Background(), in, &out, "v1", limits, echo{make(chan string, 100)})
	hello, rest, _ := strings.Cut(out.String(), "\n")
	if want := `{"hlsgen":"v1","version":1,"limits":{"line_bytes":`; !strings.HasPrefix(hello, want) {
		t.Errorf("the first line is %s", hello)
	}
	return rest, err
}

// TestServe reads requests, whole and byte by byte: of each, the parts come back, or why it is refused.
func TestServe(t *testing.T) {
	t.Parallel()
	limits := Limits{LineBytes: 200, PartBytes: 10}
	for _, x := range []struct{ in, out, err string }{
		{"", "", ""},
		{`{"id":7,"call":"quick"}` + "\n", `{"id":7,"exit":0}` + "\n", ""},
		{`{"id":7,"call":"quick","parts":[{"option":"a","bytes":3},{"option":"b","bytes":0}]}` + "\nx\ny",
			`{"id":7,"exit":0,"parts":[{"option":"a","bytes":3},{"option":"b","bytes":0}]}` + "\nX\nY", ""},
		{`{"id":7,"call":"quick","progress":true}` + "\n", `{"id":7,"phase":"works","share":0.25}` + "\n" +
			`{"id":7,"exit":0}` + "\n", ""},
		{`{"id":7,"call":"quick","parts":[{"option":"a","bytes":11}]}` + "\n0123456789\n" + `{"id":8,"call":"quick"}` +
			"\n",
			`{"id":7,"exit":2,"error":"the arrays of a request have 11 bytes, more than 10",` +
				`"hint":"give fewer samples at a time"}` + "\n" + `{"id":8,"exit":0}` + "\n", ""},
		{`{"id":7,"call":"no","parts":[{"option":"a","bytes":2}]}` + "\nno" + `{"id":8,"call":"quick"}` + "\n",
			`{"id":7,"exit":2,"error":"no","hint":"ask for something else"}` + "\n" + `{"id":8,"exit":0}` + "\n", ""},
		{`{"id":7,"call":"quick","parts":[{"option":"full","bytes":2},{"option":"none","bytes":1}]}` + "\nnot" +
			`{"id":8,"call":"quick"}` + "\n", `{"id":7,"exit":2,"error":"an array cannot be kept: the disk is full",` +
			`"hint":"set TMPDIR to a folder with room"}` + "\n" + `{"id":8,"exit":0}` + "\n", ""},
		{`{"id":7,"call":"quick","parts":[{"option":"a","bytes":-1}]}` + "\n",
			`{"id":7,"exit":2,"error":"part \"a\" has -1 bytes","hint":"give the size of what follows"}` + "\n", ""},
		{`{"id":7,"call":"quick","parts":[{"option":"a","bytes":9223372036854775807},{"option":"b","bytes":9}]}` + "\n",
			`{"id":7,"exit":2,"error":"part \"b\" has 9 bytes","hint":"give the size of what follows"}` + "\n", ""},
		{`{"id":7,"call":"cancel","of":9}` + "\n", `{"id":7,"exit":0}` + "\n", ""},
		{`{"id":7,"colour":1}` + "\n",
			`{"id":7,"exit":2,"error":"a line is no request: json: unknown field \"colour\"",` +
				`"hint":"docs/requests.md has the form"}` + "\n", ""},
		{strings.Repeat(" ", 201) + "\n", "", "a request has more than 200 bytes in its line"},
		{`{"id":7,"call":"quick","parts":[{"option":"a","bytes":3}]}` + "\nab", "", "unexpected EOF"},
	} {
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(x.in),
			"byte by byte": iotest.OneByteReader(strings.NewReader(x.in))} {
			out, err := served(t, in, limits)
			if said := fmt.Sprint(err); out != x.out || err == nil && x.err != "" || err != nil && said != x.err {
				t.Errorf("%s, %s: %v\n%s\nwant %s\n%s", x.in, name, err, out, x.err, x.out)
			}
		}
	}
}

// TestCancel cancels a request by its number, and one by the end of the input. Both jobs are closed.
func TestCancel(t *testing.T) {
	t.Parallel()
	from, to := io.Pipe()
	out, write := io.Pipe()
	closed := make(chan string, 2)
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(context.Background(), from, write, "v1", DefaultLimits, echo{closed})
		write.Close()
	}()
	go func() {
		fmt.Fprintln(to, `{"id":1,"call":"wait"}`)
		fmt.Fprintln(to, `{"id":1,"call":"wait"}`)
		fmt.Fprintln(to, `{"id":2,"call":"wait"}`)
		fmt.Fprintln(to, `{"id":3,"call":"cancel","of":1}`)
		<-closed
		to.Close()
	}()
	text, err := io.ReadAll(out)
	if err != nil || <-ended != nil {
		t.Error(err)
	}
	for _, want := range []string{`{"id":1,"exit":2,"error":"a request with the number 1 is at work",`,
		`{"id":3,"exit":0}`,
		`{"id":1,"exit":130,"error":"interrupted"}`, `{"id":2,"exit":130,"error":"interrupted"}`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}
