package options

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/suggest"
)

// WeightSource says how the hardware gets its weights. The zero value means WeightsConstant.
type WeightSource string

// The values of WeightSource.
const (
	WeightsConstant WeightSource = "constant" // constants of the circuit
	WeightsRuntime  WeightSource = "runtime"  // loaded through registers before the first frame
	WeightsStream   WeightSource = "stream"   // loaded from memory by a mover before the first frame
	// WeightsExternal has layers read their weights from memory with every frame; a mover loads the weights of all
	// other layers before the first frame. "external=" and the names of layers, separated by commas, selects the
	// layers.
	WeightsExternal WeightSource = "external"
)

// WeightSources lists the values of WeightSource.
var WeightSources = []string{string(WeightsConstant), string(WeightsRuntime), string(WeightsStream),
	string(WeightsExternal)}

// Loaded reports whether weights are loaded, so that they are not constants of the circuit.
func (w WeightSource) Loaded() bool { return w != "" && w != WeightsConstant }

// ParseWeights parses the value of --weights.
func ParseWeights(s string) (WeightSource, error) {
	from, layers, named := strings.Cut(s, "=")
	if !slices.Contains(WeightSources, from) {
		return "", fmt.Errorf("sources of weights are %s%s", strings.Join(WeightSources, ", "),
			suggest.DidYouMean(from, WeightSources))
	}
	if !named {
		return WeightSource(s), nil
	}
	if from != string(WeightsExternal) {
		return "", fmt.Errorf("of %s no layers are named, but of %s: %[2]s=LAYER,LAYER", from, WeightsExternal)
	}
	list := strings.Split(layers, ",")
	for i, name := range list {
		if name == "" || slices.Contains(list[:i], name) {
			return "", fmt.Errorf("%q is no list of different layers: %s=LAYER,LAYER", layers, WeightsExternal)
		}
	}
	return WeightSource(s), nil
}

// External reports whether weights are read from memory with every frame.
func (w WeightSource) External() bool {
	from, _, _ := strings.Cut(string(w), "=")
	return from == string(WeightsExternal)
}

// Streams reports whether a mover fills tables from memory.
func (w WeightSource) Streams() bool { return w == WeightsStream || w.External() }

// Layers returns the layers named after "external=", or nil if none is named.
func (w WeightSource) Layers() []string {
	_, names, named := strings.Cut(string(w), "=")
	if !named {
		return nil
	}
	return strings.Split(names, ",")
}
