package layertest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hlsgen/hlslib/threshold"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// spoilt is a Thresholding of two channels, with a defect.
type spoilt struct {
	dataflow.Op
	outputs func([]dataflow.StreamType) []dataflow.StreamType
	eval    func(in, out []dataflow.Tensor)
	step    func(iteration int, in, out []dataflow.Word)
	loop    func(*dataflow.Loop)
	emit    func(*dataflow.KernelInstance)
	cost    dataflow.Cost
}

func (s spoilt) Bind(in []dataflow.StreamType) (dataflow.Op, []dataflow.StreamType, error) {
	op, out, err := s.Op.Bind(in)
	s.Op = op
	if s.outputs != nil {
		out = s.outputs(out)
	}
	return s, out, err
}

func (s spoilt) Eval(in []dataflow.Tensor) []dataflow.Tensor {
	out := s.Op.Eval(in)
	if s.eval != nil {
		s.eval(in, out)
	}
	return out
}

func (s spoilt) Loop(f dataflow.Fold, t dataflow.Target) dataflow.Loop {
	l := s.Op.Loop(f, t)
	if s.loop != nil {
		s.loop(&l)
	}
	return l
}

func (s spoilt) Cost(f dataflow.Fold, t dataflow.Target) dataflow.Cost {
	return append(s.Op.Cost(f, t), s.cost...)
}

func (s spoilt) Emit(f dataflow.Fold, t dataflow.Target) dataflow.KernelInstance {
	i := s.Op.Emit(f, t)
	if s.emit != nil {
		s.emit(&i)
	}
	return i
}

func (s spoilt) Kernel(f dataflow.Fold, t dataflow.Target) dataflow.Kernel {
	return spoiltKernel{s.Op.Kernel(f, t), s.step}
}

type spoiltKernel struct {
	dataflow.Kernel
	step func(iteration int, in, out []dataflow.Word)
}

func (k spoiltKernel) Step(iteration int, in []dataflow.Word) []dataflow.Word {
	out := k.Kernel.Step(iteration, in)
	if k.step != nil {
		k.step(iteration, in, out)
	}
	return out
}

func example(s spoilt) Case {
	s.Op = threshold.New(threshold.Params{Steps: []num.StepFunction{{At: []int64{1, 3}, Value: []int64{0, 1, 2}},
		{At: []int64{2}, Value: []int64{-1, 1}}}})
	return Case{Name: "example", Op: s, In: []dataflow.StreamType{{Shape: dataflow.Shape{3, 2},
		Range: []num.Range{{Lo: 0, Hi: 3}}, Elem: num.Type{Kind: num.KindUInt, Width: 2}}}}
}

