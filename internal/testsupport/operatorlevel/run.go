package operatorlevel

import "hlsgen/hlslib/layer"

// A Run runs a graph iteration by iteration. It knows no clocks.
type Run struct {
	g      *Graph
	at     []int            // the index of each level
	values [][]int64        // by operator, row by row
	kept   map[ID][][]int64 // by operator and index
	before map[ID][]int64   // results of the iteration before
}

// NewRun returns a run of the graph from its first iteration on.
func NewRun(g *Graph) *Run {
	return &Run{g: g, at: make([]int, len(g.Trips)), values: make([][]int64, len(g.Operators)),
		kept: map[ID][][]int64{}, before: map[ID][]int64{}}
}

// Reads reports whether the next iteration reads a word.
func (r *Run) Reads() bool { return r.compute(r.g.Read, 0, 0, nil) == 1 }

// Iterate runs the next iteration. in is the next word, if the iteration reads one. It returns the word that the
// iteration writes, or nil if it writes none.
func (r *Run) Iterate(in []int64) []int64 {
	for id := range r.g.Operators {
		o := &r.g.Operators[id]
		values := make([]int64, 0, o.Rows*o.Cols)
		for row := range o.Rows {
			for column := range o.Cols {
				values = append(values, r.compute(ID(id), row, column, in))
			}
		}
		r.values[id] = values
	}
	for id := range r.g.Operators {
		switch o := &r.g.Operators[id]; o.Kind {
		case RunningSum, RunningGreatest:
			r.before[ID(id)] = r.values[id]
		case Keep:
			r.keep(ID(id), int(r.operand(o, 2, 0, 0)))
		}
	}
	var word []int64
	if r.values[r.g.Write][0] == 1 {
		word = r.values[r.g.Result]
	}
	for level := len(r.at) - 1; level >= 0; level-- {
		if r.at[level]++; r.at[level] < r.g.Trips[level] {
			break
		}
		r.at[level] = 0
	}
	return word
}

// keep notes the values of a Keep at an index.
func (r *Run) keep(id ID, index int) {
	for len(r.kept[id]) <= index {
		r.kept[id] = append(r.kept[id], nil)
	}
	r.kept[id][index] = r.values[id]
}

// operand returns a value of operand i of an operator.
func (r *Run) operand(o *Operator, i, row, column int) int64 {
	a := r.g.at(o.Args[i])
	return r.values[o.Args[i]][min(row, a.Rows-1)*a.Cols+min(column, a.Cols-1)]
}

// index returns the index of the levels of an operator together.
func (r *Run) index(o *Operator) (index int) {
	for level := o.From; level <= o.To; level++ {
		index = index*r.g.Trips[level] + r.at[level]
	}
	return index
}

// compute returns a value of an operator. in is the word that the iteration reads.
func (r *Run) compute(id ID, row, column int, in []int64) int64 {
	o := r.g.at(id)
	switch o.Kind {
	case Constant:
		return o.Offset
	case Index:
		return int64(r.index(o))
	case First:
		return truth(r.index(o) == 0)
	case Last:
		return truth(r.index(o) == r.g.count(o.From, o.To)-1)
	case Word:
		if in == nil {
			return 0
		}
		return in[row*o.Row+column*o.Column]
	case Keep:
		if r.operand(o, 1, 0, 0) == 1 {
			return r.operand(o, 0, row, column)
		}
		return r.kept[id][r.operand(o, 2, 0, 0)][row*o.Cols+column]
	case Row:
		return o.Table[r.operand(o, 0, 0, 0)][row*o.Cols+column]
	case Product:
		return r.operand(o, 0, row, column) * r.operand(o, 1, row, column)
	case Match:
		return truth(r.operand(o, 0, row, column) == r.operand(o, 1, row, column))
	case Requantise:
		return o.Requant.Apply(r.operand(o, 0, row, column))
	case Steps:
		channel := int(r.operand(o, 1, 0, 0))*o.Rows + row
		return layer.ElementForChannel(o.Functions, channel).Apply(r.operand(o, 0, row, 0))
	case Affine:
		return o.Factor*r.operand(o, 0, row, 0) + o.Offset
	}
	return r.reduce(id, o, row)
}

// reduce returns a value of an operator that reduces columns, or iterations, to one value.
func (r *Run) reduce(id ID, o *Operator, row int) int64 {
	join := func(a, b int64) int64 { return a + b }
	if o.Kind == Greatest || o.Kind == RunningGreatest {
		join = func(a, b int64) int64 { return max(a, b) }
	}
	y := r.operand(o, 0, row, 0)
	if o.Kind == RunningSum || o.Kind == RunningGreatest {
		if r.operand(o, 1, 0, 0) == 0 {
			y = join(y, r.before[id][row])
		}
		return y
	}
	for column := 1; column < r.g.at(o.Args[0]).Cols; column++ {
		y = join(y, r.operand(o, 0, row, column))
	}
	return y
}

// truth returns 1 for true and 0 for false.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
