package program

import (
	"cmp"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/real"
)

// An Order cuts input 0 into rows and sorts each row. Element i of the output has place Rank[i] in the sorted row that
// starts at element Base[i]. Largest says from which end places count. Among equal values the one with the lower index
// comes first, or, with LastFirst, the one with the higher index. The output is the index or the value of the element
// at that place.
type Order struct {
	N, Stride          int // the length of a row, and the distance of its neighbours, in elements
	Base, Rank         []int32
	Largest, LastFirst bool
	Index              bool
}

// CompareWithTieBreak returns a negative number if element i of a row comes before element j in the sorted row, and a
// positive one otherwise. c is the result of cmp.Compare for their values.
func (o *Order) CompareWithTieBreak(c, i, j int) int {
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

// SortedIndices returns the indices of a row's elements in the order of their places, first place first.
func (o *Order) SortedIndices(row []float64) []int {
	order := NewCountingSlice[int](len(row))
	slices.SortFunc(order, func(i, j int) int { return o.CompareWithTieBreak(cmp.Compare(row[i], row[j]), i, j) })
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

// An Elem computes output element i as Expr of single elements: variable v is element ArgumentIndex(v, i) of input
// Args[v].
type Elem struct {
	Expr   *real.Expr
	Args   []int
	Index  []graph.ElementIndexMap // by variable
	Offset []int32                 // by variable, added to Index, so that variables can share a table; nil for zeros
}

// ArgumentIndex returns the index, in its input, of the element that variable v reads for output element i.
func (e *Elem) ArgumentIndex(v, i int) int {
	if e.Offset == nil {
		return e.Index[v].ArgumentIndex(i)
	}
	return e.shifted(v, i)
}

func (e *Elem) shifted(v, i int) int { return e.Index[v].ArgumentIndex(i) + int(e.Offset[v]) }

// A Dot computes output element i as the sum over k < K of A[ABase[i]+AOffset[k]] * B[BBase[i]+BOffset[k]]. A and B are
// inputs of the node. Then, if not nil, is applied to that sum (variable 0) and to other inputs (variables 1...).
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
	States   int        // the number of states
	Scanned  []ScanAxis // by input of the node, from States on
	Gathered []ScanAxis // by output of the node, from States on
	Length   int        // the number of runs, at least 1

	RealGates []string // for the cell of an ONNX operator without formats: the quantisers that it could have
}

// A ScanAxis says how a loop goes along an axis of a tensor: forwards or in reverse, one index per run of its body. The
// tensor in the body lacks that axis.
type ScanAxis struct {
	Axis    int
	Reverse bool
}

// AxisPositionOfRun returns the index on the axis that run t of n runs reads or writes.
func (s ScanAxis) AxisPositionOfRun(t, n int) int {
	if s.Reverse {
		return n - 1 - t
	}
	return t
}

// ElementIndexInWhole returns the index, in a tensor of shape whole, of element i of the body's tensor in run t.
func (s ScanAxis) ElementIndexInWhole(whole []int, t, i int) int {
	n, inner := whole[s.Axis], graph.ElementCount(whole[s.Axis+1:])
	return (i/inner*n+s.AxisPositionOfRun(t, n))*inner + i%inner
}

// RunAndElementIndexOf is the inverse of ElementIndexInWhole. It returns the run that reads or writes element i of a
// tensor of shape whole, and the element's index in the body's tensor.
func (s ScanAxis) RunAndElementIndexOf(whole []int, i int) (t, element int) {
	n, inner := whole[s.Axis], graph.ElementCount(whole[s.Axis+1:])
	return s.AxisPositionOfRun(i/inner%n, n), i/(inner*n)*inner + i%inner
}

// A Window says that the sums or the maxima of a step are taken over a sliding window. Data tensors are [N, C, H, W] or
// [N, C, W], or with ChannelsLast [N, H, W, C] or [N, W, C]. In the pairs of numbers the first is along H, the second
// along W; a 1-D signal has H = 1. Padding is a separate step before. Only a maximum, for which no padding value is
// neutral, has Before and After: the rows and columns that lie outside the data and are left out.
//
// The sum over k of a Dot runs over kernel positions and channels of a group; KernelTapOfTerm returns both. Only BBase
// and BOffset say where the weights are. The variables of an Elem are kernel positions, row by row. If one lies outside
// the data, its index names another element of the same window.
type Window struct {
	Kernel, Stride, Dilation [2]int
	Group                    int
	Depth                    int // channels of a group, which a window reads at each kernel position
	ChannelsLast             bool
	Before, After            [2]int // for maxima: the rows and columns of windows that lie outside the data
}

// KernelTapOfTerm returns the kernel position and the channel within the group of term k of a Dot, or of variable k of
// an Elem.
func (w *Window) KernelTapOfTerm(k int) (kh, kw, c int) {
	at := k / w.Depth
	return at / w.Kernel[1], at % w.Kernel[1], k % w.Depth
}

// KernelPositionCount returns the number of positions in the kernel, its height times its width.
func (w *Window) KernelPositionCount() int { return w.Kernel[0] * w.Kernel[1] }
