package space

import (
	"encoding/binary"
	"math/big"
	"slices"
	"sync"

	"hlsgen/folding/goal"
	"hlsgen/folding/search"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
)

// A form describes how a frame travels past one end of a stream: in words of per elements, in tiles of tile channels
// (dataflow.RowMajorPort).
type form struct{ per, tile int }

func forms(ports []dataflow.Port) []form {
	f := make([]form, len(ports))
	for i, p := range ports {
		f[i] = form{p.PerWord, p.Tile}
	}
	return f
}

// key returns a map key for a list of forms.
func key(list []form) string {
	b := make([]byte, 0, 8*len(list))
	for _, f := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(f.per))
		b = binary.LittleEndian.AppendUint32(b, uint32(f.tile))
	}
	return string(b)
}

// A StreamEnds holds a stream's two ends, and the forms that occur there.
type StreamEnds struct {
	typ            dataflow.StreamType
	class          int // the first stream whose frames have the same shape and elements
	writer, reader end
	host           []hostForm // for a stream of the host: one per form of the layer at the other end
	// the FIFOs that a folding file gives behind the writer and in front of the reader; zero if it gives none
	out, in dataflow.FIFO
}

// An end is a port of a layer. The layer is -1 for the host, which takes any form.
type end struct {
	layer, port int
	forms       []form
}

// A hostForm holds the effect of a form at the host's end of a stream.
type hostForm struct {
	clocks int // the clocks of a frame at the host's port
	bytes  int64
}

// inner reports whether both ends of the stream are layers, not the host.
func (s *StreamEnds) inner() bool { return s.writer.layer >= 0 && s.reader.layer >= 0 }

// alike reports whether the two streams have the same class, forms and given FIFOs, and so the same choices.
func (s *StreamEnds) alike(o *StreamEnds) bool {
	return s.class == o.class && s.in == o.in && s.out == o.out &&
		slices.Equal(s.writer.forms, o.writer.forms) && slices.Equal(s.reader.forms, o.reader.forms)
}

// WriterAndReaderLayers returns the layers at the two ends; -1 for the host.
func (s *StreamEnds) WriterAndReaderLayers() (writer, reader int) {
	return s.writer.layer, s.reader.layer
}

// layerEnd returns the end at the layer, for a stream that the host writes or reads.
func (s *StreamEnds) layerEnd() *end {
	if s.reader.layer < 0 {
		return &s.writer
	}
	return &s.reader
}

// least returns the fewest clocks per frame at the host's end of the stream, over all forms. It is 0 for a stream
// between layers.
func (s *StreamEnds) least() int {
	if len(s.host) == 0 {
		return 0
	}
	return slices.MinFunc(s.host, func(a, b hostForm) int { return a.clocks - b.clocks }).clocks
}

// port returns the stream's port for a form.
func (s *StreamEnds) port(f form) dataflow.Port {
	return dataflow.Port{Elem: s.typ.Elem, PerWord: f.per, Words: s.typ.Shape.ElementCount() / f.per, Tile: f.tile}
}

func newStreams(g *dataflow.Graph) []StreamEnds {
	list := make([]StreamEnds, len(g.Streams))
	for i := range list {
		t := g.Streams[i].Type
		class := slices.IndexFunc(g.Streams[:i], func(o *dataflow.Stream) bool {
			return o.Type.Elem == t.Elem && slices.Equal(o.Type.Shape, t.Shape)
		})
		if class < 0 {
			class = i
		}
		list[i] = StreamEnds{typ: t, class: class, writer: end{layer: -1}, reader: end{layer: -1}}
	}
	for i, n := range g.Nodes {
		for p, id := range n.In {
			list[id].reader = end{layer: i, port: p}
		}
		for p, id := range n.Out {
			list[id].writer = end{layer: i, port: p}
		}
	}
	return list
}

