package requests

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A Handler takes requests.
type Handler interface {
	// Accept returns the job of a request. It is called in the order of requests, before their parts are read. It
	// returns an *Error for a request that it refuses.
	Accept(*Request) (Job, error)
}

// A Job answers a request.
type Job interface {
	// Part returns where the bytes of a part go.
	Part(number int) (io.WriteCloser, error)
	// Answer computes the answer, whose ID the caller sets. Answers of several jobs are computed at a time. All parts
	// were read.
	Answer(ctx context.Context, progress func(phase string, done, total int)) *Answer
	// Quick reports whether the next request is read only after the answer: it may depend on it.
	Quick() bool
	// Close is called at the end, after the answer was written.
	Close()
}

// Times that requests at work get after the last one was read: to be done, and to end after they were cancelled.
const (
	grace    = time.Second
	patience = 700 * time.Millisecond
)

// Serve answers requests from in on out until in ends or the context does. Requests that are at work a second later are
// cancelled. It returns nil if in ended between two requests.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string, limits Limits, h Handler) error {
	ctx, stop := context.WithCancel(ctx)
	s := &server{ctx: ctx, in: bufio.NewReaderSize(in, 1<<18), out: &writer{to: out}, limits: limits, handler: h,
		working: map[int64]context.CancelFunc{}}
	err := s.out.line(Hello{version, Version, limits})
	for err == nil {
		err = s.next()
	}
	ended := make(chan struct{})
	go func() {
		s.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-time.After(grace):
	}
	stop()
	select {
	case <-ended:
	case <-time.After(patience):
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A server reads requests.
type server struct {
	ctx     context.Context
	in      *bufio.Reader
	out     *writer
	limits  Limits
	handler Handler

	all     sync.WaitGroup
	mu      sync.Mutex
	working map[int64]context.CancelFunc // by the number of the request
}

// next reads a request and begins to answer it. It returns an error if no further request can be read.
func (s *server) next() error {
	line, err := s.line()
	if err != nil {
		return err
	}
	r, err := parse(line)
	if err == nil {
		err = s.receive(r)
	}
	if refused := new(Error); errors.As(err, &refused) {
		return s.out.line(Answer{ID: r.ID, Exit: 2, Error: refused.Message, Hint: refused.Hint})
	}
	return err
}

// line reads a line. One that is too long has no end that could be trusted, so it ends the stream.
func (s *server) line() ([]byte, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > s.limits.LineBytes {
			return nil, fmt.Errorf("a request has more than %d bytes in its line", s.limits.LineBytes)
		}
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// receive reads the parts of a request, and begins to answer it. It returns an *Error for a request that is refused;
// its parts are skipped then.
func (s *server) receive(r *Request) error {
	total, err := r.total()
	if err != nil {
		return err
	}
	if total > s.limits.PartBytes {
		err = &Error{fmt.Sprintf("the arrays of a request have %d bytes, more than %d", total, s.limits.PartBytes),
			"give fewer samples at a time"}
	}
	if r.Call == "cancel" && err == nil {
		s.cancel(r.Of)
		return s.out.line(Answer{ID: r.ID})
	}
	ctx, stop := context.WithCancel(s.ctx)
	if err == nil {
		s.mu.Lock()
		if s.working[r.ID] != nil {
			err = &Error{fmt.Sprintf("a request with the number %d is at work", r.ID), "give each a number of its own"}
		}
		s.mu.Unlock()
	}
	var job Job
	if err == nil {
		job, err = s.handler.Accept(r)
	}
	if err != nil {
		stop()
		if _, e := io.CopyN(io.Discard, s.in, total); e != nil {
			return cutOff(e)
		}
		return err
	}
	fault, err := s.parts(r, job)
	if err == nil && fault != nil {
		err = &Error{"an array cannot be kept: " + fault.Error(), "set TMPDIR to a folder with room"}
	}
	if err != nil {
		stop()
		job.Close()
		return err
	}
	s.mu.Lock()
	s.working[r.ID] = stop
	s.mu.Unlock()
	if job.Quick() {
		s.answer(ctx, r, job)
		return nil
	}
	s.all.Go(func() { s.answer(ctx, r, job) })
	return nil
}

// parts reads the parts of a request. fault says why one of them could not be kept; err is one of reading.
func (s *server) parts(r *Request, job Job) (fault, err error) {
	for i, p := range r.Parts {
		to, e := job.Part(i)
		if e != nil {
			fault = cmp.Or(fault, e)
			to = nothing{}
		}
		copied := &counted{to: to}
		if _, err := io.CopyN(copied, s.in, p.Bytes); err != nil {
			to.Close()
			return nil, cutOff(err)
		}
		fault = cmp.Or(fault, copied.fault, to.Close())
	}
	return fault, nil
}

// cutOff returns err, or an error for input that ends within a part.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// nothing takes the bytes of a part that cannot be kept.
type nothing struct{}

// Write implements io.Writer.
func (nothing) Write(b []byte) (int, error) { return len(b), nil }

// Close implements io.Closer.
func (nothing) Close() error { return nil }

// A counted passes bytes on until an error occurs, which it keeps, so that the rest of a part is skipped.
type counted struct {
	to    io.Writer
	fault error
}

// Write implements io.Writer. It never returns an error.
func (c *counted) Write(b []byte) (int, error) {
	if c.fault == nil {
		_, c.fault = c.to.Write(b)
	}
	return len(b), nil
}

// answer computes and writes the answer to a request.
func (s *server) answer(ctx context.Context, r *Request, job Job) {
	id := r.ID
	var last time.Time
	progress := func(phase string, done, total int) {
		if !r.Progress || time.Since(last) < 50*time.Millisecond && 0 < done && done < total {
			return
		}
		last = time.Now()
		p := Progress{ID: id, Phase: phase}
		if total > 0 {
			share := float64(done) / float64(total)
			p.Share = &share
		}
		s.out.line(p) // what cannot be written shows with the answer
	}
	a := job.Answer(ctx, progress)
	s.mu.Lock()
	s.working[id]()
	delete(s.working, id)
	s.mu.Unlock()
	a.ID = id
	s.out.line(a, a.Bodies...) // in ends where nobody reads the answer
	job.Close()
}

// cancel cancels the request with a number, if it is at work.
func (s *server) cancel(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.working[id]; stop != nil {
		stop()
	}
}
