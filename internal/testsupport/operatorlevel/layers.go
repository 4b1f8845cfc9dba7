package operatorlevel

import (
	"math"
	"slices"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// GraphOf returns the graph of a bound layer with the inputs in, for a fold. ok is false for layers of other kinds.
func GraphOf(op dataflow.Op, in []dataflow.StreamType, f dataflow.Fold, t dataflow.Target) (g *Graph, ok bool) {
	g = &Graph{}
	from, to := op.Ports(f)
	g.In, g.Out = from[0], to[0]
	i := op.Emit(f, t)
	switch p := op.Params().(type) {
	case mvau.Params:
		matrix(g, p, in[0].UnionOfRanges(), f, i)
	case threshold.Params:
		thresholds(g, p, layer.MergeTrailingAxes(len(p.Steps), in[0]).Shape.ChannelCount()/f.PE, f, i)
	case pool.Params: // a GlobalPool has these, too
		if op.Kind() != pool.LayerKind.Name {
			return nil, false
		}
		shape := in[0].Shape
		pooling(g, p, in[0].UnionOfRanges(), shape[len(shape)-2], f)
	default:
		return nil, false
	}
	return g, true
}

// field returns the value of a field of an instance, or the zero value of its type if it has none.
func field[T any](i dataflow.KernelInstance, name string) (value T) {
	for _, c := range i.Config {
		if c.Name == name {
			return c.Value.(T)
		}
	}
	return value
}

// times returns the range of the products of two numbers, or that of 64 bits if they need more.
func times(a, b num.Range) num.Range {
	lo, ok1 := a.TimesConstant(b.Lo)
	hi, ok2 := a.TimesConstant(b.Hi)
	if !ok1 || !ok2 {
		return num.Range{Lo: math.MinInt64, Hi: math.MaxInt64}
	}
	return lo.Union(hi)
}

// sums returns the range of sums of n numbers of the range r.
func sums(r num.Range, n int) num.Range { return times(r, num.SingleValueRange(int64(n))) }

// matrix makes the graph of an MVAU with inputs in a range.
func matrix(g *Graph, p mvau.Params, inputs num.Range, f dataflow.Fold, i dataflow.KernelInstance) {
	groups := max(1, p.Groups)
	nf, sf := len(p.Weights)/groups/f.PE, len(p.Weights[0])/f.SIMD
	g.Trips = []int{groups, nf, sf}
	g.Read, g.Write = g.condition(First, 1, 1), g.condition(Last, 2, 2)
	word, row := g.index(0, 1), g.index(0, 2)
	x := g.add(Operator{Kind: Word, Args: []ID{g.Read}, Cols: f.SIMD, Range: inputs, Column: 1})
	if nf > 1 {
		x = g.add(Operator{Kind: Keep, Args: []ID{x, g.Read, g.index(2, 2)}, Cols: f.SIMD, Range: inputs,
			Storage: i.StorageOf("vector")})
	}
	weight := field[num.Type](i, "weight_t")
	decoded := weight != num.Type{}
	if !decoded {
		weight = i.Tables[0].Elem
	}
	w := g.add(Operator{Kind: Row, Args: []ID{row}, Rows: f.PE, Cols: f.SIMD, Range: rangeOf(p.Weights),
		Table: weightRows(p.Weights, f), Storage: i.StorageOf("weights"), Decoded: decoded})
	matches := weight.Kind == num.KindBipolar && g.In.Elem.Kind == num.KindBipolar && p.Product == nil
	o := Operator{Kind: Product, Args: []ID{w, x}, Rows: f.PE, Cols: f.SIMD,
		Range: times(rangeOf(p.Weights), inputs), Factors: [2]num.Type{weight, g.In.Elem},
		DSP: f.Compute == dataflow.MultiplierInDSPs}
	if matches {
		o.Kind, o.Range = Match, num.Range{Hi: 1}
	}
	y := g.add(o)
	if q := p.Product; q != nil {
		y = g.add(Operator{Kind: Requantise, Args: []ID{y}, Rows: f.PE, Cols: f.SIMD, Requant: *q, DSP: o.DSP,
			Range: field[num.Type](i, "product_t").Range()})
	}
	acc, whole := field[num.Type](i, "acc_t"), sums(g.at(y).Range, f.SIMD)
	if sf == 1 { // the final sums of all channels are known better
		whole = num.Range{Lo: max(whole.Lo, acc.Range().Lo), Hi: min(whole.Hi, acc.Range().Hi)}
	}
	y = g.add(Operator{Kind: Sum, Args: []ID{y}, Rows: f.PE, Range: whole})
	if sf > 1 {
		y = g.add(Operator{Kind: RunningSum, Args: []ID{y, g.condition(First, 2, 2)}, Rows: f.PE, Range: acc.Range()})
	}
	length := int64(len(p.Weights[0]))
	switch {
	case len(p.Steps) > 0:
		functions := p.Steps
		if matches {
			functions = nil
			for _, s := range p.Steps {
				functions = append(functions, ofMatches(s, length))
			}
		}
		y = g.steps(Operator{Args: []ID{y, word}, Functions: functions, Steps: i, Bits: acc.Width})
	case matches:
		y = g.add(Operator{Kind: Affine, Args: []ID{y}, Rows: f.PE, Factor: 2, Offset: -length,
			Range: num.Range{Lo: -length, Hi: length}})
	}
	g.Result = y
}

// rangeOf returns the range of all numbers of the rows.
func rangeOf(rows [][]int64) num.Range {
	r := num.SingleValueRange(rows[0][0])
	for _, row := range rows {
		r = r.Union(num.Range{Lo: slices.Min(row), Hi: slices.Max(row)})
	}
	return r
}

// weightRows returns the rows of weights, the weights of a channel behind those of the channel before.
func weightRows(weights [][]int64, f dataflow.Fold) (rows [][]int64) {
	for c := 0; c < len(weights); c += f.PE {
		for k := 0; k < len(weights[0]); k += f.SIMD {
			var row []int64
			for _, channel := range weights[c : c+f.PE] {
				row = append(row, channel[k:k+f.SIMD]...)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// ofMatches returns a function of sums of signs as a function of the number of matches among so many products. p
// matches stand for the sum 2p - length.
func ofMatches(s num.StepFunction, length int64) num.StepFunction {
	m := num.StepFunction{Value: []int64{s.Value[0]}}
	for i, at := range s.At {
		p := (at + length + 1) >> 1
		if n := len(m.At); n > 0 && m.At[n-1] == p { // no sum lies between the two
			m.Value[n] = s.Value[i+1]
			continue
		}
		m.At, m.Value = append(m.At, p), append(m.Value, s.Value[i+1])
	}
	return m
}

// steps adds step functions, whose outputs are those of the graph.
func (g *Graph) steps(o Operator) ID {
	o.Kind, o.Rows, o.Range = Steps, g.at(o.Args[0]).Rows, g.Out.Elem.Range()
	return g.add(o)
}

// thresholds makes the graph of a Thresholding whose vectors have the given number of words.
func thresholds(g *Graph, p threshold.Params, words int, f dataflow.Fold, i dataflow.KernelInstance) {
	g.Trips = []int{words}
	g.Read, g.Write = g.always(), g.always()
	if calls := field[int](i, "calls"); calls > 1 {
		g.Trips = []int{words, calls}
		g.Read, g.Write = g.condition(First, 1, 1), g.condition(Last, 1, 1)
	}
	x := g.add(Operator{Kind: Word, Args: []ID{g.Read}, Rows: f.PE, Range: g.In.Elem.Range(), Row: 1})
	if len(g.Trips) > 1 {
		x = g.add(Operator{Kind: Keep, Args: []ID{x, g.Read, g.add(Operator{Kind: Constant})}, Rows: f.PE,
			Range: g.In.Elem.Range(), Storage: dataflow.Storage{Rows: 1}})
	}
	g.Result = g.steps(Operator{Args: []ID{x, g.index(0, 0)}, Functions: p.Steps, Steps: i, Bits: g.In.Elem.Width,
		Memory: f.Memory})
}

// pooling makes the graph of a Pool of inputs in a range, over windows of the given number of positions.
func pooling(g *Graph, p pool.Params, inputs num.Range, positions int, f dataflow.Fold) {
	sf := positions / f.SIMD
	g.Trips = []int{sf}
	g.Read, g.Write = g.always(), g.condition(Last, 0, 0)
	x := g.add(Operator{Kind: Word, Args: []ID{g.Read}, Rows: f.PE, Cols: f.SIMD, Range: inputs, Row: 1,
		Column: f.PE})
	of, running, r := Greatest, RunningGreatest, inputs
	if p.Op == pool.PoolingSum {
		of, running, r = Sum, RunningSum, sums(inputs, f.SIMD)
	}
	g.Result = g.add(Operator{Kind: of, Args: []ID{x}, Rows: f.PE, Range: r})
	if sf > 1 {
		g.Result = g.add(Operator{Kind: running, Args: []ID{g.Result, g.condition(First, 0, 0)}, Rows: f.PE,
			Range: g.Out.Elem.Range()})
	}
}
