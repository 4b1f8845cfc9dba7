package rtlsim

import (
	"fmt"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// backends has a back end for each rule by which layers wait, at the rule's number.
var backends = []dataflow.Backend{dataflow.BackendHLS, dataflow.BackendRTL}

var uint8s = num.Type{Kind: num.KindUInt, Width: 8}

// A blender is a layer with any loop. Each word that it writes is a digest of all that it has read in the frame so
// far. All words have the same number of elements.
type blender struct {
	kind    string
	loop    dataflow.Loop
	in, out int // ports
	perWord int
}

// newBlender returns a blender with as many ports as its loop uses.
func newBlender(kind string, l dataflow.Loop, perWord int) blender {
	var all dataflow.PortMoves
	w := l.NewWalker()
	for range l.IterationsPerFrame() {
		all.Read |= w.NextMoves().Read
		all.Write |= w.NextMoves().Write
		w.AdvanceIteration()
	}
	return blender{kind, l, bits.Len64(all.Read), bits.Len64(all.Write), perWord}
}

func (b blender) Kind() string { return b.kind }

func (b blender) Describe() dataflow.LayerDescription { return dataflow.LayerDescription{} }
func (b blender) Params() any                         { return b.loop }

func (b blender) frame(words int) dataflow.StreamType {
	return dataflow.StreamType{Shape: dataflow.Shape{words, b.perWord}, Range: []num.Range{uint8s.Range()},
		Elem: uint8s}
}

func (b blender) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	if len(in) != b.in {
		return nil, nil, fmt.Errorf("%d inputs, want %d", len(in), b.in)
	}
	for p := range b.in {
		if want := b.loop.WordsRead(p); in[p].Shape[0] != want {
			return nil, nil, fmt.Errorf("%d words at input %d, want %d", in[p].Shape[0], p, want)
		}
	}
	var out []dataflow.StreamType
	for p := range b.out {
		out = append(out, b.frame(b.loop.WordsWritten(p)))
	}
	return b, out, nil
}

func (b blender) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	k := b.Kernel(b.only(), dataflow.Target{})
	read, out := make([]int, b.in), make([]dataflow.Tensor, b.out)
	for p := range out {
		out[p].Shape = dataflow.Shape{b.loop.WordsWritten(p), b.perWord}
	}
	for i := range b.loop.IterationsPerFrame() {
		words := make([]dataflow.Word, b.in)
		for p := range words {
			if b.loop.MovesOfIteration(i).Read>>p&1 != 0 {
				words[p] = in[p].Data[read[p]:][:b.perWord]
				read[p] += b.perWord
			}
		}
		for p, w := range k.Step(i, words) {
			out[p].Data = append(out[p].Data, w...)
		}
	}
	return out
}

func (b blender) only() dataflow.Fold { return dataflow.Fold{PE: 1, SIMD: 1} }

func (b blender) Folds() iter.Seq[dataflow.Fold] {
	return slices.Values([]dataflow.Fold{b.only()})
}

func (b blender) Ports(dataflow.Fold) (in, out []dataflow.Port) {
	for p := range b.in {
		in = append(in, dataflow.Port{Elem: uint8s, PerWord: b.perWord, Words: b.loop.WordsRead(p)})
	}
	for p := range b.out {
		out = append(out, dataflow.Port{Elem: uint8s, PerWord: b.perWord, Words: b.loop.WordsWritten(p)})
	}
	return in, out
}

func (b blender) Loop(dataflow.Fold, dataflow.Target) dataflow.Loop           { return b.loop }
func (b blender) Cost(dataflow.Fold, dataflow.Target) dataflow.Cost           { return nil }
func (b blender) Emit(dataflow.Fold, dataflow.Target) dataflow.KernelInstance { panic("no C++") }
func (b blender) Kernel(dataflow.Fold, dataflow.Target) dataflow.Kernel       { return &blend{layer: b} }

type blend struct {
	layer  blender
	digest uint64
}

func (k *blend) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	if iteration == 0 {
		k.digest = 0
	}
	for p, w := range in {
		for _, v := range w {
			k.digest = mix(k.digest ^ uint64(v) ^ uint64(p)<<8)
		}
	}
	out := make([]dataflow.Word, k.layer.out)
	for p := range out {
		if k.layer.loop.MovesOfIteration(iteration).Write>>p&1 != 0 {
			for i := range k.layer.perWord {
				out[p] = append(out[p], int64(mix(k.digest+uint64(i))&255))
			}
		}
	}
	return out
}

// A net builds designs of blenders.
type net struct {
	t       testing.TB
	b       dataflow.GraphBuilder
	perWord int
}

func (n *net) input(words int) int {
	return n.b.AddInput("", blender{perWord: n.perWord}.frame(words))
}

func (n *net) add(kind string, l dataflow.Loop, in ...int) []int {
	n.t.Helper()
	out, err := n.b.BindAndAddLayer(newBlender(kind, l, n.perWord), in, nil, nil)
	if err != nil {
		n.t.Fatal(err)
	}
	return out
}

// design completes the design. Every stream gets the given depth.
func (n *net) design(depth int, out ...int) *dataflow.Design {
	n.t.Helper()
	for _, s := range out {
		n.b.MarkOutput(s)
	}
	g, err := n.b.VerifiedGraph()
	if err != nil {
		n.t.Fatal(err)
	}
	return &dataflow.Design{Model: &dataflow.Model{Graph: g},
		Folds: slices.Repeat([]dataflow.Fold{{PE: 1, SIMD: 1}}, len(g.Nodes)),
		FIFO:  slices.Repeat(dataflow.NewShiftRegisterFIFOs(depth), len(g.Streams))}
}

