package operators

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hlsgen/frontend/graph"
	"hlsgen/internal/diag"
)

// GivenInputShapes holds the sizes of all axes of inputs, by the input's name; "" stands for the only input. They bind
// axes without a name, and axes with one name but different sizes. Axes with a fixed size in the file keep it.
type GivenInputShapes map[string][]int

// FlagValues returns the shapes in the form of the flag --shape, one text per input, in order of the inputs.
func (s GivenInputShapes) FlagValues() (list []string) {
	for _, input := range slices.Sorted(maps.Keys(s)) {
		var sizes []string
		for _, n := range s[input] {
			sizes = append(sizes, strconv.Itoa(n))
		}
		text := strings.Join(sizes, ",")
		if input != "" {
			text = input + "=" + text
		}
		list = append(list, text)
	}
	return list
}

// SetInGraph sets the shapes of the inputs of a graph, as if the file had them. ok is false after errors were added to
// d.
func (s GivenInputShapes) SetInGraph(g *graph.Graph, file string, d *diag.List) (ok bool) {
	refuse := func(input, msg, hint string) bool {
		d.Add(diag.Diag{Severity: diag.SeverityError, Code: diag.ShapeUnknown, Node: input, Op: "input", Where: file,
			Msg: msg, Hint: hint})
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		sizes := s[name]
		at := slices.IndexFunc(g.Inputs, func(in graph.ValueInfo) bool {
			return in.Name == name || name == "" && len(g.Inputs) == 1
		})
		if at < 0 {
			var known []string
			for _, in := range g.Inputs {
				known = append(known, fmt.Sprintf("%q", in.Name))
			}
			return refuse(name, "--shape names no input of the model",
				"these are: "+strings.Join(known, ", ")+"; such as --shape NAME=1,3,48,192")
		}
		in := &g.Inputs[at]
		if !in.Known {
			in.Known, in.Dims = true, slices.Repeat([]graph.Dim{{Size: -1}}, len(sizes))
		}
		if len(in.Dims) != len(sizes) {
			return refuse(in.Name, fmt.Sprintf("--shape gives %d sizes, the input has %d axes: %s", len(sizes),
				len(in.Dims), graph.FormatDims(*in)), "give the size of every axis, that of the batch too")
		}
		in.Dims = slices.Clone(in.Dims)
		for i, n := range sizes {
			if size := in.Dims[i].Size; size >= 0 && size != n {
				return refuse(in.Name, fmt.Sprintf("--shape gives axis %d %d elements, the file %d", i, n, size),
					fmt.Sprintf("give %d there, or export the model with the other shape", size))
			}
			in.Dims[i] = graph.Dim{Size: n}
		}
	}
	return true
}
