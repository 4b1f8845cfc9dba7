package compiler

import (
	"hlsgen/frontend"
	"hlsgen/internal/dataflow"
)

// JSONVersion is the version of all JSON that hlsgen gives. It grows where a key goes or comes to mean something else;
// a new key does not change it.
const JSONVersion = 1

// A Head begins every JSON object that stands for itself.
type Head struct {
	Version int `json:"version"` // of the form of this object
}

// Versioned is the Head of what this version gives.
var Versioned = Head{JSONVersion}

// ReportForms are the JSON files of a build, with values of their types. The version of those below report/ is that of
// manifest.json.
var ReportForms = map[string]any{
	"manifest.json":                            manifest{},
	"report/layers.json":                       []LayerReport{},
	"report/nodes.json":                        []frontend.NodeFate{},
	"report/certificate.json":                  Certificate{},
	"report/resources.json":                    resourceReport{},
	"report/cycle_simulation.json":             cycleReport{},
	"report/estimate_layer_cycles.json":        map[string]int{},
	"report/estimate_layer_resources.json":     map[string]dataflow.Resources{},
	"report/estimate_network_performance.json": performance{},
	"report/op_and_param_counts.json":          map[string]map[string]int64{},
}
