package layer

import "hlsgen/internal/dataflow"

// Along is the dependence of a layer of images where both frames are a line of pixels along one axis, a column or a
// row. beside is the layer that does along the rows of an image of so many columns what this one does along that line;
// nil where there is none.
func Along(in, out dataflow.Shape, beside func(axis, columns int) dataflow.Op) dataflow.Dependence {
	for axis := range 2 {
		if in[1-axis] == 1 && out[1-axis] == 1 && beside(axis, 1) != nil {
			return dataflow.Dependence{Form: dataflow.Along, In: []int{in[axis]}, Out: out[axis],
				Beside: func(frames int) dataflow.Op { return beside(axis, frames) }}
		}
	}
	return dataflow.Dependence{Why: "it works along rows and columns, and not along a line of steps"}
}

// Axis is what a layer does along an axis, as what another does along rows, which does across along columns.
func Axis(axis int, does [2]int, across int) [2]int { return [2]int{does[axis], across} }
