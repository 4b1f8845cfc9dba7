package rtlsim

import (
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// words is the data of a stream: those written and not read, oldest first, from head on.
type words struct {
	port   dataflow.Port
	values num.Range
	queue  []dataflow.Word
	head   int
	kept   []int64 // all that was ever written, where it is kept
}

// push adds a word.
func (q *words) push(w dataflow.Word) error {
	if len(w) != q.port.PerWord {
		return fmt.Errorf("a word of %d elements, want %d", len(w), q.port.PerWord)
	}
	for i, v := range w {
		if !q.values.Contains(v) || v == 0 && q.port.Elem.Kind == num.Bipolar {
			return fmt.Errorf("element %d is %d: no %s", i, v, q.port.Elem)
		}
	}
	if q.head > 64 && 2*q.head > len(q.queue) {
		n := copy(q.queue, q.queue[q.head:])
		clear(q.queue[n:])
		q.queue, q.head = q.queue[:n], 0
	}
	q.queue = append(q.queue, w)
	if q.kept != nil {
		q.kept = append(q.kept, w...)
	}
	return nil
}

// pop takes the oldest word.
func (q *words) pop() dataflow.Word {
	w := q.queue[q.head]
	q.queue[q.head] = nil
	q.head++
	return w
}

// cut splits the values of a stream into frames.
func (e *engine) cut(values []int64, stream int) (frames []dataflow.Tensor) {
	for f := range e.frames {
		p := e.at(f)
		shape := p.design.Model.Graph.Streams[stream].Type.Shape
		n := shape.Size()
		frames = append(frames, p.ports[stream].Receive(shape, values[:n:n]))
		values = values[n:]
	}
	return frames
}

// column appends one tensor to every frame.
func column(frames [][]dataflow.Tensor, tensors []dataflow.Tensor) [][]dataflow.Tensor {
	if frames == nil {
		frames = make([][]dataflow.Tensor, len(tensors))
	}
	for f, v := range tensors {
		frames[f] = append(frames[f], v)
	}
	return frames
}
