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
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/price/delay"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/rnn"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

var update = flag.Bool("update", false, "write the table of carried paths in docs/clock.md")

// cases are the wide layers, one of every other kind and some recurrent ones, in a few folds each.
func cases(t *testing.T) (list []layertest.Case) {
	seen := map[string]bool{}
	for _, c := range randomtest.LargeFrameCases(t) {
		seen[c.Op.Kind()] = true
		list = append(list, c)
	}
	for i := range 2 * len(hlslib.LayerKinds) {
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

// sequences are layers for sequences of any length, in a few folds each, random recurrent ones among them.
func sequences() (list []layertest.Case) {
	elem := num.Type{Kind: num.KindUInt, Width: 8}
	const steps = 500
	back := reorder.Params{Block: steps, Chunk: 24, Shape: []int{steps, 24}}
	for k := range steps {
		back.Order = append(back.Order, steps-1-k)
	}
	for name, op := range map[string]dataflow.Op{
		"back": reorder.New(back),
		"apart": reorder.New(reorder.Params{Block: 6, Chunk: 4, Order: []int{1, 1, 0, 5, 4, 2},
			Shape: []int{steps, 24}}),
		"firstlast": firstlast.New(firstlast.Params{Step: 24, Chunk: 4, Shape: []int{8},
			Order: []firstlast.ChunkOfFirstOrLastStep{{Last: true}, {Chunk: 2}}}),
	} {
		list = append(list, layertest.Case{Name: "steps " + name, Op: op, Folds: 2, In: []dataflow.StreamType{
			{Shape: dataflow.Shape{steps, 24}, Elem: elem, Range: []num.Range{elem.Range()}}}})
	}
	for i := range 6 {
		p, in := randomtest.Program(rand.New(rand.NewPCG(uint64(i), 6)))
		p.Sequence = true
		list = append(list, layertest.Case{Name: fmt.Sprint("steps RNN of random program ", i), Op: rnn.New(p),
			In: in, Folds: 1})
	}
	return list
}

// stages are the stages of all boards at their default clocks, where synthesis is from C++.
func stages() (list []stage) {
	for _, b := range boards.AllBoards() {
		s := stage{delay.DelayFamily(b.DSPType), b.ClockMHz}
		if b.Family == boards.FamilyAMD && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// A stage is a pipeline stage of a device family at a clock.
type stage struct {
	family delay.DelayFamily
	mhz    float64
}

func (s stage) clock() delay.StageDelayModel {
	return delay.NewStageDelayModel(s.family, s.mhz, nil, delay.DelayRangeExpected)
}

// TestCarried compares the longest path from each kernel's state to the next one, in clang's code, with the layer's own
// figure and with the stages of all boards. It compares the table of docs/clock.md with the longest path of each kind.
func TestCarried(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "clang++")
	longest := map[string][]float64{} // by kind, at the clocks of the page
	paths := append(layertest.CompileKernelPaths(t, cases(t)...), layertest.SequencePaths(t, sequences()...)...)
	for _, p := range paths {
		kind := p.Op.Kind()
		if longest[kind] == nil {
			longest[kind] = make([]float64, len(shown))
		}
		for i, s := range shown {
			ns, _ := p.Kernel.Longest(s.clock())
			if said := carries(p, s); ns > said.NS {
				t.Errorf("%s: %.2f ns on %s, the layer says %.2f: %s", p.Name, ns, s.family, said.NS, said.Steps)
			}
			longest[kind][i] = max(longest[kind][i], ns)
		}
		for _, s := range stages() {
			ns, path := p.Kernel.Longest(s.clock())
			// States that arrive with sequences of any length take longer on some boards, and the layer says so.
			told := p.Op.Kind() == "RNN" && p.Sequence && carries(p, s).NS > s.clock().StageBudgetNS()
			if ns > s.clock().StageBudgetNS() && !told {
				t.Errorf("%s: %.2f ns from state to state, where a stage of %s at %g MHz has %.2f:", p.Name, ns,
					s.family, s.mhz, s.clock().StageBudgetNS())
				for _, step := range path {
					t.Logf("%5.2f %.120s", step.NS, step.Text)
				}
			}
		}
	}
	page(t, longest)
}

// carries returns the combinational path that the layer states for its fold, on the device family and clock of s.
func carries(p layertest.KernelPath, s stage) dataflow.TimingPath {
	p.Target.Board.DSPType, p.Target.ClockMHz = string(s.family), s.mhz
	if o, ok := p.Op.(dataflow.TakesSequenceEnds); ok && p.Sequence {
		p.Op = o.Sequence(p.Op, 1, 1)
	}
	return p.Op.Describe().CarriedStatePath(p.Fold, p.Target)
}

// shown lists the device families and clocks that docs/clock.md has columns for.
var shown = []stage{{delay.FamilySeries7, 100}, {delay.FamilyUltraScale, 200}}

// page compares the table of docs/clock.md with the measured paths.
func page(t *testing.T, longest map[string][]float64) {
	t.Helper()
	var want strings.Builder
	want.WriteString("| kernel | 7 series, 100 MHz | UltraScale+, 200 MHz |\n|---|---|---|\n")
	row := func(name string, ns []float64) { fmt.Fprintf(&want, "| %s | %.2f | %.2f |\n", name, ns[0], ns[1]) }
	for _, kind := range hlslib.LayerKinds {
		if longest[kind.Name] == nil {
			t.Fatalf("no %s is measured", kind.Name)
		}
		row(kind.Name, longest[kind.Name])
	}
	row("*a stage*", []float64{shown[0].clock().StageBudgetNS(), shown[1].clock().StageBudgetNS()})
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
