package layer

import "hlsgen/internal/dataflow"

// LineDependence returns which pixels an output pixel depends on, for frames of one row or column. beside returns the
// layer for several such lines side by side, as an image with that many columns, or nil if there is none. axis is the
// line's. For other frames the result says that no part can be computed alone.
func LineDependence(in, out dataflow.Shape, beside func(axis, columns int) dataflow.Op) dataflow.Dependence {
	for axis := range 2 {
		if in[1-axis] == 1 && out[1-axis] == 1 && beside(axis, 1) != nil {
			return dataflow.Dependence{Form: dataflow.WindowDependence, In: []int{in[axis]}, Out: out[axis],
				Beside: func(frames int) dataflow.Op { return beside(axis, frames) }}
		}
	}
	return dataflow.Dependence{Why: "it works along rows and columns, and not along a line of steps"}
}

// AxisParams returns a parameter by rows and columns, of a layer that does along its rows what another does along an
// axis. does is the other layer's parameter, and across the value for columns.
func AxisParams(axis int, does [2]int, across int) [2]int { return [2]int{does[axis], across} }
