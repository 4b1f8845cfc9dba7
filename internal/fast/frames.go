package fast

import (
	"unsafe"

	"hlsgen/internal/dataflow"
)

// A Worker holds the buffers in which an Executable computes up to Batch frames at a time. One goroutine may use it at
// a time.
type Worker struct {
	p       *Executable
	slots   [][]byte
	scratch []byte
	codes   []byte    // codes of pairs of bytes, by frame
	long    [][]int64 // buffers of int64 numbers
	lent    int       // how many buffers of long are in use
	tile              // buffers for sums
}

// A tile holds the working memory for the rows that a block of weights is multiplied with at a time.
type tile struct {
	sums   []int32   // sums of at most four blocks of lanes
	begins [band]int // where rows begin
}

// slack is the number of bytes that kernels may read behind the end of a buffer, whatever these contain.
const slack = 64

// NewWorker returns a worker with new buffers for the executable.
func (p *Executable) NewWorker() *Worker {
	const sums = 4 * band * lanes
	w := &Worker{p: p, scratch: lines(p.scratch + slack), codes: lines(p.codes*p.Batch + slack)}
	w.sums = unsafe.Slice((*int32)(unsafe.Pointer(&lines(4 * sums)[0])), sums)
	for _, bytes := range p.slots {
		w.slots = append(w.slots, lines(bytes*p.Batch+slack))
	}
	return w
}

// cacheLine is the size of a cache line in bytes. A store that crosses one takes longer.
const cacheLine = 64

// lines returns n bytes of memory that begin at a cache line.
func lines(n int) []byte {
	b := make([]byte, n+cacheLine-1)
	return b[-uintptr(unsafe.Pointer(&b[0]))%cacheLine:][:n:n]
}

// bytes returns frame f of a stream of bytes, with the frames behind it and the slack.
func (w *Worker) bytes(s *stream, f int) []uint8 { return w.slots[s.slot][f*s.size:] }

// ints returns frame f of a stream that is stored as int32, with the frames behind it.
func (w *Worker) ints(s *stream, f int) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(&w.slots[s.slot][4*f*s.size])), (w.p.Batch-f)*s.size)
}

// longs returns frame f of a stream that is stored as int64, with the frames behind it.
func (w *Worker) longs(s *stream, f int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(&w.slots[s.slot][8*f*s.size])), (w.p.Batch-f)*s.size)
}

// at returns the value of element i of frame f of a stream.
func (w *Worker) at(s *stream, f, i int) int64 {
	switch s.width {
	case narrow:
		return int64(w.bytes(s, f)[i]) + s.lo()
	case medium:
		return int64(w.ints(s, f)[i])
	}
	return w.longs(s, f)[i]
}

// load copies the values of frame f of a stream to x.
func (w *Worker) load(s *stream, f int, x []int64) {
	switch s.width {
	case narrow:
		for i, v := range w.bytes(s, f)[:s.size] {
			x[i] = int64(v) + s.lo()
		}
	case medium:
		for i, v := range w.ints(s, f)[:s.size] {
			x[i] = int64(v)
		}
	default:
		copy(x[:s.size], w.longs(s, f))
	}
}

// store sets frame f of a stream to the values x.
func (w *Worker) store(s *stream, f int, x []int64) {
	switch s.width {
	case narrow:
		y := w.bytes(s, f)[:s.size]
		for i := range y {
			y[i] = uint8(x[i] - s.lo())
		}
	case medium:
		y := w.ints(s, f)[:s.size]
		for i := range y {
			y[i] = int32(x[i])
		}
	default:
		copy(w.longs(s, f), x[:s.size])
	}
}

// numbers returns memory for n numbers, which is valid until the stage ends. Its contents are arbitrary.
func (w *Worker) numbers(n int) []int64 {
	if w.lent == len(w.long) {
		w.long = append(w.long, nil)
	}
	if cap(w.long[w.lent]) < n {
		w.long[w.lent] = make([]int64, n)
	}
	w.lent++
	return w.long[w.lent-1][:n]
}

// evaluate adds a stage that calls the Eval of the node's layer.
func (p *Executable) evaluate(n *dataflow.Node) {
	var in, out []*stream
	for _, s := range n.In {
		p.keep(s)
		in = append(in, &p.streams[s])
	}
	for _, s := range n.Out {
		out = append(out, &p.streams[s])
	}
	types := make([]dataflow.Shape, len(in))
	for k, s := range n.In {
		types[k] = p.g.Streams[s].Type.Shape
	}
	p.stages = append(p.stages, stage{n.In, n.Out, func(w *Worker, frames int) {
		args := make([]dataflow.Tensor, len(in))
		for k, s := range in {
			args[k] = dataflow.Tensor{Shape: types[k], Data: w.numbers(s.size)}
		}
		for f := range frames {
			for k, s := range in {
				w.load(s, f, args[k].Data)
			}
			for k, t := range n.Op.Eval(args) {
				w.store(out[k], f, t.Data)
			}
		}
	}})
}

// RunFrames computes up to Batch frames. For the inputs in[f] of frame f it returns the outputs out[f]. The values must
// be among those of the inputs' types.
func (w *Worker) RunFrames(in [][]dataflow.Tensor) (out [][]dataflow.Tensor) {
	for f, frame := range in {
		for k, t := range frame {
			w.store(&w.p.streams[w.p.g.In[k]], f, t.Data)
		}
	}
	w.compute(len(in))
	for f := range in {
		var frame []dataflow.Tensor
		for _, id := range w.p.g.Out {
			s := &w.p.streams[id]
			t := dataflow.Tensor{Shape: w.p.g.Streams[id].Type.Shape, Data: make([]int64, s.size)}
			w.load(s, f, t.Data)
			frame = append(frame, t)
		}
		out = append(out, frame)
	}
	return out
}

// compute runs all stages over the first frames of the inputs' buffers.
func (w *Worker) compute(frames int) {
	for _, s := range w.p.stages {
		w.lent = 0
		s.run(w, frames)
	}
}
