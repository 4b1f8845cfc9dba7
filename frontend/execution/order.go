package execution

import (
	"errors"
	"math/big"
	"slices"

	"hlsgen/frontend/program"
	"hlsgen/frontend/real"
)

// runOrder sorts the rows of in, the values of tensor name, and sets out to the result. d compares elements whose
// intervals overlap exactly. Equal elements come in the order that o states.
func runOrder(o *program.Order, name string, in *program.Reals, out *program.Reals, d *decider) error {
	sorted := map[int32][]int{} // by base
	for i, base := range o.Base {
		places, ok := sorted[base]
		if !ok {
			var err error
			if places, err = sortRow(o, rowOf(o, name, base, d), in, d); err != nil {
				return err
			}
			sorted[base] = places
		}
		k := places[o.Rank[i]]
		if o.Index {
			out.Lo[i], out.Hi[i] = float64(k), float64(k)
		} else {
			at := int(base) + k*o.Stride
			out.Lo[i], out.Hi[i] = in.Lo[at], in.Hi[at]
		}
	}
	out.ShareSliceIfBoundsEqual()
	if !o.Index && in.Truth != nil {
		out.Truth = func(i int) *big.Rat { return in.Truth(int(o.Base[i]) + sorted[o.Base[i]][o.Rank[i]]*o.Stride) }
	}
	return nil
}

// rowOf returns elements of an earlier tensor, whose values d holds, that have the order of the row of tensor name at
// base. With a nil d, it returns the row itself.
func rowOf(o *program.Order, name string, base int32, d *decider) SourceElementsOfSameOrder {
	at := make([]int32, o.N)
	for k := range at {
		at[k] = base + int32(k*o.Stride)
	}
	if d == nil {
		return SourceElementsOfSameOrder{Tensor: name, At: at}
	}
	return FindSourceElementsOfSameOrder(d.prog, name, at, o.N, func(_ *program.Step,
		in string) bool {
		return d.value(in) != nil
	})
}

// sortRow returns the indices of one row's elements in order, first place first. row names the elements to compare; in
// is the Order's own input.
func sortRow(o *program.Order, row SourceElementsOfSameOrder, in *program.Reals, d *decider) ([]int, error) {
	if len(row.Nodes) > 0 {
		in = d.value(row.Tensor)
	}
	var failed error
	compare := func(i, j int) int {
		a, b := in.IntervalAt(int(row.At[i])), in.IntervalAt(int(row.At[j]))
		c := 0
		switch {
		case a.Hi < b.Lo:
			c = -1
		case a.Lo > b.Hi:
			c = 1
		case a.IsPoint() && b.IsPoint():
		default:
			var err error
			if c, err = d.compare(row.Tensor, int(row.At[i]), int(row.At[j])); err != nil && failed == nil {
				failed = err
			}
		}
		return o.CompareWithTieBreak(row.turned(c), i, j)
	}
	order := program.NewCountingSlice[int](o.N)
	slices.SortFunc(order, compare)
	return order, failed
}

// turned returns the result of comparing two of the row's own elements, given c, the result of comparing their
// counterparts in r.
func (r *SourceElementsOfSameOrder) turned(c int) int {
	if r.Falls {
		return -c
	}
	return c
}

// compare compares elements i and j of a tensor exactly, with a result like that of cmp.Compare. The error says that
// this is not possible.
func (d *decider) compare(name string, i, j int) (c int, err error) {
	if d.same(pair{name, i, j}, map[pair]bool{}) {
		return 0, nil
	}
	err = d.decide(func(prec uint) error {
		a, err := d.element(name, i, prec)
		if err != nil {
			return err
		}
		b, err := d.element(name, j, prec)
		if err != nil {
			return err
		}
		c, err = real.CompareNumbers(a, b)
		return err
	})
	return c, err
}

// A pair names two elements of one tensor.
type pair struct {
	tensor string
	i, j   int
}

// same reports whether two elements are certainly equal: known and equal, or computed alike from elements that are.
// Without this, digits alone would never show that two exponentials are equal. seen caches the answers.
func (d *decider) same(p pair, seen map[pair]bool) (yes bool) {
	if p.i == p.j {
		return true
	}
	if yes, known := seen[p]; known {
		return yes
	}
	defer func() { seen[p] = yes }()
	if v := d.value(p.tensor); v != nil {
		a, b := v.IntervalAt(p.i), v.IntervalAt(p.j)
		switch {
		case v.Truth != nil:
			return v.Truth(p.i).Cmp(v.Truth(p.j)) == 0
		case a.Hi < b.Lo, b.Hi < a.Lo:
			return false
		case a.IsPoint() && b.IsPoint():
			return true
		}
	}
	s := d.prog.ProducerOf(p.tensor)
	switch {
	case s == nil:
		return false
	case s.Move != nil:
		a, k := s.Move.SourceOf(p.i)
		b, l := s.Move.SourceOf(p.j)
		in := s.Node.Inputs
		return in[a] == in[b] && d.same(pair{in[a], k, l}, seen)
	case s.Elem != nil:
		for v, slot := range s.Elem.Args {
			if !d.same(pair{s.Node.Inputs[slot], s.Elem.ArgumentIndex(v, p.i), s.Elem.ArgumentIndex(v, p.j)}, seen) {
				return false
			}
		}
		return true
	}
	return false
}

// orderElement returns element i of the output of o, whose input is tensor name, exactly or as an interval computed
// with prec bits. It compares all elements of the row.
func orderElement(o *program.Order, name string, i int, prec uint, d *decider) (real.Num, error) {
	by := rowOf(o, name, o.Base[i], d)
	row := make([]real.Num, o.N)
	for k := range row {
		n, err := d.element(by.Tensor, int(by.At[k]), prec)
		if err != nil {
			return n, err
		}
		row[k] = n
	}
	order := program.NewCountingSlice[int](o.N)
	var failed error
	seen := map[pair]bool{}
	slices.SortFunc(order, func(a, b int) int {
		c, err := real.CompareNumbers(row[a], row[b])
		if err != nil && d.same(pair{by.Tensor, int(by.At[a]), int(by.At[b])}, seen) {
			c, err = 0, nil
		}
		if err != nil {
			failed = err
		}
		return o.CompareWithTieBreak(by.turned(c), a, b)
	})
	k := order[o.Rank[i]]
	if o.Index {
		return real.NumberOfRational(new(big.Rat).SetInt64(int64(k))), failed
	}
	if len(by.Nodes) > 0 {
		n, err := d.element(name, int(o.Base[i])+k*o.Stride, prec)
		return n, errors.Join(failed, err)
	}
	return row[k], failed
}
