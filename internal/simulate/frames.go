package simulate

import (
	"cmp"
	"context"
	"fmt"

	"hlsgen/internal/crash"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/npy"
)

// An UnfitFramesError says why frames do not fit the streams into the layers.
type UnfitFramesError struct{ Reason string }

// Error returns the reason.
func (e *UnfitFramesError) Error() string { return e.Reason }

// CheckRunsFrames returns an *UnfitFramesError if an engine runs the model as written, whose layers have no frames.
// The empty name stands for engine fast.
func CheckRunsFrames(e engines.EngineName) error {
	if e == engines.EngineReference || e == engines.EngineFloat {
		return &UnfitFramesError{fmt.Sprintf("engine %s runs the model as written, and a driver sends to its layers",
			e)}
	}
	return nil
}

// RunFrames runs the layers of the model on frames, as a driver sends them: for each stream into the layers an array of
// integers, with a row for each frame in the order in which elements travel. All sequences have one length. It returns
// the same for each stream out of the layers, or nil after adding an error to d. Frames that do not fit are an
// *UnfitFramesError.
func RunFrames(ctx context.Context, o Options, frames []*npy.Array, d *diag.List) (out []*npy.Array, err error) {
	defer crash.RecoverPanicIntoError(&err)
	src, made, err := o.Warm.read(ctx, o.Source, d)
	if src == nil || err != nil {
		return nil, err
	}
	o.Source = made
	o.Engine = cmp.Or(o.Engine, engines.EngineFast)
	if err := CheckRunsFrames(o.Engine); err != nil {
		return nil, err
	}
	warm, err := o.Warm.imported(o, src, nil, d)
	if warm.im == nil || warm.im.Model == nil || d.HasErrors() || err != nil {
		return nil, err
	}
	in, model, err := framesOf(warm.im.Model, frames)
	if err != nil {
		return nil, err
	}
	var got []engines.FrameTensors
	fast := o.Engine == engines.EngineFast
	switch p := engines.CompileLayers(model); {
	case fast && p != nil:
		got, err = engines.RunFastFrames(ctx, p, model, in)
	case fast || o.Engine == engines.EngineEval:
		if got, err = engines.RunEval(ctx, model, in); err == nil {
			got = engines.SelectStreams(got, model.Graph.Out)
		}
	case model.Lengths != nil:
		return nil, &UnfitFramesError{"only engines fast and eval take sequences of several lengths"}
	default:
		r := &Result{Source: src, Engine: o.Engine}
		if got, err = r.runDesign(ctx, o, model, in, d); err != nil || d.HasErrors() {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &UnfitFramesError{err.Error()}
	}
	for k := range model.Graph.Out {
		a := &npy.Array{DType: "int64", Shape: []int{len(got), 0}}
		for _, f := range got {
			a.Shape[1] = len(f[k].Data)
			for _, v := range f[k].Data {
				a.Data = append(a.Data, float64(v))
			}
		}
		out = append(out, a)
	}
	return out, nil
}

// framesOf returns rows of integers as frames, and the model for sequences of their length.
func framesOf(m *dataflow.Model, rows []*npy.Array) ([]engines.FrameTensors, *dataflow.Model, error) {
	g := m.Graph
	if g.KeepsStateBetweenFrames() {
		return nil, nil, &UnfitFramesError{"the model keeps a state, which frames apart do not have"}
	}
	if len(rows) != len(g.In) || len(rows) == 0 {
		return nil, nil, &UnfitFramesError{fmt.Sprintf("%d streams are given, the layers take %d", len(rows),
			len(g.In))}
	}
	count := -1
	for k, a := range rows {
		if len(a.Shape) != 2 || count >= 0 && a.Shape[0] != count {
			return nil, nil, &UnfitFramesError{fmt.Sprintf("stream %d has the shape %v, want a row for each frame", k,
				a.Shape)}
		}
		count = a.Shape[0]
	}
	if l := m.Lengths; l != nil {
		for k, axis := range l.In {
			shape := g.Streams[g.In[k]].Type.Shape
			if axis < 0 {
				continue
			}
			var err error
			if m, err = l.Of(max(1, rows[k].Shape[1]*shape[axis]/shape.ElementCount())); err != nil {
				return nil, nil, &UnfitFramesError{err.Error()}
			}
			break
		}
	}
	frames := make([]engines.FrameTensors, count)
	for k, a := range rows {
		shape := m.Graph.Streams[m.Graph.In[k]].Type.Shape
		n := shape.ElementCount()
		if a.Shape[1] != n {
			return nil, nil, &UnfitFramesError{fmt.Sprintf("stream %d has frames of %d elements, want %d", k,
				a.Shape[1],
				n)}
		}
		for i := range frames {
			t := dataflow.Tensor{Shape: shape, Data: make([]int64, n)}
			for j := range t.Data {
				t.Data[j] = int64(a.Data[i*n+j])
			}
			frames[i] = append(frames[i], t)
		}
	}
	return frames, m, nil
}
