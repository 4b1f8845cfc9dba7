package operators

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/frontend/program"
	"hlsgen/internal/diag"
)

// Options holds everything that a file leaves open: sizes of axes, and formats of cells.
type Options struct {
	Dims map[string]int   // sizes of named dynamic axes; a leading dynamic axis has size 1
	Data map[string][]int // shapes of data by input ("" for a single one), which bind all axes but the leading one

	Cells []CellFormatsFile // the quantisers of the gates of ONNX' recurrent operators

	Sequences map[string]bool // the inputs whose leading dynamic axis is time
	Probed    string          // an input whose leading dynamic axis is tried with probe elements
	Probe     int
}

// input returns the type and the shape that an input of the graph has with these options. It refuses an input whose
// shape is not determined.
func (o Options) input(v graph.ValueInfo) program.KnownTensor {
	shape := o.shape(v)
	if !v.DType.IsComputableNumber() {
		unsupported("feed the model with real numbers or integers", "elements of type %s", v.DType)
	}
	return program.KnownTensor{Shape: shape, DType: v.DType}
}

// shape returns the shape of an input, or refuses one that is not determined.
func (o Options) shape(v graph.ValueInfo) (shape []int) {
	hint := "export the model with fixed axes, or bind the axis with --dim NAME=SIZE, or all with --shape " +
		asShape(&v)
	open := func(format string, args ...any) { refuse(diag.ShapeUnknown, hint, format, args...) }
	if !v.Known {
		open("the file gives no shape")
	}
	n := 1
	for i, dim := range v.Dims {
		size := dim.Size
		if size < 0 {
			bound, given := o.Dims[dim.Param]
			seen := o.fromData(v, i)
			switch {
			case i == 0 && v.Name == o.Probed && o.Probed != "":
				size = o.Probe
			case given && dim.Param != "":
				size = bound
			case seen > 0:
				size = seen
			case i == 0 && !o.Sequences[v.Name]:
				size = 1
			case i == 0:
				hint += ", or with --dim NAME=1..SIZE where sequences have different lengths"
				open("axis 0 (%q) is a sequence of unknown length", dim.Param)
			default:
				open("axis %d (%q) is dynamic", i, dim.Param)
			}
		}
		if size < 1 || n > maxElements/size {
			open("axis %d has %d elements", i, size)
		}
		n *= size
		shape = append(shape, size)
	}
	return shape
}

// asShape returns the text that a user passes to --shape for an input, NAME=1,3,SIZE,SIZE. It has SIZE for the axes
// that the file leaves open.
func asShape(v *graph.ValueInfo) string {
	var sizes []string
	for i, dim := range v.Dims {
		switch {
		case dim.Size >= 0:
			sizes = append(sizes, strconv.Itoa(dim.Size))
		case i == 0:
			sizes = append(sizes, "1")
		default:
			sizes = append(sizes, "SIZE")
		}
	}
	if sizes == nil {
		sizes = []string{"SIZE", "..."}
	}
	return v.Name + "=" + strings.Join(sizes, ",")
}

// dynamicAxes returns the names of the axes that a user can bind, or the list of the word none if there are no such
// axes.
func dynamicAxes(g *graph.Graph) []string {
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

// MakeAxisDynamic makes, in place, an axis of an input dynamic, if place has the form INPUT:AXIS and no axis has that
// name. The axis is then called place. This lets a user bind axes that have a fixed size, or no name. For any other
// place it does nothing.
func MakeAxisDynamic(g *graph.Graph, place string) {
	at := strings.LastIndexByte(place, ':')
	if at < 0 || slices.Contains(dynamicAxes(g), place) {
		return
	}
	axis, err := strconv.Atoi(place[at+1:])
	for _, in := range g.Inputs {
		if err == nil && in.Name == place[:at] && axis >= 0 && axis < len(in.Dims) {
			in.Dims[axis] = graph.Dim{Size: -1, Param: place}
		}
	}
}

// checkDims refuses options that bind an axis that does not exist in the graph.
func (o Options) checkDims(g *graph.Graph) {
	axes := dynamicAxes(g)
	for _, name := range slices.Sorted(maps.Keys(o.Dims)) {
		if !slices.Contains(axes, name) && !slices.Contains(g.Gone, name) {
			hint := "dynamic axes are: " + strings.Join(axes, ", ")
			if len(g.Inputs) > 0 {
				hint += "; any other is called INPUT:AXIS, such as " + g.Inputs[0].Name + ":0"
			}
			refuse(diag.ShapeUnknown, hint, "no input has a dynamic axis %q to bind", name)
		}
	}
}

// fromData returns the size of axis i of an input in the data at hand. The data may have one axis of samples in front.
// fromData returns 0 if there are no matching data, or the axis is the first one and counts samples.
func (o Options) fromData(v graph.ValueInfo, i int) int {
	shape, ok := o.Data[v.Name]
	if !ok {
		shape = o.Data[""]
	}
	i += len(shape) - len(v.Dims)
	if len(shape) < len(v.Dims) || len(shape) > len(v.Dims)+1 || i == 0 && !o.Sequences[v.Name] {
		return 0
	}
	return shape[i]
}

// BindLeadingAxes returns a copy of the graph in which leading dynamic axes have the sizes above 1 to which the options
// bind them. It also returns the remaining options. Axes of time stay dynamic.
func (o Options) BindLeadingAxes(g *graph.Graph) (*graph.Graph, Options) {
	fixed, before := g.ShallowCopy(), dynamicAxes(g)
	for i := range fixed.Inputs {
		in := &fixed.Inputs[i]
		if !in.Known || len(in.Dims) == 0 || in.Dims[0].Size >= 0 || o.Sequences[in.Name] {
			continue
		}
		if n := o.Dims[in.Dims[0].Param]; n > 1 {
			in.Dims = slices.Clone(in.Dims)
			in.Dims[0] = graph.Dim{Size: n}
		}
	}
	o.fixSides(fixed)
	after := dynamicAxes(fixed)
	o.Dims = maps.Clone(o.Dims)
	maps.DeleteFunc(o.Dims, func(name string, _ int) bool {
		return slices.Contains(before, name) && !slices.Contains(after, name)
	})
	return fixed, o
}

// fixSides fixes the sizes of the axes of samples with individual lengths, if one of them has a size or is bound.
func (o Options) fixSides(g *graph.Graph) {
	samples := 0
	for i, in := range g.Inputs {
		axis, ok := g.Sides[in.Name]
		if !ok || !in.Known || axis >= len(in.Dims) {
			continue
		}
		d := in.Dims[axis]
		for _, n := range []int{d.Size, o.Dims[d.Param], o.fromData(in, axis)} {
			if n > 0 && samples == 0 {
				samples = n
			}
		}
		if d.Size < 0 && samples > 0 {
			g.Inputs[i].Dims = slices.Clone(in.Dims)
			g.Inputs[i].Dims[axis] = graph.Dim{Size: samples}
		}
	}
}
