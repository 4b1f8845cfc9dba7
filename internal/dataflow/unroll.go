package dataflow

import "fmt"

// An UnrollLimits limits the products that one process computes in a clock. The body of the process's loop holds all of
// them, and a synthesis tool's time and memory grow faster than the body. A product counts by the width of its wider
// factor. The zero Envelope means the default of the target's back end (Target.MinProcesses): DefaultEnvelope for C++,
// MaxAddedBits for SystemVerilog.
type UnrollLimits struct {
	Wide int // the most products with a factor of more than 4 bits
	Few  int // the most products with a wider factor of 2 to 4 bits
	One  int // the most products of 1 bit
}

// DefaultEnvelope is the envelope of a C++ process if the user states none. It is a guess, until synthesis runs with
// wider bodies give better values.
var DefaultEnvelope = UnrollLimits{Wide: 1024, Few: 2048, One: 8192}

// MaxAddedBits is the most bits that one process of SystemVerilog adds in a clock. Its text is modules of about a
// sixteenth of that (package rtl), for each of which Yosys takes less than 2 GiB and five minutes.
const MaxAddedBits = 1 << 17

// OrDefault returns the envelope, or DefaultEnvelope if it is zero.
func (e UnrollLimits) OrDefault() UnrollLimits {
	if e == (UnrollLimits{}) {
		return DefaultEnvelope
	}
	return e
}

// Most returns the most products that one process computes in a clock if the wider factor has the given bits.
func (e UnrollLimits) Most(bits int) int {
	e = e.OrDefault()
	return *e.at(bits)
}

func (e *UnrollLimits) at(bits int) *int {
	switch {
	case bits > 4:
		return &e.Wide
	case bits > 1:
		return &e.Few
	}
	return &e.One
}

// String returns the envelope as a value of --max-unroll: 1024,2048,8192, or one number for all widths.
func (e UnrollLimits) String() string {
	if e = e.OrDefault(); e.Wide == e.Few && e.Few == e.One {
		return fmt.Sprint(e.Wide)
	}
	return fmt.Sprintf("%d,%d,%d", e.Wide, e.Few, e.One)
}

// Unrolled is implemented by layers whose products an UnrollLimits limits.
type Unrolled interface {
	// Products returns the number of products in an iteration of a fold, and the bits of the wider factor.
	Products(Fold) (n, bits int)
}

// Adding is implemented by layers that know how many bits the circuit of a fold adds in an iteration. For other layers,
// each bit of a factor counts as an addend.
type Adding interface{ Adds(Fold) int }

// Adds returns how many bits a layer adds in an iteration of a fold.
func Adds(op Unrolled, f Fold) int {
	if a, ok := op.(Adding); ok {
		return a.Adds(f)
	}
	n, bits := op.Products(f)
	return n * bits * bits
}

// Divisible is implemented by layers whose PE may be divided among several layers of the same kind.
type Divisible interface {
	// Part returns layer k of n layers that share a fold's PE, bound, with its output type. It reads all words of the
	// layer's only input, in the same iterations. Of every word of the layer's only output it makes the PE/n elements
	// from k*PE/n on. n divides PE. The part may lack a choice of memory or of multipliers that the layer has.
	Part(f Fold, k, n int) (part Op, out StreamType, err error)
	// Alike reports whether a part has the same folds as another part of the same fold. On a target, it must also have
	// the same loops and costs for the fold's PE. Alike may report false although that is so.
	Alike(other Op, f Fold, t Target) bool
}

// BoundBySums reports whether the bits of sums limit a process, and not its products. That is so if only SystemVerilog
// is written and the user sets no envelope.
func (t Target) BoundBySums() bool { return t.Stalls == StallByCredit && t.Unroll == UnrollLimits{} }

// LimitText returns the limit of a process as text for messages.
func (t Target) LimitText() string {
	if t.BoundBySums() {
		return fmt.Sprintf("%d bits of sums", MaxAddedBits)
	}
	return "--max-unroll " + t.Unroll.String()
}

// MinProcesses returns the fewest processes that compute a fold of a layer within the target's envelope; 0 if none can.
// It is 1 for layers without products.
func (t Target) MinProcesses(op Op, f Fold) int {
	m, ok := op.(Unrolled)
	if !ok {
		return 1
	}
	if t.BoundBySums() {
		return fewest(op, f, Adds(m, f), MaxAddedBits)
	}
	n, bits := m.Products(f)
	return fewest(op, f, n, t.Unroll.Most(bits))
}

// fewest returns the fewest processes that a fold is divided into so that none has more than most of n. It returns 0 if
// there are none.
func fewest(op Op, f Fold, n, most int) int {
	if n <= most {
		return 1
	}
	for parts, all := 2, MaxProcesses(op, f); parts <= all; parts++ {
		if f.PE%parts == 0 && n/parts <= most {
			return parts
		}
	}
	return 0
}

// MaxProcesses returns the most processes that a fold of a layer may be divided into, 1 if it cannot be.
func MaxProcesses(op Op, f Fold) (parts int) {
	if _, ok := op.(Divisible); !ok {
		return 1
	}
	for parts = min(f.PE, MaxPorts); f.PE%parts != 0; {
		parts--
	}
	return parts
}

// EnvelopeFor returns the target's envelope, raised by the least amount with which a fold of a layer fits. If the bits
// of sums are the limit (BoundBySums), it returns Unbounded.
func (t Target) EnvelopeFor(op Op, f Fold) UnrollLimits {
	if t.BoundBySums() {
		return Unbounded
	}
	e := t.Unroll.OrDefault()
	if m, ok := op.(Unrolled); ok {
		n, bits := m.Products(f)
		most := e.at(bits)
		*most = max(*most, n/MaxProcesses(op, f))
	}
	return e
}

// Unbounded is the widest envelope that a user may ask for.
var Unbounded = UnrollLimits{Wide: MaxUnrolled, Few: MaxUnrolled, One: MaxUnrolled}

// MaxUnrolled is the most products per process that a user may allow.
const MaxUnrolled = 1 << 20

// Size returns a number that is larger for an envelope than for any from which it was raised.
func (e UnrollLimits) Size() int { return e.Wide + e.Few + e.One }

// A SplitLayer is a layer of a model that a design builds as several nodes: a fork, parts, and a join.
type SplitLayer struct {
	Name string // its name in the model
	Op   Op
	Fold Fold
}

// Layer returns the name that the model has for the node's layer, of which it may be a part.
func (n *Node) Layer() string {
	if n.Whole != nil {
		return n.Whole.Name
	}
	return n.Name
}
