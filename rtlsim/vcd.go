package rtlsim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/bits"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

var errNoRecord = errors.New("the run kept no record")

// WriteVCD writes a run recorded with Options.Record as a value change dump (IEEE 1364-2005, 18); any other run is an
// error. It has the clock, and per layer the signals busy, starved and blocked. Per stream it has valid (there is a
// word for the reader), ready (there is room for a word) and the number of words. Values of a clock begin at its rising
// edge. If frames are given, each a tensor per stream, data is the word that the reader finds, its first element in the
// lowest bits; without a word it stays as it was.
func WriteVCD(w io.Writer, d *dataflow.Design, t *RunTrace, frames [][]dataflow.Tensor) error {
	if t.Record == nil || t.Record.Streams == nil {
		return errNoRecord
	}
	v := &vcd{w: bufio.NewWriter(w)}
	half := halfPeriod(d)
	fmt.Fprint(v.w, "$timescale 1 ps $end\n$scope module design $end\n")
	clk := v.declare("clk", 1)
	changes := v.layers(d, t)
	changes = append(changes, v.streams(d, t, frames)...)
	fmt.Fprint(v.w, "$upscope $end\n$enddefinitions $end\n")
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.clock, b.clock) })
	for clock := range t.Cycles {
		fmt.Fprintf(v.w, "#%d\n1%s\n", 2*half*clock, clk)
		for len(changes) > 0 && changes[0].clock == clock {
			v.write(changes[0])
			changes = changes[1:]
		}
		fmt.Fprintf(v.w, "#%d\n0%s\n", 2*half*clock+half, clk)
	}
	fmt.Fprintf(v.w, "#%d\n", 2*half*t.Cycles)
	return v.w.Flush()
}

// halfPeriod returns half a period of the design's clock, in picoseconds.
func halfPeriod(d *dataflow.Design) int { return int(500_000/max(d.Target.ClockMHz, 1) + .5) }

type vcd struct {
	w     *bufio.Writer
	count int // number of variables
}

// A change is a new value of a variable of the dump, in a clock: a number or, where that is not empty, a word. Digits
// of words are made where they are written: all together take many times the memory of the elements.
type change struct {
	clock, value int
	id           string
	vector       bool
	word         []int64
	elem         *num.Type
}

func (v *vcd) scope(name string) { fmt.Fprintf(v.w, "$scope module %s $end\n", plainName(name)) }
func (v *vcd) close()            { fmt.Fprint(v.w, "$upscope $end\n") }

// declare writes the declaration of a variable of width bits, and returns its identifier code.
func (v *vcd) declare(name string, width int) string {
	var id []byte
	for n := v.count; ; n = n/94 - 1 {
		id = append(id, byte('!'+n%94))
		if n < 94 {
			break
		}
	}
	v.count++
	fmt.Fprintf(v.w, "$var wire %d %s %s $end\n", width, id, name)
	return string(id)
}

func (v *vcd) write(c change) {
	switch {
	case len(c.word) > 0:
		fmt.Fprintf(v.w, "b%s %s\n", digits(*c.elem, c.word), c.id)
	case c.vector:
		fmt.Fprintf(v.w, "b%b %s\n", c.value, c.id)
	default:
		fmt.Fprintf(v.w, "%d%s\n", c.value, c.id)
	}
}

func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

func (v *vcd) layers(d *dataflow.Design, t *RunTrace) (changes []change) {
	for i := range t.Record.Layers {
		v.scope(d.Model.Graph.Nodes[i].Name)
		var ids [3]string
		for s := StateBusy; s <= StateBlocked; s++ {
			ids[s] = v.declare(s.String(), 1)
			changes = append(changes, change{id: ids[s], clock: 0, value: 0})
		}
		v.close()
		for span := range t.Record.Layers[i].AllSpans() {
			changes = append(changes, change{id: ids[span.LayerState], clock: span.From, value: 1},
				change{id: ids[span.LayerState], clock: span.To, value: 0})
		}
	}
	return changes
}

