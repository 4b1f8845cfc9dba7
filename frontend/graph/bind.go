package graph

import (
	"fmt"
	"maps"
	"slices"
)

// Options bind what the file leaves open.
type Options struct {
	Dims map[string]int   // values of named dynamic axes; a leading dynamic axis is one sample
	Data map[string][]int // shapes of data per input ("" for a single one): axes but the leading are read off them

	Cells map[string]CellFormats // of ONNX LSTM nodes by name, EveryCell for the others: their gates are quantised so

	sequences map[string]bool // inputs whose leading dynamic axis is time
	probed    string          // an input whose leading dynamic axis is tried with so many elements:
	probe     int
}

// bindShape is the shape of an input; msg says why there is none.
func bindShape(v Value, opt Options) (shape []int, msg string) {
	if !v.Known {
		return nil, "the file gives no shape"
	}
	n := 1
	for i, dim := range v.Dims {
		size := dim.Size
		if size < 0 {
			bound, given := opt.Dims[dim.Param]
			seen := opt.fromData(v, i)
			switch {
			case i == 0 && v.Name == opt.probed && opt.probed != "":
				size = opt.probe
			case given && dim.Param != "":
				size = bound
			case seen > 0:
				size = seen
			case i == 0 && !opt.sequences[v.Name]:
				size = 1
			case i == 0:
				return nil, fmt.Sprintf("axis 0 (%q) is a sequence of unknown length", dim.Param)
			default:
				return nil, fmt.Sprintf("axis %d (%q) is dynamic", i, dim.Param)
			}
		}
		if size < 1 || n > maxElements/size {
			return nil, fmt.Sprintf("axis %d has %d elements", i, size)
		}
		n *= size
		shape = append(shape, size)
	}
	return shape, ""
}

// dynamicAxes names the axes that a user can bind.
func dynamicAxes(g *Graph) []string {
	var names []string
	for _, in := range g.Inputs {
		for _, dim := range in.Dims {
			if dim.Size < 0 && dim.Param != "" && !slices.Contains(names, dim.Param) {
				names = append(names, dim.Param)
			}
		}
	}
	if names == nil {
		names = []string{"none"}
	}
	return names
}

// unused is an axis that the options bind and the graph does not have.
func (o Options) unused(g *Graph) string {
	axes := dynamicAxes(g)
	for _, name := range slices.Sorted(maps.Keys(o.Dims)) {
		if !slices.Contains(axes, name) {
			return name
		}
	}
	return ""
}

// fromData is the size of axis i of an input in the data at hand, which may have an axis of samples more in front; 0
// where there are none that match, and for the first axis where it is one that counts samples.
func (o Options) fromData(v Value, i int) int {
	shape, ok := o.Data[v.Name]
	if !ok {
		shape = o.Data[""]
	}
	i += len(shape) - len(v.Dims)
	if len(shape) < len(v.Dims) || len(shape) > len(v.Dims)+1 || i == 0 && !o.sequences[v.Name] {
		return 0
	}
	return shape[i]
}