// list collects the forms of both ends of a stream, and for a stream of the host their clocks and bytes.
func (j *joints) list(id int, layers []LayerFoldOptions) {
	s := &j.streams[id]
	s.host = nil
	for _, e := range []*end{&s.writer, &s.reader} {
		if e.forms = nil; e.layer < 0 {
			continue
		}
		l := &layers[e.layer]
		for o := range l.Options {
			f := l.shape(o).port(e == &s.writer, e.port)
			if !slices.Contains(e.forms, f) {
				e.forms = append(e.forms, f)
			}
		}
		if s.inner() {
			continue
		}
		for _, f := range e.forms {
			p, h := s.port(j.border(id, f)), hostForm{}
			if h.clocks = p.Words * j.target.HostClocksPerWord(p); j.target.HostPortBits() > 0 {
				h.bytes = int64(p.FrameBytes())
			}
			s.host = append(s.host, h)
		}
	}
}

// port returns the form of output i or input i.
func (sh *shape) port(out bool, i int) form {
	if out {
		return sh.out[i]
	}
	return sh.in[i]
}

// A HostMemoryBandwidth is the bandwidth of the processor's memory, in bytes per clock. The zero value is an unlimited
// bandwidth, for targets that do not use that memory and boards whose bandwidth is not known.
type HostMemoryBandwidth struct{ perClock *big.Rat }

func memoryOf(t dataflow.Target, clockMHz float64) HostMemoryBandwidth {
	gb := t.Board.MemoryGBps
	if gb == 0 || t.HostPortBits() == 0 {
		return HostMemoryBandwidth{}
	}
	perClock := new(big.Rat).Mul(goal.RationalOfShortestDecimal(gb), big.NewRat(1000, 1)) // MB/s over MHz
	return HostMemoryBandwidth{perClock.Quo(perClock, goal.RationalOfShortestDecimal(clockMHz))}
}

// clocks returns the fewest clocks in which the memory carries the given bytes.
func (m HostMemoryBandwidth) clocks(bytes int64) int {
	if m.perClock == nil {
		return 0
	}
	return goal.CappedCeilingOfRational(new(big.Rat).Quo(big.NewRat(bytes, 1), m.perClock))
}

// BytesInClocks returns the number of bytes that the memory carries in the given clocks, or search.NoCap for an
// unlimited bandwidth.
func (m HostMemoryBandwidth) BytesInClocks(clocks int) int64 {
	if m.perClock == nil {
		return search.NoCap
	}
	n := big.NewRat(int64(min(clocks, goal.ClocksBeyondAnyInterval/1000)), 1)
	return int64(goal.CappedFloorOfRational(n.Mul(n, m.perClock)))
}

// MinClocksPerFrame returns the fewest clocks in which the processor's memory carries a frame of a design, or 0 for an
// unlimited bandwidth.
func (m HostMemoryBandwidth) MinClocksPerFrame(d *dataflow.Design) int {
	return m.clocks(int64(MemoryBytesPerFrame(d)))
}

// MemoryBytesPerFrame returns the bytes that each frame moves to and from the processor's memory, including weights
// that come from there. It is 0 for targets without a port to the host.
func MemoryBytesPerFrame(d *dataflow.Design) (bytes int) {
	if d.Target.HostPortBits() == 0 {
		return 0
	}
	for _, s := range slices.Concat(d.Model.Graph.In, d.Model.Graph.Out) {
		bytes += d.PortOfStream(s).FrameBytes()
	}
	for _, w := range d.ExternalWeights() {
		bytes += int(w.BytesPerFrame())
	}
	return bytes
}

// border returns the form that the host uses for a stream whose layer has form f. That is f, unless its words are wider
// than the board's port. Then it is the widest form that fits the port and that a width converter joins to f. Sequences
// of several lengths keep f, because the words of a time step must line up with the layer's.
func (j *joints) border(id int, f form) form {
	s, bits := &j.streams[id], j.target.HostPortBits()
	if bits == 0 || s.port(f).TDATABits() <= bits || j.sequences {
		return f
	}
	for per := min(f.per-1, bits/s.typ.Elem.Width); per > 0; per-- {
		narrow := form{per, f.tile}
		if in, out := s.orient(f, narrow); j.convert(id, in, out).ok {
			return narrow
		}
	}
	return f
}

// orient returns the forms behind the writer and in front of the reader of a stream of the host. layer is the layer's
// form, and host the host's.
func (s *StreamEnds) orient(layer, host form) (in, out form) {
	if s.reader.layer < 0 {
		return layer, host
	}
	return host, layer
}

