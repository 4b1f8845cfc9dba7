package layer

import "hlsgen/internal/dataflow"

// LineDependenceOf returns which pixels an output pixel depends on, for frames of one row or column. beside returns the
// layer that handles several such lines side by side, as an image with that many columns, or nil if there is none. Its
// axis is the one along which the line runs. For other frames the result says that no part can be computed alone.
func LineDependenceOf(in, out dataflow.Shape, beside func(axis, columns int) dataflow.Op) dataflow.Dependence {
	for axis := range 2 {
		if in[1-axis] == 1 && out[1-axis] == 1 && beside(axis, 1) != nil {
			return dataflow.Dependence{Form: dataflow.DependenceFormWindow, In: []int{in[axis]}, Out: out[axis],
				Beside: func(frames int) dataflow.Op { return beside(axis, frames) }}
		}
	}
	return dataflow.Dependence{Why: "it works along rows and columns, and not along a line of steps"}
}

// ParamAlongAxisAsRows returns a parameter by rows and columns, for a layer that does along its rows what another layer
// does along an axis. does is the other layer's parameter by rows and columns; across is the value for columns.
func ParamAlongAxisAsRows(axis int, does [2]int, across int) [2]int {
	return [2]int{does[axis], across}
}
