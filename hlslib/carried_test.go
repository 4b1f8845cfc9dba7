package hlslib_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
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

var update = flag.Bool("update", false, "write the table of carried paths in docs/clock.md")

// wide are layers of large frames, whose counters are as wide as they become.
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

// cases are the wide layers, one of every other kind and some recurrent ones, in a few folds each.
func cases(t *testing.T) (list []layertest.Case) {
	seen := map[string]bool{}
	for i, w := range wide {
		at := slices.IndexFunc(hlslib.Kinds, func(k dataflow.Kind) bool { return k.Name == w.kind })
		op, err := hlslib.Kinds[at].Decode([]byte(w.params))
		if err != nil {
			t.Fatal(err)
		}
		seen[w.kind] = true
		c := layertest.Case{Name: fmt.Sprintf("%s of wide layer %d", w.kind, i), Op: op, Folds: 2}
		for _, s := range w.shapes {
			elem := num.Type{Kind: num.UInt, Width: 8}
			c.In = append(c.In, dataflow.Type{Shape: s, Elem: elem, Range: []num.Range{elem.Range()}})
		}
		list = append(list, c)
	}
	for i := range 2 * len(hlslib.Kinds) {
		if c, _ := randomtest.Instance(i); !seen[c.Op.Kind()] {
			c.Folds, c.Only = 2, nil
			c.Name = fmt.Sprintf("%s of random layer %d", c.Op.Kind(), i)
			list = append(list, c)
		}
	}
	for i := range 4 {
		c := randomtest.RNN(rand.New(rand.NewPCG(uint64(i), 5)))
		c.Name, c.Folds = fmt.Sprint("RNN of random program ", i), 1
		list = append(list, c)
	}
	return list
}

// stages are the stages of all boards at their default clocks, where synthesis is from C++.
func stages() (list []stage) {
	for _, b := range boards.All() {
		s := stage{delay.Family(b.DSPType), b.ClockMHz}
		if b.Family == boards.AMD && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// A stage is that of a family at a clock.
type stage struct {
	family delay.Family
	mhz    float64
}

func (s stage) clock() delay.Clock { return delay.At(s.family, s.mhz, nil, delay.Expected) }

// TestCarried holds the longest path from each kernel's state to the next one, in clang's code, against what the layer
// says of it and against the stages of all boards, and the table of docs/clock.md against the longest of each kind.
func TestCarried(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "clang++")
	longest := map[string][]float64{} // by kind, at the clocks of the page
	paths := layertest.Paths(t, cases(t)...)
	for _, p := range paths {
		kind := p.Op.Kind()
		if longest[kind] == nil {
			longest[kind] = make([]float64, len(shown))
		}
		for i, s := range shown {
			ns, _ := p.Kernel.Longest(s.clock())
			p.Target.Board.DSPType, p.Target.ClockMHz = string(s.family), s.mhz
			if said := p.Op.(dataflow.Carrying).Carries(p.Fold, p.Target); ns > said.NS {
				t.Errorf("%s: %.2f ns on %s, the layer says %.2f: %s", p.Name, ns, s.family, said.NS, said.Steps)
			}
			longest[kind][i] = max(longest[kind][i], ns)
		}
		for _, s := range stages() {
			if ns, path := p.Kernel.Longest(s.clock()); ns > s.clock().Budget() {
				t.Errorf("%s: %.2f ns from state to state, where a stage of %s at %g MHz has %.2f:", p.Name, ns,
					s.family, s.mhz, s.clock().Budget())
				for _, step := range path {
					t.Logf("%5.2f %.120s", step.NS, step.Text)
				}
			}
		}
	}
	page(t, longest)
}

// shown are the clocks of the page.
var shown = []stage{{delay.Series7, 100}, {delay.UltraScale, 200}}

// page holds the table of docs/clock.md against what was measured.
func page(t *testing.T, longest map[string][]float64) {
	t.Helper()
	var want strings.Builder
	want.WriteString("| kernel | 7 series, 100 MHz | UltraScale+, 200 MHz |\n|---|---|---|\n")
	row := func(name string, ns []float64) { fmt.Fprintf(&want, "| %s | %.2f | %.2f |\n", name, ns[0], ns[1]) }
	for _, kind := range hlslib.Kinds {
		if longest[kind.Name] == nil {
			t.Fatalf("no %s is measured", kind.Name)
		}
		row(kind.Name, longest[kind.Name])
	}
	row("*a stage*", []float64{shown[0].clock().Budget(), shown[1].clock().Budget()})
	const file, marker = "../docs/clock.md", "<!-- carried -->\n\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), marker)
	old, tail, more := strings.Cut(rest, "\n\n")
	switch {
	case !found || !more:
		t.Fatalf("%s has no table of carried paths", file)
	case old+"\n" == want.String():
	case !*update:
		t.Errorf("the table of carried paths in %s is not what is measured; -update writes\n%s", file, want.String())
	default:
		if err := os.WriteFile(file, []byte(head+marker+want.String()+"\n"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
