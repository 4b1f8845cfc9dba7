package dataflow

import "fmt"

// UnrollLimits limits the products that one process computes in a clock. The body of the process's loop holds all of
// them, and a synthesis tool's time and memory grow faster than the body. A product counts by the width of its wider
// factor; products by constants that are zero do not count. The zero value means the default of the target's back end
// (Target.MinProcesses): DefaultUnrollLimits for C++, MaxAddedBitsPerProcess for SystemVerilog.
type UnrollLimits struct {
	Wide int // the most products with a factor of more than 4 bits
	Few  int // the most products with a wider factor of 2 to 4 bits
	One  int // the most products of 1 bit
}

// DefaultUnrollLimits holds the limits of a C++ process if the user states none. They are a guess, until synthesis runs
// with wider bodies give better values.
var DefaultUnrollLimits = UnrollLimits{Wide: 1024, Few: 2048, One: 8192}

// OrDefault returns e, or DefaultUnrollLimits if e is the zero value.
func (e UnrollLimits) OrDefault() UnrollLimits {
	if e == (UnrollLimits{}) {
		return DefaultUnrollLimits
	}
	return e
}

// MaxProducts returns the most products that one process computes in a clock if the wider factor has the given bits.
// For the zero value these are the limits of C++, DefaultUnrollLimits.
func (e UnrollLimits) MaxProducts(bits int) int {
	e = e.OrDefault()
	return *e.at(bits)
}

// at returns the field of e that limits products whose wider factor has the given bits.
func (e *UnrollLimits) at(bits int) *int {
	switch {
	case bits > 4:
		return &e.Wide
	case bits > 1:
		return &e.Few
	}
	return &e.One
}

// String returns the limits as a value of --max-unroll: 1024,2048,8192, or one number for all widths.
func (e UnrollLimits) String() string {
	if e = e.OrDefault(); e.Wide == e.Few && e.Few == e.One {
		return fmt.Sprint(e.Wide)
	}
	return fmt.Sprintf("%d,%d,%d", e.Wide, e.Few, e.One)
}

// HasUnrolledProducts is implemented by layers whose products UnrollLimits limits.
type HasUnrolledProducts interface {
	// Products returns the number of products in an iteration of a fold, and the bits of the wider factor. If the layer
	// is divided into several parts, it is the number of the part with most. Products by constants that are zero do not
	// count.
	Products(f Fold, parts int) (n, bits int)
	// Adds returns the number of bits that the layer's circuit adds in an iteration of a fold; of several parts, that
	// of the part with most. A layer that does not know it counts each product as the square of its wider factor's
	// bits.
	Adds(f Fold, parts int) int
	// RowBits returns the bits of the weights that an iteration of a fold reads from a table, if it is C++. They divide
	// evenly among parts.
	RowBits(Fold) int
}

// HasDivisiblePE is implemented by layers whose PE may be divided among several layers of the same kind.
type HasDivisiblePE interface {
	// Part returns layer k of n layers that share a fold's PE, bound, with its output type. It reads all words of the
	// layer's only input, in the same iterations. Of every word of the layer's only output it makes the PE/n elements
	// from k*PE/n on. n divides PE. The part may lack a choice of memory or of multipliers that the layer has.
	Part(f Fold, k, n int) (part Op, out StreamType, err error)
	// Alike reports whether a part has the same folds as another part of the same fold. On a target, it must also have
	// the same loops and costs for the fold's PE. Alike may report false although that is so.
	Alike(other Op, f Fold, t Target) bool
}

// IsLimitedByAddedBits reports whether the bits that it adds limit a process, and not its products. That is so if the
// back end states such a limit and the user sets none.
func (t Target) IsLimitedByAddedBits() bool {
	return t.Backend.Device.MaxAddedBits > 0 && t.Unroll == UnrollLimits{}
}

