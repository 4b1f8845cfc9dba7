package recur

import (
	"fmt"
	"math"
	"slices"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/lower/unmapped"
	"hlsgen/frontend/scaled"
	"hlsgen/internal/num"
)

// maxWeights is the largest number of weights of a product in a body, including zeros. A convolution counts as a matrix
// with a row for each element of its result and a column for each element of the vector that it multiplies.
const maxWeights = 1 << 24

// tooManyWeights returns the reason for refusing a body with a product whose matrix is too large. It names the largest
// product, and states the cost of a time step as the body is written.
func (b *reader) tooManyWeights() error {
	var largest string
	most, multiplications, weights, bits := 0, 0, 0, 0
	for _, step := range b.body.Steps {
		d := &dotReader{reader: b, step: step}
		if step.Dot == nil || d.operands() != nil {
			continue
		}
		multiplications += len(d.base) * len(d.offset)
		weights += d.w.Len()
		if n := d.matrix(); n > most {
			largest, most = unmapped.DescribeNode(step.Node), n
		}
	}
	for k := range b.states {
		bits += b.states[k].size * num.NarrowestIntTypeFor(b.states[k].span).Width
	}
	return unmapped.NewReason(fmt.Sprintf("its body has no layer: %s is a matrix of %d weights, at "+
		"most %d are read. As "+
		"it is written, a step takes %d multiplications with %d weights, and %d bits of states", largest, most,
		maxWeights, multiplications, weights, bits),
		fmt.Sprintf("use %d times fewer pixels, channels or units: matrices grow with the square, and there is no "+
			"layer with a window over a state", int(math.Ceil(math.Sqrt(float64(most)/maxWeights)))))
}

// maxLooked is the largest number of products that are examined to find the size of a matrix.
const maxLooked = 1 << 16

// matrix returns the number of weights of the product as a matrix. It finds the vectors from a sample of rows.
func (d *dotReader) matrix() int {
	var rows []int32
	for j := 0; j < len(d.base); j += 1 + len(d.base)*len(d.offset)/maxLooked {
		rows = append(rows, d.base[j])
	}
	forms, err := d.a.FormsOfElements(d.data, scaled.BasePlusOffsetIndices(rows, d.offset))
	if err != nil {
		return len(d.base) * len(d.offset)
	}
	columns := map[string]int{} // by the vector
	for i := range forms.Of {
		for _, leaf := range forms.Of[i].IntegerVariables() {
			switch k := slices.Index(d.names, leaf.Tensor); {
			case k >= d.recur.States:
				columns[""] = d.width
			case k >= 0:
				columns[leaf.Tensor] = d.states[k].size
			default:
				columns[leaf.Tensor] = graph.ElementCount(d.body.Known[leaf.Tensor].Shape)
			}
		}
	}
	n := 0
	for _, c := range columns {
		n += c
	}
	return len(d.base) * n
}