// access returns an access from letters: e for each, f for first, l for last.
func access(kinds string) dataflow.PortMoveIndices {
	var a dataflow.PortMoveIndices
	for _, k := range kinds {
		a = append(a, dataflow.IndexSet{Kind: map[rune]dataflow.IndexSetKind{'e': dataflow.IndexSetKindEvery,
			'f': dataflow.IndexSetKindFirst,
			'l': dataflow.IndexSetKindLast}[k]})
	}
	return a
}

func accesses(kinds ...string) (list []dataflow.PortMoveIndices) {
	for _, k := range kinds {
		list = append(list, access(k))
	}
	return list
}

// matrix returns the loop of a matrix product: per vector, sf words in and nf words out.
func matrix(vectors, nf, sf, latency int) dataflow.Loop {
	return dataflow.LoopNest{Trips: []int{vectors, nf, sf}, Read: accesses("efe"), Write: accesses("eel"),
		Latency: latency}.AsLoop()
}

// pass returns a loop of n iterations that read a word of every input and write a word of every output.
func pass(n, in, out, latency int) dataflow.Loop {
	return dataflow.LoopNest{Trips: []int{n}, Read: slices.Repeat(accesses("e"), in),
		Write: slices.Repeat(accesses("e"), out), Latency: latency}.AsLoop()
}

// hold returns a loop that reads all n words of a frame before it writes n.
func hold(n, latency int) dataflow.Loop {
	return dataflow.LoopNest{Trips: []int{2, n}, Read: accesses("fe"), Write: accesses("le"), Latency: latency}.AsLoop()
}

// regroup returns the loop of a width converter from n words to m words per period.
func regroup(periods, n, m, latency int) dataflow.Loop {
	mark := func(k int) dataflow.PortMoveIndices {
		p := make([]byte, max(n, m))
		for i := range p {
			p[i] = '0'
			if k*(i+1)/len(p) > k*i/len(p) {
				p[i] = '1'
			}
		}
		return dataflow.PortMoveIndices{{Kind: dataflow.IndexSetKindEvery}, {Kind: dataflow.IndexSetKindPattern,
			Pattern: string(p)}}
	}
	return dataflow.LoopNest{Trips: []int{periods, max(n, m)}, Read: []dataflow.PortMoveIndices{mark(n)},
		Write: []dataflow.PortMoveIndices{mark(m)}, Latency: latency}.AsLoop()
}

// randomNet grows a network from one or two inputs. Every stream has 1 to 6 words per period of a frame. A test
// draws whatever else it needs from the returned rng. Three of four seeds use the rule of HLS (Frozen), the others
// credits.
func randomNet(t testing.TB, seed, sequence uint64) (*dataflow.Design, *rand.Rand) {
	return longNet(t, seed, sequence, 1)
}

// longNet is randomNet with the given number of times as many periods.
func longNet(t testing.TB, seed, sequence uint64, times int) (d *dataflow.Design, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(seed, sequence))
	n := &net{t: t, perWord: 1 + rng.IntN(3)}
	periods := (1 + rng.IntN(5)) * times
	type open struct{ stream, words int }
	var ends []open
	for range 1 + rng.IntN(2) {
		w := 1 + rng.IntN(4)
		ends = append(ends, open{n.input(periods * w), w})
	}
	for step := 0; step < len(ends) || step < 2+rng.IntN(6); step++ {
		i := min(step, rng.IntN(len(ends)))
		e := ends[i]
		ends = slices.Delete(ends, i, i+1)
		latency := 1 + rng.IntN(4)
		words := 1 + rng.IntN(6)
		j := slices.IndexFunc(ends, func(o open) bool { return o.words == e.words })
		switch c := rng.IntN(8); {
		case c >= 6 && len(ends) < 4, step == 0:
			for _, s := range n.add("Fork", pass(periods*e.words, 1, 2, latency), e.stream) {
				ends = append(ends, open{s, e.words})
			}
		case c == 0:
			ends = append(ends, open{n.add("Matrix", matrix(periods, words, e.words, latency), e.stream)[0], words})
		case c == 1:
			ends = append(ends, open{n.add("Regroup", regroup(periods, e.words, words, latency), e.stream)[0], words})
		case c == 2, c == 3:
			ends = append(ends, open{n.add("Hold", hold(periods*e.words, latency), e.stream)[0], e.words})
		case j >= 0:
			o := ends[j]
			ends = slices.Delete(ends, j, j+1)
			ends = append(ends, open{n.add("Join", pass(periods*e.words, 2, 1, latency), e.stream, o.stream)[0],
				e.words})
		default:
			ends = append(ends, open{n.add("Pass", pass(periods*e.words, 1, 1, latency), e.stream)[0], e.words})
		}
	}
	// An input that no layer has read yet cannot be an output.
	var out []int
	for _, e := range ends {
		out = append(out, n.add("Pass", pass(periods*e.words, 1, 1, 1), e.stream)[0])
	}
	d = n.design(1, out...)
	for s := range d.FIFO {
		d.FIFO[s].Depth = 1 + rng.IntN(4)
	}
	if seed/2%4 == 0 {
		d.Target.Backend = dataflow.BackendRTL
	}
	return d, rng
}

func randomFrames(d *dataflow.Design, count int, rng *rand.Rand) [][]dataflow.Tensor {
	g := d.Model.Graph
	var frames [][]dataflow.Tensor
	for range count {
		var in []dataflow.Tensor
		for _, s := range g.In {
			v := dataflow.Tensor{Shape: g.Streams[s].Type.Shape}
			for range v.Shape.ElementCount() {
				v.Data = append(v.Data, int64(rng.IntN(256)))
			}
			in = append(in, v)
		}
		frames = append(frames, in)
	}
	return frames
}
