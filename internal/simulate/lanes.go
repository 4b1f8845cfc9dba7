package simulate

import (
	"context"
	"sync"

	"hlsgen/internal/crash"
)

// A lane computes parts of the samples, one after the other. read reads a part, work computes it, and done takes the
// results. Several lanes work in parallel. Only one lane at a time calls read, and only one calls done; both see the
// parts in order.
type lane struct {
	read func(from, to int) error
	work func() error
	done func() error
}

// inLanes computes n samples in parts of size samples, on several lanes in parallel. open makes a lane. It returns the
// error of the first part that fails, or of the context. It does not call done for later parts.
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

// A traffic coordinates the lanes of one call of inLanes.
type traffic struct {
	ctx     context.Context
	n, size int
	reading sync.Mutex // guards next and the calls of read
	next    int        // the next part to read
	turn    *sync.Cond // its lock guards the fields below
	through int        // number of parts that are done
	err     error      // error of the part that failed
	failed  bool
}

// parts returns the number of parts into which the samples are divided.
func (x *traffic) parts() int { return (x.n + x.size - 1) / x.size }

// drive makes a lane by open, and runs it until no parts are left or a part has failed.
func (x *traffic) drive(open func() lane) {
	var l lane
	at := -1
	err := func() (err error) {
		defer crash.RecoverPanicIntoError(&err)
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

// caught calls f and returns its error. It converts a panic to an error.
func caught(f func() error) (err error) {
	defer crash.RecoverPanicIntoError(&err)
	return f()
}

// read has the lane read the next part, and returns the part's number. more is false if no part is left or a part has
// failed. If before is not nil, it returns that error for the part instead of reading it.
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

// over reports whether a part has failed or the context has ended, so that no more parts are read.
func (x *traffic) over() bool {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	return x.failed || x.ctx.Err() != nil
}

// wait waits until all parts before part at are done. It returns false if a part failed.
func (x *traffic) wait(at int) bool {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	for x.through < at && !x.failed {
		x.turn.Wait()
	}
	return !x.failed
}

// pass records that part at is done, or that it failed with err. It wakes the waiting lanes.
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

// fail records err as the error of the run, unless there is one already. It wakes the waiting lanes.
func (x *traffic) fail(at int, err error) {
	x.turn.L.Lock()
	defer x.turn.L.Unlock()
	if !x.failed {
		x.failed, x.err = true, err
	}
	x.turn.Broadcast()
}