// streams declares the variables of all streams, and returns their changes.
func (v *vcd) streams(d *dataflow.Design, t *RunTrace, frames [][]dataflow.Tensor) (changes []change) {
	for s := range t.Record.Streams {
		stream := d.Model.Graph.Streams[s]
		v.scope(fmt.Sprintf("s%d_%s", s, stream.Name))
		valid, ready := v.declare("valid", 1), v.declare("ready", 1)
		words := v.declare("words", max(1, bits.Len(uint(t.High[s]))))
		data := ""
		if frames != nil {
			data = v.declare("data", d.PortOfStream(s).Width())
		}
		v.close()
		if data != "" {
			elem := d.PortOfStream(s).Elem
			for clock, word := range heads(d, t, s, frames) {
				changes = append(changes, change{clock: clock, id: data, word: word, elem: &elem})
			}
		}
		was := [3]int{-1, -1, -1}
		for _, h := range handshakes(d, t, s) {
			now := [3]int{h.valid, h.ready, h.words}
			for i, id := range []string{valid, ready, words} {
				if now[i] != was[i] {
					changes = append(changes, change{clock: h.clock, value: now[i], id: id, vector: i == 2})
				}
			}
			was = now
		}
	}
	return changes
}

// heads yields the words of a stream in the order in which its reader finds them, each with the first clock in which it
// does.
func heads(d *dataflow.Design, t *RunTrace, s int, frames [][]dataflow.Tensor) iter.Seq2[int, []int64] {
	return func(yield func(int, []int64) bool) {
		port, m := d.PortOfStream(s), t.Record.Streams[s]
		k := 0 // number of the word in the run
		for _, frame := range frames {
			sent := port.ToStreamOrder(frame[s])
			for word := range slices.Chunk(sent, port.PerWord) {
				if k >= len(m.Arrived) {
					return
				}
				clock := m.Arrived[k]
				if k > 0 && k-1 < len(m.Read) {
					clock = max(clock, m.Read[k-1]+1)
				}
				if !yield(clock, word) {
					return
				}
				k++
			}
		}
	}
}

// digits returns the binary digits of a word of elements, the last element first.
func digits(of num.Type, word []int64) string {
	var b strings.Builder
	for _, v := range slices.Backward(word) {
		fmt.Fprintf(&b, "%0*b", of.Width, of.EncodeBits(v))
	}
	return b.String()
}

// A handshake is the state of a stream from a clock on: 1 if there is a word for the reader, 1 if there is room for
// one, and the number of words.
type handshake struct{ clock, valid, ready, words int }

// handshakes returns the states of a stream of a recorded run, the first from clock 0 on. Some may be alike.
func handshakes(d *dataflow.Design, t *RunTrace, s int) (list []handshake) {
	m := t.Record.Streams[s]
	for _, c := range m.clocks() {
		held := m.held(c)
		h := handshake{c, min(held, 1), 1, held}
		if m.taken(c) >= d.FIFO[s].Depth {
			h.ready = 0
		}
		list = append(list, h)
	}
	return list
}

// clocks returns the clocks in which the content of the stream may change, in order.
func (m WordClocks) clocks() []int {
	list := append([]int{0}, m.Arrived...)
	for _, c := range slices.Concat(m.Written, m.Read) {
		list = append(list, c+1)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// held returns the number of words in the FIFO in the given clock, before any is read.
func (m WordClocks) held(clock int) int {
	in, _ := slices.BinarySearch(m.Arrived, clock+1)
	out, _ := slices.BinarySearch(m.Read, clock)
	return in - out
}

// taken returns the number of places of the FIFO that were taken before a clock and are not free yet.
func (m WordClocks) taken(clock int) int {
	in, _ := slices.BinarySearch(m.Written, clock)
	out, _ := slices.BinarySearch(m.Read, clock)
	return in - out
}
