package options

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/suggest"
)

// A WeightSource is the value of --weights, which says how the hardware gets its weights. The zero value means
// WeightSourceConstant.
type WeightSource string

// The values of WeightSource.
const (
	WeightSourceConstant WeightSource = "constant" // constants of the circuit
	WeightSourceRuntime  WeightSource = "runtime"  // loaded through registers before the first frame
	WeightSourceStream   WeightSource = "stream"   // loaded from memory by a mover before the first frame
	// WeightSourceExternal has layers read their weights from memory with every frame; a mover loads the weights of all
	// other layers before the first frame. "external=" and the names of layers, separated by commas, selects the
	// layers.
	WeightSourceExternal WeightSource = "external"
)

// WeightSourceNames lists the values of --weights, without names of layers.
var WeightSourceNames = []string{string(WeightSourceConstant), string(WeightSourceRuntime), string(WeightSourceStream),
	string(WeightSourceExternal)}

// LoadsWeights reports whether the hardware gets its weights at run time, before the first frame or with every frame.
// Otherwise they are constants of the circuit.
func (w WeightSource) LoadsWeights() bool { return w != "" && w != WeightSourceConstant }

// ParseWeightSource parses the value of --weights, such as "runtime" or "external=MVAU_0,MVAU_1". Only "external" may
// name layers, each once. The error says which values are possible, or what is wrong with the list of layers.
func ParseWeightSource(s string) (WeightSource, error) {
	from, layers, named := strings.Cut(s, "=")
	if !slices.Contains(WeightSourceNames, from) {
		return "", fmt.Errorf("sources of weights are %s%s", strings.Join(WeightSourceNames, ", "),
			suggest.DidYouMeanSuffix(from, WeightSourceNames))
	}
	if !named {
		return WeightSource(s), nil
	}
	if from != string(WeightSourceExternal) {
		return "", fmt.Errorf("of %s no layers are named, but of %s: %[2]s=LAYER,LAYER", from, WeightSourceExternal)
	}
	list := strings.Split(layers, ",")
	for i, name := range list {
		if name == "" || slices.Contains(list[:i], name) {
			return "", fmt.Errorf("%q is no list of different layers: %s=LAYER,LAYER", layers, WeightSourceExternal)
		}
	}
	return WeightSource(s), nil
}

// IsExternal reports whether layers, all or those of ExternalLayerNames, read their weights from memory with every
// frame.
func (w WeightSource) IsExternal() bool {
	from, _, _ := strings.Cut(string(w), "=")
	return from == string(WeightSourceExternal)
}

// hasMover reports whether a mover in the hardware fills tables of weights from memory.
func (w WeightSource) hasMover() bool { return w == WeightSourceStream || w.IsExternal() }

// ExternalLayerNames returns the layers named after "external=", or nil if the user named none.
func (w WeightSource) ExternalLayerNames() []string {
	_, names, named := strings.Cut(string(w), "=")
	if !named {
		return nil
	}
	return strings.Split(names, ",")
}
