package fast

import (
	"math"

	"hlsgen/internal/num"
)

// A finish converts the sums of a block of products to outputs. The sums exclude what the value of a byte of 0
// contributes. Outputs that are stored in bytes are computed by the first of line, steep, counted and table that is not
// nil.
type finish struct {
	line  *line
	steep *steep
	// The output is base plus the number of thresholds that are less than the sum.
	counted []int32 // [thresholds][lanes]
	base    [lanes]uint8
	table   [][]uint8 // by lane: the output's byte, from the least sum on
	least   [lanes]int32
	// Otherwise the output is the sum plus add, after steps if there are any.
	lo    int64 // value of an output's byte 0
	add   [lanes]int64
	steps []num.StepFunction // by lane; nil without step functions
}

// fewSteps is the most thresholds that are counted where a line also works, and countedSteps where it does not.
// tableSums is the most sums per lane that a table has.
const (
	fewSteps     = 1
	countedSteps = 24
	tableSums    = 1 << 12
)

// finisher returns the finish for the n outputs from output first on.
func (k *product) finisher(first, n int) finish {
	f := finish{lo: k.out.lo()}
	var reach [lanes]num.Range // of sums
	least, most := -k.less, k.in.reach.ValueCount()-1-k.less
	for c := range n {
		for _, w := range k.Weights[first+c] {
			f.add[c] += w * (k.in.lo() + k.less)
			reach[c].Lo += min(w*least, w*most)
			reach[c].Hi += max(w*least, w*most)
		}
		f.least[c] = int32(reach[c].Lo)
	}
	if len(k.Steps) == 0 {
		if k.out.width == narrow {
			f.shift(reach[:n])
		}
		return f
	}
	for c := range n {
		s := k.Steps[min(first+c, len(k.Steps)-1)]
		s = within(s.RestrictedTo(num.Range{Lo: reach[c].Lo + f.add[c], Hi: reach[c].Hi + f.add[c]}), k.out.reach)
		f.steps = append(f.steps, s)
	}
	if k.out.width == narrow {
		f.choose(reach[:n])
	}
	return f
}

// choose selects how the step functions, of sums in the ranges reach by lane, produce bytes.
func (f *finish) choose(reach []num.Range) {
	most, rises, tables := int64(0), true, true
	for c, s := range f.steps {
		most = max(most, s.Value[len(s.At)]-s.Value[0])
		rises = rises && s.IsNonDecreasing()
		tables = tables && reach[c].ValueCount() <= tableSums
	}
	switch {
	case rises && most <= fewSteps:
		f.count(most)
	case f.lines(reach):
	case rises && most <= countedSteps:
		f.count(most)
	case tables:
		for c := range reach {
			t := make([]uint8, reach[c].ValueCount())
			for i := range t {
				t[i] = uint8(f.of(c, f.least[c]+int32(i)) - f.lo)
			}
			f.table = append(f.table, t)
		}
	}
}

// shift makes the sums themselves the outputs, which must fit into bytes.
func (f *finish) shift(reach []num.Range) {
	f.line = &line{}
	for c := range reach {
		if max(-reach[c].Lo, reach[c].Hi, f.add[c]-f.lo, f.lo-f.add[c]) > 1<<22 {
			f.line = nil
			return
		}
		f.line.scale[c], f.line.bias[c], f.line.top[c] = 1, float32(f.add[c]-f.lo), math.MaxUint8
	}
}

// within returns s with values limited to range r. Values outside r do not occur.
func within(s num.StepFunction, r num.Range) num.StepFunction {
	o := num.StepFunction{Value: []int64{min(max(s.Value[0], r.Lo), r.Hi)}}
	for i, at := range s.At {
		if v := min(max(s.Value[i+1], r.Lo), r.Hi); v != o.Value[len(o.At)] {
			o.At, o.Value = append(o.At, at), append(o.Value, v)
		}
	}
	return o
}

// count makes the outputs count thresholds, at most most per lane.
func (f *finish) count(most int64) {
	f.counted = make([]int32, most*lanes)
	for i := range f.counted {
		f.counted[i] = math.MaxInt32
	}
	for c, s := range f.steps {
		f.base[c] = uint8(s.Value[0] - f.lo)
		i := c
		for j, at := range s.At {
			for range s.Value[j+1] - s.Value[j] {
				f.counted[i] = int32(at - f.add[c] - 1)
				i += lanes
			}
		}
	}
}

// lines makes the outputs rounded lines, for sums in the ranges reach by lane. It returns false if a step function is
// no rounded line.
func (f *finish) lines(reach []num.Range) bool {
	l, s := &line{}, &steep{}
	lined, steeped := true, true
	for c := range reach {
		at := f.along(c, reach[c])
		scale, bias := at.fit()
		s.scale[c], s.bias[c] = scale, bias
		s.base[c], s.top[c] = uint8(at.base-f.lo), uint8(at.top-at.base)
		l.scale[c], l.bias[c], l.base[c], l.top[c] = float32(scale), float32(bias), s.base[c], s.top[c]
		is := func(of func(c int, sum int32) uint8) bool {
			return at.is(func(x int64) int64 { return int64(of(c, int32(x))) + f.lo })
		}
		lined = lined && is(l.at)
		if steeped = steeped && is(s.at); !steeped {
			return false
		}
	}
	if lined {
		f.line = l
	} else {
		f.steep = s
	}
	return true
}

// of returns the value of lane c's output for a sum.
func (f *finish) of(c int, sum int32) int64 {
	v := int64(sum) + f.add[c]
	if f.steps != nil {
		v = f.steps[c].Apply(v)
	}
	return v
}

// bytes stores n outputs in y for each row of sums. The outputs of each row are stride bytes behind those of the row
// before.
func (f *finish) bytes(k *kernels, y []uint8, stride, n int, sums []int32) {
	switch {
	case f.line != nil:
		k.line(y, stride, n, sums, f.line)
	case f.steep != nil:
		k.steep(y, stride, n, sums, f.steep)
	case f.counted != nil:
		k.count(y, stride, n, sums, f.counted, &f.base)
	default:
		for r := 0; r*lanes < len(sums); r++ {
			for c, sum := range sums[r*lanes:][:n] {
				if f.table != nil {
					y[r*stride+c] = f.table[c][sum-f.least[c]]
				} else {
					y[r*stride+c] = uint8(f.of(c, sum) - f.lo)
				}
			}
		}
	}
}

// ints does what bytes does for outputs that are stored as int32.
func (f *finish) ints(y []int32, stride, n int, sums []int32) {
	for r := 0; r*lanes < len(sums); r++ {
		to := y[r*stride:][:n]
		for c, sum := range sums[r*lanes:][:n] {
			if f.steps == nil {
				to[c] = sum + int32(f.add[c])
			} else {
				to[c] = int32(f.of(c, sum))
			}
		}
	}
}
