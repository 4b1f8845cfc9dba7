package labelselect

import (
	"fmt"
	"math/bits"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// A candidate is a label with its index in the vector, as values of the circuit.
type candidate struct{ label, index circuit.Value }

// Circuit returns the layer's RTL. It sorts the labels of every word, and merges them with the best labels of the words
// before.
func (o *op) Circuit(f dataflow.Fold, t dataflow.Target) *circuit.Module {
	b := circuit.NewBuilder(t.CircuitTiming())
	fold := b.AddCounter("fold", o.WordsPerVector(f), b.ConstantNumber(1))
	elem := o.In[0].Elem
	word := b.AddInputStream(f.PE*elem.Width, b.ConstantNumber(1))
	list := make([]candidate, f.PE)
	for i := range list {
		list[i] = candidate{circuit.ElementOf(word, i, elem), b.ConstantNumber(int64(i))}
	}
	list = o.P.order(list)
	if o.WordsPerVector(f) > 1 {
		list = o.carry(b, f, fold.Index, list)
	}
	indices := make([]circuit.Value, o.P.K)
	for i := range indices {
		indices[i] = list[i].index
	}
	b.AddOutputStream(circuit.PackIntoWord(o.out.Elem, indices...), fold.Last)
	return b.FinishLayer()
}

// order returns, in order, the K candidates of the list that come first, or all if there are fewer. It sorts the halves
// and merges them. The list must not be empty.
func (p Params) order(list []candidate) []candidate {
	if len(list) == 1 {
		return list
	}
	half := len(list) / 2
	return p.join(p.order(list[:half]), p.order(list[half:]), func(_ int, before circuit.Value) circuit.Value {
		return before
	})
}

// carry merges the candidates kept from the words before with the list of this word, whose number in the vector is
// fold. It returns the first K, which it also keeps. The merge lies in one pipeline stage, because the next word
// follows in the next clock.
func (o *op) carry(b *circuit.Builder, f dataflow.Fold, fold circuit.Value, list []candidate) []candidate {
	index := num.Range{Hi: int64(o.P.Labels - 1)}
	values := []circuit.Value{fold}
	for _, c := range list {
		i := circuit.SumOfTwo(c.index, circuit.MultiplyByConstant(fold, int64(f.PE)))
		values = append(values, c.label, circuit.AssumeRange(i, index))
	}
	values = circuit.AlignWithLUTSlack(2+bits.Len(uint(o.P.K)), values...)
	stage := circuit.FirstCommonStage(values...)
	fold, list = values[0], make([]candidate, len(list))
	for i := range list {
		list[i] = candidate{values[1+2*i], values[2+2*i]}
	}
	var labels, indices []circuit.Register
	var kept, first []candidate
	for i := range o.P.K {
		labels = append(labels, b.AddRegister(fmt.Sprint("label", i), stage, o.In[0].Elem.Range()))
		indices = append(indices, b.AddRegister(fmt.Sprint("index", i), stage, index))
		kept = append(kept, candidate{labels[i].ValueBefore(), indices[i].ValueBefore()})
	}
	b.BuildWithoutStageLimit(func() circuit.Value {
		first = o.P.join(kept, list, func(i int, before circuit.Value) circuit.Value {
			// else it is not yet kept
			return circuit.AllHold(circuit.IsGreater(fold, b.ConstantNumber(int64(i/f.PE))), before)
		})
		for i, c := range first {
			labels[i].SetNext(c.label, b.ConstantNumber(1))
			indices[i].SetNext(c.index, b.ConstantNumber(1))
		}
		return first[0].index
	})
	return first
}

// ahead returns a condition of the circuit: label a comes before label b, where a has the lower index.
func (p Params) ahead(a, b circuit.Value) circuit.Value {
	if p.First == RankOrderSmallestFirst {
		a, b = b, a
	}
	if p.Ties == TieBreakHigherIndexWins {
		return circuit.IsGreater(a, b)
	}
	return circuit.Not(circuit.IsGreater(b, a))
}

// join returns the first K candidates of two sorted lists, or all if there are fewer. Every index in a must be below
// every index in b. It compares every label of a with every one of b. where turns the comparison of label i of a with a
// label of b into the condition that it counts as before.
func (p Params) join(a, b []candidate, where func(i int, before circuit.Value) circuit.Value) []candidate {
	ahead := make([][]circuit.Value, len(a)) // label i of a comes before label j of b
	for i := range a {
		for j := range b {
			ahead[i] = append(ahead[i], where(i, p.ahead(a[i].label, b[j].label)))
		}
	}
	// Among the labels before a place, those from a number between least and most.
	var at func(place, least, most int) candidate
	at = func(place, least, most int) candidate {
		if least < most {
			half := (least + most + 1) / 2
			return choose(ahead[half-1][place-half], at(place, half, most), at(place, least, half-1))
		}
		i, j := least, place-least
		switch {
		case i == len(a):
			return b[j]
		case j == len(b):
			return a[i]
		}
		return choose(ahead[i][j], a[i], b[j])
	}
	list := make([]candidate, min(len(a)+len(b), p.K))
	for place := range list {
		list[place] = at(place, max(0, place-len(b)), min(place, len(a)))
	}
	return list
}

// choose returns candidate a if the condition c holds in the circuit, else b.
func choose(c circuit.Value, a, b candidate) candidate {
	return candidate{circuit.MuxByCondition(c, a.label, b.label), circuit.MuxByCondition(c, a.index, b.index)}
}
