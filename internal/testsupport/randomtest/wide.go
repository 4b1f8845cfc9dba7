package randomtest

import (
	"fmt"
	"slices"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
)

// wide lists layers with large frames, whose counters are therefore as wide as they can be.
var wide = []struct {
	kind, params string
	shapes       []dataflow.Shape
}{
	{"ConvolutionInputGenerator", `{"kernel":[3,3],"stride":[1,1],"dilation":[1,1],"before":[1,1],"after":[1,1],
		"pad":0,"groups":1}`, []dataflow.Shape{{224, 224, 64}}},
	{"ConvolutionInputGenerator", `{"kernel":[7,7],"stride":[2,2],"dilation":[1,1],"before":[3,3],"after":[3,3],
		"pad":0,"groups":1}`, []dataflow.Shape{{224, 223, 3}}},
	{"ConvolutionInputGenerator", `{"kernel":[3,5],"stride":[2,3],"dilation":[2,3],"before":[1,4],"after":[0,1],
		"pad":0,"groups":32}`, []dataflow.Shape{{112, 114, 32}}},
	{"ConvolutionInputGenerator", `{"kernel":[1,9],"stride":[1,1],"dilation":[1,4],"before":[0,32],"after":[0,0],
		"pad":0,"groups":1}`, []dataflow.Shape{{1, 16000, 16}}},
	{"ConvolutionInputGenerator", `{"kernel":[2,2],"stride":[2,2],"dilation":[1,1],"before":[0,0],"after":[0,0],
		"pad":0,"groups":6}`, []dataflow.Shape{{112, 112, 12}}},
	{"Crop", `{"start":[3,5],"stop":[220,219],"step":[2,3]}`, []dataflow.Shape{{224, 224, 12}}},
	{"Crop", `{"start":[0,1],"stop":[224,220],"step":[1,1]}`, []dataflow.Shape{{224, 224, 12}}},
	{"FMPadding", `{"before":[1,2],"after":[3,1],"between":[0,0],"code":0}`, []dataflow.Shape{{224, 224, 12}}},
	{"FMPadding", `{"before":[0,0],"after":[3,1],"between":[1,2],"code":0}`, []dataflow.Shape{{112, 112, 12}}},
	{"FMPadding", `{"before":[2,1],"after":[3,1],"between":[2,1],"code":0}`, []dataflow.Shape{{112, 112, 12}}},
	{"UpsampleNearestNeighbour", `{"scale":[3,2]}`, []dataflow.Shape{{112, 112, 12}}},
	{"GlobalPool", `{"op":"sum"}`, []dataflow.Shape{{112, 112, 24}}},
	{"GlobalPool", `{"op":"max"}`, []dataflow.Shape{{112, 112, 24}}},
	{"Pool", `{"op":"sum"}`, []dataflow.Shape{{112, 112, 49, 12}}},
	{"Pool", `{"op":"max"}`, []dataflow.Shape{{112, 112, 9, 12}}},
	{"LabelSelect", `{"labels":1000,"k":5,"first":"largest","ties":"lower index"}`, []dataflow.Shape{{20, 1000}}},
	{"StreamingConcat", `{"inputs":3}`, []dataflow.Shape{{112, 96}, {112, 64}, {112, 32}}},
	{"StreamingSplit", `{"channels":[64,32]}`, []dataflow.Shape{{112, 96}}},
	{"StreamingDataWidthConverter", `{"in":9,"out":12}`, []dataflow.Shape{{112, 36}}},
	{"StreamingDataWidthConverter", `{"in":72,"out":64}`, []dataflow.Shape{{112, 1152}}},
	{"StreamingDataWidthConverter", `{"in":1,"out":30}`, []dataflow.Shape{{112, 60}}},
	{"StreamingDataWidthConverter", `{"in":30,"out":1}`, []dataflow.Shape{{112, 60}}},
	{"MultiplyStreams", `{"offset":[-3,128]}`, []dataflow.Shape{{112, 112, 12}, {12}}},
	{"Requantization", `{"multiplier":[3],"bias":[2],"shift":2,"lo":0,"hi":255}`, []dataflow.Shape{{112, 112, 12}}},
	{"AddStreams", `{"factors":[[3],[5]]}`, []dataflow.Shape{{112, 112, 12}, {112, 112, 12}}},
}

// LargeFrameCases returns cases of layers with large frames, in two folds each.
func LargeFrameCases(t testing.TB) (list []layertest.Case) {
	t.Helper()
	for i, w := range wide {
		at := slices.IndexFunc(hlslib.LayerKinds, func(k dataflow.LayerKind) bool { return k.Name == w.kind })
		op, err := hlslib.LayerKinds[at].Decode([]byte(w.params))
		if err != nil {
			t.Fatal(err)
		}
		c := layertest.Case{Name: fmt.Sprintf("%s of wide layer %d", w.kind, i), Op: op, Folds: 2}
		for _, s := range w.shapes {
			elem := num.Type{Kind: num.KindUInt, Width: 8}
			c.In = append(c.In, dataflow.StreamType{Shape: s, Elem: elem, Range: []num.Range{elem.Range()}})
		}
		list = append(list, c)
	}
	return list
}