// converter returns an unbound layer that converts words of form in to words of form out.
func converter(in, out form) dataflow.Op {
	return dwc.New(dwc.Params{In: in.per, Out: out.per, Tile: in.tile})
}

// joints caches the width converters and FIFOs that can stand between layers.
type joints struct {
	target     dataflow.Target
	sequences  bool // whether sequences have several lengths
	uart       bool // whether a UART top is around the network
	worthwhile bool // whether FIFOs of few words are kept out of block RAM
	board      goal.Budget
	streams    []StreamEnds
	mu         sync.Mutex
	converters map[conversion]converted
	fifos      sync.Map // fifoKind to []way
}

// A conversion identifies a width converter: a class of streams, and the forms at its two ends.
type conversion struct {
	class   int
	in, out form
}

// converted describes a width converter as it would be built; ok is false if there is none.
type converted struct {
	fold dataflow.Fold
	loop dataflow.Loop
	cost search.AmountVector
	ok   bool
}

// convert returns the width converter from form in to form out on a stream. Equal forms need none, and none changes the
// tile.
func (j *joints) convert(id int, in, out form) converted {
	if in == out || in.tile != out.tile {
		return converted{ok: in == out}
	}
	c := conversion{j.streams[id].class, in, out}
	j.mu.Lock()
	defer j.mu.Unlock()
	k, known := j.converters[c]
	if !known {
		k = j.bind(c)
		j.converters[c] = k
	}
	return k
}

func (j *joints) bind(c conversion) converted {
	op, _, err := converter(c.in, c.out).Bind([]dataflow.StreamType{j.streams[c.class].typ})
	if err != nil {
		return converted{}
	}
	for f := range op.Folds() { // a width converter has a single fold
		r := op.Cost(f, j.target).Total()
		return converted{f, op.Loop(f, j.target), j.board.AmountVectorOf(r), goal.BoardHasResourceKinds(r,
			j.target.Board)}
	}
	panic("folding: " + op.Kind() + " has no fold")
}

// A way is one way to build a FIFO, with its cost.
type way struct {
	dataflow.FIFO
	cost search.AmountVector
}

// ways returns the ways to build a FIFO behind port p, without those that another way beats. Each FIFO is as deep as
// its cost allows (cost.CostModel.FIFOOptions), unless k.exact fixes the words. If k names a memory and the FIFO fits
// there, it lies there.
func (j *joints) ways(k fifoKind, p dataflow.Port) []way {
	k.width = p.Width()
	if k.read || j.target.Counters || j.uart && k.host {
		k.frame = p.Words
	}
	known, ok := j.fifos.Load(k)
	if !ok {
		known, _ = j.fifos.LoadOrStore(k, j.build(k, p))
	}
	return known.([]way)
}

// CanBlockRAMFIFOsSaveLogic reports whether a FIFO in block RAM or UltraRAM could save logic (LUTs or registers) over a
// FIFO of few words in LUTs. The space keeps FIFOs of few words out of block RAM. Where CanBlockRAMFIFOsSaveLogic is
// true, a bound of the search does not cover designs in which a FIFO in block RAM saves logic. That includes deep
// FIFOs, because the search takes every FIFO for a shallow one until a simulation needs more.
func CanBlockRAMFIFOsSaveLogic(s *FoldingSpace) bool {
	if !s.worthwhile {
		return false
	}
	known := map[dataflow.Port]bool{}
	saves := func(p dataflow.Port) bool {
		saved, ok := known[p]
		if !ok {
			saved = s.saves(p)
			known[p] = saved
		}
		return saved
	}
	for id := range s.Streams {
		st := &s.Streams[id]
		for _, e := range []*end{&st.writer, &st.reader} {
			for _, f := range e.forms {
				if saves(st.port(f)) || !st.inner() && saves(st.port(s.border(id, f))) {
					return true
				}
			}
		}
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		for k := range l.Options {
			o := &l.Options[k]
			if !o.forked && !slices.ContainsFunc(o.inside, saves) {
				continue
			}
			askAll(s, l, o.clocks, !l.isNarrow(o))
			if !o.left && slices.ContainsFunc(o.split.inner, func(n inner) bool { return saves(n.port) }) {
				return true
			}
		}
	}
	return false
}

