package compiler

import (
	"context"
	"errors"
	"sync"
)

// A lane computes parts of a run of samples, one after the other: read reads a part, work computes it, done takes what
// came out. Parts are read in order and done in order, by one lane at a time; lanes work beside each other.
type lane struct {
	read func(from, to int) error
	work func() error
	done func() error
}

// inLanes has lanes compute n samples in parts of so many, all but the last one. The error is that of the first part
// that has one, or the context's: nothing behind that part is done.
func inLanes(ctx context.Context, n, size, lanes int, open func() lane) error {
	x := &traffic{ctx: ctx, n: n, size: size, turn: sync.NewCond(new(sync.Mutex))}
	defer context.AfterFunc(ctx, func() { x.fail(x.parts(), ctx.Err()) })()
	var all sync.WaitGroup
	for range max(1, min(lanes, x.parts())) {
		all.Go(func() { x.drive(open) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return x.err
}

// A traffic is lanes at work.
type traffic struct {
	ctx     context.Context
	n, size int
	reading sync.Mutex
	next    int        // part to be read
	turn    *sync.Cond // its lock is for what follows
	through int        // parts that are done
	err     error      // of the part that failed
	failed  bool
}

func (x *traffic) parts() int { return (x.n + x.size - 1) / x.size }

// drive takes a lane through parts until there are no more.
func (x *traffic) drive(open func() lane) {
	var l lane
	at := -1
	err := func() (err error) {
		defer Catch(&err)
		l = open()
		return nil
	}()
	for {
		var more bool
		if at, more, err = x.read(l, err); !more {
			return
		}
		if err == nil {
			err = caught(l.work)
		}
		if !x.wait(at) {
			return
		}
		if err == nil {
			err = caught(l.done)
		}
		x.pass(at, err)
		if err != nil {
			return
		}
	}
}

// caught is f with panics as errors.
func caught(f func() error) (err error) {
	defer Catch(&err)
	return f()
}

// read has a lane read the next part.
func (x *traffic) read(l lane, before error) (at int, more bool, err error) {
	x.reading.Lock()
	defer x.reading.Unlock()
	if at = x.next; at >= x.parts() || x.over() {
		return at, false, nil
	}
	if x.next++; before != nil {
		return at, true, before
	}
	err = caught(func() error { return l.read(at*x.size, min((at+1)*x.size, x.n)) })
	return at, true, err
}

func (x *traffic) over() bool {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	return x.failed || x.ctx.Err() != nil
}

// wait waits until all parts in front are done; it reports false where one has failed.
func (x *traffic) wait(at int) bool {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	for x.through < at && !x.failed {
		x.turn.Wait()
	}
	return !x.failed
}

// pass says that a part is done, or has failed.
func (x *traffic) pass(at int, err error) {
	if err != nil {
		x.fail(at, err)
		return
	}
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	x.through = at + 1
	x.turn.Broadcast()
}

func (x *traffic) fail(at int, err error) {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	if !x.failed {
		x.failed, x.err = true, err
	}
	x.turn.Broadcast()
}

// errTold ends work whose diagnostics say why.
var errTold = errors.New("the diagnostics say why")
