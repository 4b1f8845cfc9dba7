package layer

import "hlsgen/internal/dataflow"

// LineDependence returns the dependence of a layer of images whose frames are lines of pixels, a single column or row.
// beside returns the layer that handles several such lines side by side, as an image with the given number of columns,
// or nil if there is none. Its axis is the axis of the line.
func LineDependence(in, out dataflow.Shape, beside func(axis, columns int) dataflow.Op) dataflow.Dependence {
	for axis := range 2 {
		if in[1-axis] == 1 && out[1-axis] == 1 && beside(axis, 1) != nil {
			return dataflow.Dependence{Form: dataflow.WindowDependence, In: []int{in[axis]}, Out: out[axis],
				Beside: func(frames int) dataflow.Op { return beside(axis, frames) }}
		}
	}
	return dataflow.Dependence{Why: "it works along rows and columns, and not along a line of steps"}
}

// AxisParams returns a layer's parameters for rows and columns, such that it does along its rows what another layer
// does along axis. Along its columns it does across.
func AxisParams(axis int, does [2]int, across int) [2]int { return [2]int{does[axis], across} }
