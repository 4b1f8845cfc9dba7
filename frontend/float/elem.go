package float

import (
	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// An elem is a function of elements, compiled for float64.
type elem struct {
	of     *program.Elem
	floats *real.BatchFloatFunc
}

func newElem(e *program.Elem) *elem { return &elem{e, real.CompileBatchFloatFunc(e.Expr)} }

func (e *elem) fork() *elem {
	if e == nil {
		return nil
	}
	return &elem{e.of, e.floats.Fork()}
}

// own returns the worker's own copy of a function, which only one goroutine may use.
func (w *worker) own(f *real.BatchFloatFunc) *real.BatchFloatFunc {
	if w.floats[f] == nil {
		w.floats[f] = f.Fork()
	}
	return w.floats[f]
}

// elemGrain is the approximate number of elements that one worker computes at a time.
const elemGrain = 1 << 12

// apply computes a function of elements into out. first, if not nil, holds the values of variable 0.
func (x *Evaluator) apply(e *elem, in []*buffer, first, out []float64) {
	x.team.share(len(out), elemGrain, func(w *worker, from, to int) {
		f, n := w.own(e.floats), len(e.of.Args)
		width := f.MaxBatchSize()
		room, vars := sized(&w.gather, n*width), make([][]float64, n)
		for at := from; at < to; at += width {
			some := out[at:min(at+width, to)]
			for v, slot := range e.of.Args {
				if v == 0 && first != nil {
					vars[0] = first[at:]
					continue
				}
				vars[v] = e.variable(v, in[slot].data, at, room[v*width:][:len(some)], at == from)
			}
			f.EvaluateBatch(some, vars)
		}
	})
}

// variable returns variable v for the elements from number at on. It returns a part of data if they are adjacent, and a
// copy in room otherwise. A value that all elements share is copied again only if it differs, or if begins says that
// room is new.
func (e *elem) variable(v int, data []float64, at int, room []float64, begins bool) []float64 {
	p, shift := &e.of.Index[v], 0
	if e.of.Offset != nil {
		shift = int(e.of.Offset[v])
	}
	switch {
	case p.ReadsSingleElement():
		if value := data[int(p.Table[0])+shift]; begins || room[0] != value {
			for i := range room {
				room[i] = value
			}
		}
	case p.Table != nil:
		from := data[shift:]
		for i, k := range p.Table[at : at+len(room)] {
			room[i] = from[k]
		}
	case p.Count == 0:
		return data[at+shift:]
	default:
		along(p, data[shift:], at, room)
	}
	return room
}

// along fills room with the elements that the output elements from number at on read from data, a vector along an axis.
func along(p *graph.ElementIndexMap, data []float64, at int, room []float64) {
	if p.Run == 1 {
		for i, k := 0, at%p.Count; i < len(room); k = 0 {
			i += copy(room[i:], data[k:p.Count])
		}
		return
	}
	for i := 0; i < len(room); {
		n := min(len(room)-i, p.Run-(at+i)%p.Run)
		value := data[p.ArgumentIndex(at+i)]
		for k := i; k < i+n; k++ {
			room[k] = value
		}
		i += n
	}
}