// saves reports whether a FIFO in block RAM or UltraRAM behind port p saves some logic over every FIFO of few words in
// LUTs.
func (j *joints) saves(p dataflow.Port) bool {
	k := fifoKind{words: fewest, width: p.Width()}
	list := j.possible(k, p)
	inLUTs := j.spared(k, list)
	return len(inLUTs) < len(list) && slices.ContainsFunc(list, func(w way) bool {
		return !slices.ContainsFunc(inLUTs, func(l way) bool { return l.cost.IsWithin(&w.cost) })
	})
}

// spared removes block RAM and UltraRAM from the ways to build a FIFO of few words. It does so only if LUTs can hold
// the FIFO and the space is not to offer everything.
func (j *joints) spared(k fifoKind, list []way) []way {
	few := 0
	for _, f := range estimate.CostModelOf(j.target).FIFOOptions(lutWords, k.width) {
		if estimate.MemoryOfStyle(f.Memory) == dataflow.MemoryLUTRAM {
			few = f.Depth
		}
	}
	inLUTs := slices.DeleteFunc(slices.Clone(list), func(w way) bool {
		return w.Memory == dataflow.MemoryBRAM || w.Memory == dataflow.MemoryURAM
	})
	if !j.worthwhile || k.words > few || len(inLUTs) == 0 || len(inLUTs) == len(list) {
		return list
	}
	return inLUTs
}

// A fifoKind holds what the ways to build a FIFO depend on.
type fifoKind struct {
	words, width int
	exact        bool // whether the FIFO must hold exactly words
	host         bool // whether the host writes it
	read         bool // whether the host reads it
	frame        int  // words of a frame, if a counter counts them; else 0
	memory       dataflow.Memory
}

// fewest is the depth in words of a FIFO that is not known to need more.
const fewest = 2

// lutWords is the depth in words up to which FIFOs lie in LUTs where block RAM would do, too.
const lutWords = 8

// possible returns every way to build a FIFO that the device has room for.
func (j *joints) possible(k fifoKind, p dataflow.Port) (list []way) {
	ahead := 0
	if k.host {
		ahead = j.target.ExtraHostFIFOWords()
	}
	for _, f := range estimate.CostModelOf(j.target).FIFOOptions(k.words, k.width) {
		made := dataflow.FIFO{Depth: max(k.words, f.Depth-ahead), Memory: estimate.MemoryOfStyle(f.Memory)}
		if k.exact {
			made.Depth = k.words
		}
		r := estimate.StreamFIFOCostForWriter(j.target, made, p, k.host).Total()
		if k.frame > 0 {
			r = r.Plus(estimate.StreamWrapperCost(j.target, k.frame, k.read).Total())
		}
		if j.uart {
			r = r.Plus(estimate.UARTStreamCost(j.target, p, k.host, k.read).Total())
		}
		if !goal.BoardHasResourceKinds(r, j.target.Board) || j.target.Formula == dataflow.FINNCostFormula &&
			made.Memory == dataflow.MemoryLUTRAM {
			continue
		}
		list = append(list, way{FIFO: made, cost: j.board.AmountVectorOf(r)})
	}
	return list
}

func (j *joints) build(k fifoKind, p dataflow.Port) []way {
	list := j.possible(k, p)
	other := func(w way) bool { return w.Memory != k.memory }
	if k.memory != dataflow.NoMemory && slices.ContainsFunc(list, func(w way) bool { return !other(w) }) {
		list = slices.DeleteFunc(list, other)
	}
	if k.memory == dataflow.NoMemory {
		list = j.spared(k, list)
	}
	var kept []way
	for i, w := range list {
		beaten := slices.ContainsFunc(list[:i], func(o way) bool { return o.cost.IsWithin(&w.cost) }) ||
			slices.ContainsFunc(list[i+1:], func(o way) bool { return o.cost != w.cost && o.cost.IsWithin(&w.cost) })
		if !beaten {
			kept = append(kept, w)
		}
	}
	return kept
}
