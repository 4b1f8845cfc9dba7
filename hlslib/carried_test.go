package hlslib_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib"
	"hlsgen/hlslib/delay"
	"hlsgen/hlslib/layertest"
	"hlsgen/hlslib/randomtest"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/tier"
)

// wide are layers of large frames, whose counters are as wide as they become.
var wide = []struct {
	kind, params string
	shapes       []dataflow.Shape
}{
	{"ConvolutionInputGenerator", `{"kernel":[3,3],"stride":[1,1],"dilation":[1,1],"before":[1,1],"after":[1,1],"pad":0,
		"groups":1}`, []dataflow.Shape{{224, 224, 64}}},
	{"ConvolutionInputGenerator", `{"kernel":[7,7],"stride":[2,2],"dilation":[1,1],"before":[3,3],"after":[3,3],"pad":0,
		"groups":1}`, []dataflow.Shape{{224, 223, 3}}},
	{"ConvolutionInputGenerator", `{"kernel":[3,5],"stride":[2,3],"dilation":[2,3],"before":[1,4],"after":[0,1],"pad":0,
		"groups":32}`, []dataflow.Shape{{112, 114, 32}}},
	{"ConvolutionInputGenerator", `{"kernel":[1,9],"stride":[1,1],"dilation":[1,4],"before":[0,32],"after":[0,0],"pad":0,
		"groups":1}`, []dataflow.Shape{{1, 16000, 16}}},
	{"ConvolutionInputGenerator", `{"kernel":[2,2],"stride":[2,2],"dilation":[1,1],"before":[0,0],"after":[0,0],"pad":0,
		"groups":6}`, []dataflow.Shape{{112, 112, 12}}},
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

// TestCarried holds the longest path from each kernel's state to the next one, as clang sees it, against the stage of all boards at
// their default clocks.
func TestCarried(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "clang++")
	var cases []layertest.Case
	for i, w := range wide {
		at := slices.IndexFunc(hlslib.Kinds, func(k dataflow.Kind) bool { return k.Name == w.kind })
		op, err := hlslib.Kinds[at].Decode([]byte(w.params))
		if err != nil {
			t.Fatal(err)
		}
		c := layertest.Case{Name: fmt.Sprintf("%s of case %d", w.kind, i), Op: op, Folds: 3}
		for _, s := range w.shapes {
			elem := num.Type{Kind: num.UInt, Width: 8}
			c.In = append(c.In, dataflow.Type{Shape: s, Elem: elem, Range: []num.Range{elem.Range()}})
		}
		cases = append(cases, c)
	}
	for i := range 200 {
		if c, _ := randomtest.Instance(i); c.Op.Kind() != "RNN" {
			c.Folds, c.Only = 1, nil
			c.Name = fmt.Sprint(c.Op.Kind(), " of instance ", i)
			cases = append(cases, c)
		}
	}
	for i := range 30 {
		c := randomtest.RNN(rand.New(rand.NewPCG(uint64(i), 5)))
		c.Name, c.Folds = fmt.Sprint("RNN ", i), 1
		cases = append(cases, c)
	}
	type stage struct {
		family delay.Family
		mhz    float64
	}
	stages := map[stage]string{}
	for _, b := range boards.All() {
		if b.Family == boards.AMD {
			stages[stage{delay.Family(b.DSPType), b.ClockMHz}] = b.Name
		}
	}
	for _, p := range layertest.Paths(t, cases...) {
		a, b := delay.At(delay.Series7, 100, nil, 0), delay.At(delay.UltraScale, 200, nil, 0)
		x, _ := p.Kernel.Longest(a)
		y, _ := p.Kernel.Longest(b)
		fmt.Printf("T %5.2f %5.2f %s\n", x, y, p.Name)
		worst := 0.0
		for s, board := range stages {
			if _ = worst; s.mhz == 150 || s.family == delay.Versal { continue }
			c := delay.At(s.family, s.mhz, nil, delay.Expected)
			if ns, path := p.Kernel.Longest(c); ns > c.Budget() {
				t.Errorf("%s on the %s at %g MHz: %.2f ns, a stage has %.2f", p.Name, board, s.mhz, ns, c.Budget())
				for _, s := range path {
					t.Logf("      %5.2f %.150s", s.NS, s.Text)
				}
			}
		}
	}
}
