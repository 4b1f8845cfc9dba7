package dataflow

import "fmt"

// An Envelope is the most products that one process computes in a clock: its loop's body holds all of them, and the
// time and the memory that a synthesis tool needs grow faster than the body. A product counts by the wider of its
// factors. The zero Envelope is what the target's back end has without being asked (Target.Parts): of C++ it is
// DefaultEnvelope, of SystemVerilog MostBits.
type Envelope struct {
	Wide int // of more than 4 bits
	Few  int // of 2 to 4 bits
	One  int // of 1 bit
}

// DefaultEnvelope is a guess, until synthesis runs of wider and wider bodies say better.
var DefaultEnvelope = Envelope{Wide: 1024, Few: 2048, One: 8192}

// MostBits is how many bits one process of SystemVerilog adds in a clock. Its text is modules of about a sixteenth of
// that (package rtl), for each of which Yosys takes less than 2 GiB and five minutes.
const MostBits = 1 << 17

// Of is the envelope itself, or the default where that was left open.
func (e Envelope) Of() Envelope {
	if e == (Envelope{}) {
		return DefaultEnvelope
	}
	return e
}

// Most is how many products of so many bits one process computes in a clock.
func (e Envelope) Most(bits int) int {
	e = e.Of()
	return *e.at(bits)
}

func (e *Envelope) at(bits int) *int {
	switch {
	case bits > 4:
		return &e.Wide
	case bits > 1:
		return &e.Few
	}
	return &e.One
}

// String is the envelope as --max-unroll takes it: 1024,2048,8192, or one number for all widths.
func (e Envelope) String() string {
	if e = e.Of(); e.Wide == e.Few && e.Few == e.One {
		return fmt.Sprint(e.Wide)
	}
	return fmt.Sprintf("%d,%d,%d", e.Wide, e.Few, e.One)
}

// Unrolled is implemented by layers whose products an Envelope bounds.
type Unrolled interface {
	// Products is how many products an iteration of a fold computes, and the bits of the wider factor.
	Products(Fold) (n, bits int)
}

// Adding is implemented by those that know how many bits the circuit of a fold adds in an iteration. Of others each bit
// of a factor is an addend.
type Adding interface{ Adds(Fold) int }

// Adds is how many bits a layer adds in an iteration of a fold.
func Adds(op Unrolled, f Fold) int {
	if a, ok := op.(Adding); ok {
		return a.Adds(f)
	}
	n, bits := op.Products(f)
	return n * bits * bits
}

// Divisible is implemented by layers whose PE may be dealt out to several layers of the same kind.
type Divisible interface {
	// Part is, of n layers that share a fold's PE, the one with number k, bound, with its output. It reads
	// all words of the layer's only input, in the same iterations, and of every word of the layer's only output it
	// makes the elements from k*PE/n on, PE/n of them. n divides PE. It may lack a choice of memory or of multipliers
	// that the layer has.
	Part(f Fold, k, n int) (part Op, out Type, err error)
	// Alike reports whether a part has the folds of another part of the same fold, and for a target the same loop and
	// the same cost in each that has a fold's PE. It may say no where that is so.
	Alike(other Op, f Fold, t Target) bool
}

// Built reports whether what bounds a process is what is built of it, not its products: where SystemVerilog is written,
// and that alone, and the user has not said how many products a process may compute.
func (t Target) Built() bool { return t.Stalls == Credit && t.Unroll == Envelope{} }

// Bounds is what bounds a process, as messages say it.
func (t Target) Bounds() string {
	if t.Built() {
		return fmt.Sprintf("%d bits of sums", MostBits)
	}
	return "--max-unroll " + t.Unroll.String()
}

// Parts is the fewest processes that compute a fold of a layer within the target's envelope; 0 where none can. It is 1
// for layers that an envelope does not bound.
func (t Target) Parts(op Op, f Fold) int {
	m, ok := op.(Unrolled)
	if !ok {
		return 1
	}
	if t.Built() {
		return fewest(op, f, Adds(m, f), MostBits)
	}
	n, bits := m.Products(f)
	return fewest(op, f, n, t.Unroll.Most(bits))
}

// fewest is the fewest processes of a fold, which takes n of something, that each take so many at most.
func fewest(op Op, f Fold, n, most int) int {
	if n <= most {
		return 1
	}
	for parts, all := 2, MostParts(op, f); parts <= all; parts++ {
		if f.PE%parts == 0 && n/parts <= most {
			return parts
		}
	}
	return 0
}

// MostParts is how many processes a fold of a layer may be dealt out to.
func MostParts(op Op, f Fold) (parts int) {
	if _, ok := op.(Divisible); !ok {
		return 1
	}
	for parts = min(f.PE, MaxPorts); f.PE%parts != 0; {
		parts--
	}
	return parts
}

// For is the target's envelope raised just so far that it has room for a fold of a layer. What is built is not counted
// in products: there it is one that bounds no layer.
func (t Target) For(op Op, f Fold) Envelope {
	if t.Built() {
		return Unbounded
	}
	e := t.Unroll.Of()
	if m, ok := op.(Unrolled); ok {
		n, bits := m.Products(f)
		most := e.at(bits)
		*most = max(*most, n/MostParts(op, f))
	}
	return e
}

// Unbounded is the widest envelope that may be asked for.
var Unbounded = Envelope{Wide: MostUnrolled, Few: MostUnrolled, One: MostUnrolled}

// MostUnrolled bounds the products that may be asked for.
const MostUnrolled = 1 << 20

// Sum orders envelopes, of which each is the other raised.
func (e Envelope) Sum() int { return e.Wide + e.Few + e.One }

// A Whole is a layer of a model that a design builds as several nodes: a fork, parts, and a join.
type Whole struct {
	Name string // in the model
	Op   Op
	Fold Fold
}

// Layer is the name that a node's layer has in the model.
func (n *Node) Layer() string {
	if n.Whole != nil {
		return n.Whole.Name
	}
	return n.Name
}
