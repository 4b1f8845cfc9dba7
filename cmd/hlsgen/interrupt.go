package main

import (
	"context"
	"io"
	"os"

	"hlsgen/folding"
)

// onInterrupt are the values of --on-interrupt: what the first Ctrl-C does.
var onInterrupt = []string{best, "stop"}

const best = "best"

// An ending is what a Ctrl-C may end instead of the process: the search of a build that has a design.
type ending struct {
	search folding.Interrupt
	tell   func(text string)
}

// tells has tell say that a search was ended. It comes before the search.
func (e *ending) tells(tell func(text string)) {
	if e != nil {
		e.tell = tell
	}
}

// takes reports whether a signal ends a search, and not the process.
func (e *ending) takes(s os.Signal) bool {
	if s != os.Interrupt || !e.search.End() {
		return false
	}
	e.tell("the search ends with the best design so far, which is built; another Ctrl-C stops that, too")
	return true
}

// by returns the interrupt that a build's search listens to, for the value of --on-interrupt. It is nil where Ctrl-C
// ends the process: with stop, and without the flag where standard error is no terminal.
func (e *ending) by(action string, terminal bool) *folding.Interrupt {
	if e == nil || action != best && (action != "" || !terminal) {
		return nil
	}
	return &e.search
}

// untilDone reads until a context ends, whether or not something arrives.
func untilDone(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx: ctx, from: r} }

// An interruptible is a reader that is read beside.
type interruptible struct {
	ctx  context.Context
	from io.Reader
	pipe *io.PipeReader // once it was read
}

func (i *interruptible) Read(b []byte) (int, error) {
	if i.from == nil {
		return 0, io.EOF
	}
	if i.pipe == nil {
		from, to := io.Pipe()
		i.pipe = from
		go func() {
			_, err := io.CopyBuffer(to, struct{ io.Reader }{i.from}, make([]byte, 1<<18))
			to.CloseWithError(err)
		}()
		context.AfterFunc(i.ctx, func() { to.CloseWithError(i.ctx.Err()) })
	}
	return i.pipe.Read(b)
}
