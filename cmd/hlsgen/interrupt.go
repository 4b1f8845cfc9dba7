package main

import (
	"context"
	"io"
	"os"

	"hlsgen/folding"
)

// onInterrupt lists the values of --on-interrupt, which says what the first Ctrl-C does.
var onInterrupt = []string{best, "stop"}

// best is the value of --on-interrupt with which a Ctrl-C ends the search and has its best design built.
const best = "best"

// An ending lets a Ctrl-C end the search of a build, instead of the process. The search must have found a design.
type ending struct {
	search folding.SearchStopper
	tell   func(text string)
}

// tells sets the function that tells the user about an ended search. It must be called before the search begins.
func (e *ending) tells(tell func(text string)) {
	if e != nil {
		e.tell = tell
	}
}

// takes ends the search and returns true if the signal is a Ctrl-C and the search has a design. Otherwise it does
// nothing and returns false.
func (e *ending) takes(s os.Signal) bool {
	if s != os.Interrupt || !e.search.TryStop() {
		return false
	}
	e.tell("the search ends with the best design so far, which is built; another Ctrl-C stops that, too")
	return true
}

// by returns the interrupt that the search of a build listens to. action is the value of --on-interrupt. The interrupt
// is nil if Ctrl-C ends the process: with stop, or without the flag if standard error is no terminal.
func (e *ending) by(action string, terminal bool) *folding.SearchStopper {
	if e == nil || action != best && (action != "" || !terminal) {
		return nil
	}
	return &e.search
}

// untilDone returns a reader whose Read returns as soon as the context ends, even if r blocks.
func untilDone(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx: ctx, from: r} }

// An interruptible reads from another reader in a goroutine of its own, so that a context can end a blocked Read.
type interruptible struct {
	ctx  context.Context
	from io.Reader
	pipe *io.PipeReader // nil before the first Read
}

// Read implements io.Reader. It returns an error as soon as the context ends.
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
