package program

import (
	"cmp"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// An Order cuts input 0 into rows and sorts each. Element i of the output has place Rank[i] in the sorted row that
// starts at Base[i]. Largest says from which end places count. Among equal values the one with the lower index comes
// first, or, with LastFirst, the one with the higher index. The output is the element's index or its value.
type Order struct {
	N, Stride          int // of a row, in elements
	Base, Rank         []int32
	Largest, LastFirst bool
	Index              bool
}

// ComparePlaces returns a negative number if element i of a row comes before element j in the order, and a positive one
// otherwise. c compares their values like cmp.Compare.
func (o *Order) ComparePlaces(c, i, j int) int {
	if o.Largest {
		c = -c
	}
	if c == 0 {
		if c = i - j; o.LastFirst {
			c = -c
		}
	}
	return c
}

// Sorted returns the indices of a row of float64s in the order's sequence: first place first.
func (o *Order) Sorted(row []float64) []int {
	order := CountUp[int](len(row))
	slices.SortFunc(order, func(i, j int) int { return o.ComparePlaces(cmp.Compare(row[i], row[j]), i, j) })
	return order
}

// A Step computes one output of one node. Exactly one of Move, Elem, Dot, Order and Recur is not nil.
type Step struct {
	Node   *graph.Node
	Output string
	Shape  []int
	DType  graph.DType
	Move   *Move
	Elem   *Elem
	Dot    *Dot
	Order  *Order
	Recur  *Recur  // shared by the steps of one node
	Result int     // with Recur: the index among the node's outputs
	Window *Window // not nil if Dot or Elem reads windows of a signal or an image
	// Softmax says that Elem is a softmax over rows, or its logarithm. Variable 0 reads the first element of the row.
	Softmax bool
	// Codes says that the node gives the codes of a quantiser in the normal form of package canon.
	Codes bool
}

// An Elem computes output element i as Expr of single elements: variable v is element At(v, i) of input Args[v].
type Elem struct {
	Expr   *real.Expr
	Args   []int
	Index  []graph.ElementPick // by variable
	Offset []int32             // by variable, added to Index, so that variables can share a table; nil for zeros
}

// At returns the index, in its input, of the element that variable v reads for output element i.
func (e *Elem) At(v, i int) int {
	if e.Offset == nil {
		return e.Index[v].At(i)
	}
	return e.shifted(v, i)
}

func (e *Elem) shifted(v, i int) int { return e.Index[v].At(i) + int(e.Offset[v]) }

// A Dot computes element i as the sum over k < K of A[ABase[i]+AOffset[k]] * B[BBase[i]+BOffset[k]]. A and B are inputs
// of the node. Then, if not nil, is applied to that sum (variable 0) and to other inputs (variables 1...).
type Dot struct {
	A, B             int
	K                int
	ABase, BBase     *IndexList
	AOffset, BOffset []int32 // K entries each
	Then             *Elem   // Args[0] and Index[0] are unused
}

// A Recur runs a body once per element of a sequence (ONNX Scan). Input i < States of the node is the initial value of
// a state; input States+k is scanned along Scanned[k]. Output i < States is the final value of a state; output States+k
// gathers an output of every run along Gathered[k].
type Recur struct {
	// Body has as inputs the states and then one element per scanned tensor. Its outputs are the next states and then
	// one element per gathered tensor.
	Body     *Program
	States   int       // the number of states
	Scanned  []Scanned // by input of the node, from States on
	Gathered []Scanned // by output of the node, from States on
	Length   int       // the number of runs, at least 1

	RealGates []string // for the cell of an ONNX operator without formats: the quantisers that it could have
}

// A Scanned says how a loop goes along an axis of a tensor: forwards or in reverse, one index per run. The body's
// tensor lacks that axis.
type Scanned struct {
	Axis    int
	Reverse bool
}

// Position returns the index on the axis that run t of n reads or writes.
func (s Scanned) Position(t, n int) int {
	if s.Reverse {
		return n - 1 - t
	}
	return t
}

// Element returns the index in the whole tensor of element i of the body's tensor in run t.
func (s Scanned) Element(whole []int, t, i int) int {
	n, inner := whole[s.Axis], graph.Size(whole[s.Axis+1:])
	return (i/inner*n+s.Position(t, n))*inner + i%inner
}

// RunOf is the inverse of Element: it returns the run and the element in the run for element i of the whole tensor.
func (s Scanned) RunOf(whole []int, i int) (t, element int) {
	n, inner := whole[s.Axis], graph.Size(whole[s.Axis+1:])
	return s.Position(i/inner%n, n), i/(inner*n)*inner + i%inner
}

// A Window says that the sums or the maxima of a step are taken over a sliding window. Data tensors are [N, C, H, W] or
// [N, C, W], or with ChannelsLast [N, H, W, C] or [N, W, C]. In the pairs of numbers the first is along H, the second
// along W; a 1-D signal has H = 1. Padding is a separate step before. Only a maximum, for which no padding value is
// neutral, has Before and After: the rows and columns that lie outside the data and are left out.
//
// The sum over k of a Dot runs over kernel positions and channels of a group; Tap returns both. Only BBase and BOffset
// say where the weights are. The variables of an Elem are kernel positions, row by row. If one lies outside the data,
// its index names another element of the same window.
type Window struct {
	Kernel, Stride, Dilation [2]int
	Group                    int
	Depth                    int // channels of a group, which a window reads at each kernel position
	ChannelsLast             bool
	Before, After            [2]int // for maxima: the rows and columns of windows that lie outside the data
}

// Tap returns the kernel position and the channel within the group of term k of a Dot, or of variable k of an Elem.
func (w *Window) Tap(k int) (kh, kw, c int) {
	at := k / w.Depth
	return at / w.Kernel[1], at % w.Kernel[1], k % w.Depth
}

// Positions returns the number of positions in the kernel, its height times its width.
func (w *Window) Positions() int { return w.Kernel[0] * w.Kernel[1] }