// ProcessLimitText returns the limit of a process as text for messages.
func (t Target) ProcessLimitText() string {
	if t.IsLimitedByAddedBits() {
		return fmt.Sprintf("%d bits of sums", t.Backend.Device.MaxAddedBits)
	}
	return "--max-unroll " + t.Unroll.String()
}

// MinProcesses returns the fewest processes into which a fold of a layer can be divided so that each is within the
// target's limits. It returns 0 if no number suffices, and 1 for layers without products.
func (t Target) MinProcesses(op Op, f Fold) int {
	m, ok := op.(HasUnrolledProducts)
	if !ok {
		return 1
	}
	for parts, all := 1, MaxProcessesOf(op, f); parts <= all; parts++ {
		if f.PE%parts == 0 && t.isWithin(m, f, parts) {
			return parts
		}
	}
	return 0
}

// isWithin reports whether a fold of a layer is within the target's limits if it is divided into the given number of
// processes.
func (t Target) isWithin(m HasUnrolledProducts, f Fold, parts int) bool {
	if t.IsLimitedByAddedBits() {
		return m.Adds(f, parts) <= t.Backend.Device.MaxAddedBits
	}
	n, bits := m.Products(f, parts)
	return n <= t.Unroll.MaxProducts(bits) && t.takesRow(m, f, parts)
}

// takesRow reports whether the back end can build the table of weights of a fold, divided into the given number of
// processes. Circuits alone have no table of weights that are all read at once.
func (t Target) takesRow(m HasUnrolledProducts, f Fold, parts int) bool {
	return t.Backend.Device.MaxAddedBits > 0 || m.RowBits(f)/parts <= MaxTableRowBits
}

// UnrollLimitsCanHelp reports whether some UnrollLimits of a user allow a fold of a layer on the target.
func (t Target) UnrollLimitsCanHelp(op Op, f Fold) bool {
	m, ok := op.(HasUnrolledProducts)
	return !ok || t.takesRow(m, f, MaxProcessesOf(op, f))
}

// MaxProcessesOf returns the most processes that a fold of a layer may be divided into, 1 if it cannot be.
func MaxProcessesOf(op Op, f Fold) (parts int) {
	if _, ok := op.(HasDivisiblePE); !ok {
		return 1
	}
	for parts = min(f.PE, MaxPortsPerSide); f.PE%parts != 0; {
		parts--
	}
	return parts
}

// UnrollLimitsRaisedToFit returns the target's limits, raised by the least amount with which a fold of a layer fits. If
// added bits are the limit (IsLimitedByAddedBits), it returns WidestUnrollLimits.
func (t Target) UnrollLimitsRaisedToFit(op Op, f Fold) UnrollLimits {
	if t.IsLimitedByAddedBits() {
		return WidestUnrollLimits
	}
	e := t.Unroll.OrDefault()
	if m, ok := op.(HasUnrolledProducts); ok {
		n, bits := m.Products(f, MaxProcessesOf(op, f))
		most := e.at(bits)
		*most = max(*most, n)
	}
	return e
}

// WidestUnrollLimits holds the highest limits that a user may ask for.
var WidestUnrollLimits = UnrollLimits{Wide: MaxUnrollLimit, Few: MaxUnrollLimit, One: MaxUnrollLimit}

// MaxUnrollLimit is the most products per process that a user may allow.
const MaxUnrollLimit = 1 << 20

// SortKey returns a number by which limits can be sorted: raised limits have a larger one than those from which
// they were raised.
func (e UnrollLimits) SortKey() int { return e.Wide + e.Few + e.One }

// A SplitLayer is a layer of a model that a design builds as several nodes: a fork, parts, and a join.
type SplitLayer struct {
	Name string // its name in the model
	Op   Op
	Fold Fold
}

// LayerName returns the name that the model has for the node's layer, of which it may be a part.
func (n *Node) LayerName() string {
	if n.Whole != nil {
		return n.Whole.Name
	}
	return n.Name
}