// bindExample is a case that is past the checks which a wrapped layer cannot pass.
func bindExample(t *testing.T, s spoilt) *bound {
	t.Helper()
	c := example(s)
	b := &bound{Case: c}
	var err error
	if b.op, b.out, err = c.Op.Bind(c.In); err != nil {
		t.Fatal(err)
	}
	for n := range frames {
		b.frames = append(b.frames, frame(rand.New(rand.NewPCG(1, 1)), c.In, n))
	}
	if err := b.listFolds(); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestContractBites gives it layers that break it in one way each.
func TestContractBites(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		defect spoilt
		want   string
	}{
		{"none", spoilt{}, ""},
		{"Eval writes to its arguments", spoilt{eval: func(in, _ []dataflow.Tensor) { in[0].Data[0]++ }},
			"changes its arguments"},
		{"a range that is too narrow", spoilt{outputs: func(o []dataflow.StreamType) []dataflow.StreamType {
			o[0].Range = []num.Range{{Lo: 0, Hi: 2}, {Lo: -1, Hi: 1}}
			o[0].Range[0].Hi = 1
			return o
		}}, "is not INT3 in [0,1]"},
		{"a wrong element", spoilt{step: func(i int, _, out []dataflow.Word) {
			if i == 2 {
				out[0][0] = 1 - out[0][0]
			}
		}}, "the kernel gives"},
		{"a loop that is longer", spoilt{loop: func(l *dataflow.Loop) { l.Body = append(l.Body, l.Body[0]) }},
			"the loop moves"},
		{"a part below zero", spoilt{cost: dataflow.Cost{{Name: "discount", Resources: dataflow.Resources{DSP: -1}}}},
			"discount is negative"},
		{"a part twice", spoilt{cost: dataflow.Cost{{Name: "comparators"}}}, "no name of its own"},
		{"a constant of no known kind", spoilt{emit: func(i *dataflow.KernelInstance) { i.Config[0].Value = "3" }},
			"is a string"},
		{"a ragged table", spoilt{emit: func(i *dataflow.KernelInstance) { i.Tables[0].Rows[1] = nil }},
			"row 1 has 0 elements"},
		{"a memory that is priced in another", spoilt{emit: func(i *dataflow.KernelInstance) {
			i.Storage[0].In = dataflow.MemoryBRAM
		}}, "part threshold memory is priced {LUT:"},
		{"a memory that is not priced", spoilt{emit: func(i *dataflow.KernelInstance) {
			i.Storage = append(i.Storage, dataflow.NewArrayStorage("more", "more memory", 64, 8))
		}}, "part more memory is priced {LUT:0"},
		{"a memory that is priced and not there", spoilt{cost: dataflow.Cost{
			{Name: "more memory", Resources: dataflow.Resources{BRAM: 1}},
		}}, "some is priced and bound nowhere"},
		{"an element beyond its type", spoilt{emit: func(i *dataflow.KernelInstance) { i.Tables[0].Elem.Width = 1 }},
			"does not hold"},
	}
	for _, tt := range tests {
		b := bindExample(t, tt.defect)
		err := b.checkEval()
		if err == nil {
			err = b.checkFold(t.Context(), b.folds[0], rand.New(rand.NewPCG(1, 1)))
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestParametersBite has a layer whose decoded twin is another.
func TestParametersBite(t *testing.T) {
	t.Parallel()
	b := bindExample(t, spoilt{})
	if err := b.checkParams(); err == nil || !strings.Contains(err.Error(), "the decoded layer differs") {
		t.Errorf("a wrapped layer passes for the one of its parameters: %v", err)
	}
}

// TestCompilerBites checks tables that differ from those of Eval, and C++ that does not compile.
func TestCompilerBites(t *testing.T) {
	t.Parallel()
	gxx := tier.Needs(t, "g++")[0]
	for _, tt := range []struct {
		name   string
		defect func(*dataflow.KernelInstance)
		want   string
	}{
		{"a threshold", func(i *dataflow.KernelInstance) { i.Tables[0].Rows[0][0] = 3 },
			`Thresholding_0000 is "example", fold {PE:1`},
		{"a missing member", func(i *dataflow.KernelInstance) { i.Config = i.Config[2:] }, "g++: "},
	} {
		b := bindExample(t, spoilt{emit: tt.defect})
		if err := b.checkEval(); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), gxx, t.TempDir(), []program{{b, b.folds[0]}}); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if err := run(t.Context(), gxx, t.TempDir(), nil); err == nil {
		t.Error("nothing compiled, and nothing said")
	}
}

// TestLintBites checks instances whose text is not what they declare, though their price follows the declaration.
func TestLintBites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		defect func(*dataflow.KernelInstance)
		want   string
	}{
		{"none", func(*dataflow.KernelInstance) {}, ""},
		{"a table without a memory", func(i *dataflow.KernelInstance) {
			i.Storage = i.Storage[1:]
		}, "table thresholds is 2x4, its storage is"},
		{"an array that the kernel does not have", func(i *dataflow.KernelInstance) {
			i.Storage = append(i.Storage, dataflow.NewArrayStorage("more", "more memory", 64, 8))
		}, "Thresholding_0000: the kernel has no array more"},
	} {
		b := bindExample(t, spoilt{emit: tt.defect})
		if err := b.checkEval(); err != nil {
			t.Fatal(err)
		}
		err := lint([]program{{b, b.folds[0]}})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestRandom checks that random layers are well formed, and that random values reach the ends of ranges.
func TestRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	var low, high, beyond, bipolar bool
	for range 500 {
		typ := RandomType(r, dataflow.Shape{2, 3}, 5)
		for n := range frames {
			if err := typ.CheckFrame(frame(r, []dataflow.StreamType{typ}, n)[0]); err != nil {
				t.Fatal(err)
			}
		}
		bipolar = bipolar || typ.Elem.Kind == num.KindBipolar
		x := typ.UnionOfRanges()
		s := RandomStepFunction(r, x, 6, 3, true)
		if err := s.Verify(); err != nil || !s.IsNonDecreasing() {
			t.Fatalf("%v: %v", s, err)
		}
		for _, at := range s.At {
			low, high, beyond = low || at == x.Lo, high || at == x.Hi, beyond || at > x.Hi
		}
	}
	if !low || !high || !beyond || !bipolar {
		t.Errorf("ends %v %v, beyond %v, bipolar %v: some never come", low, high, beyond, bipolar)
	}
}
