package dataflow

import "testing"

// A multiplier is a layer of PE*SIMD products of the given bits. A dealer is one whose PE can be divided.
type multiplier struct {
	Op
	bits int
}

func (m multiplier) Products(f Fold, parts int) (n, bits int) { return f.PE * f.SIMD / parts, m.bits }

func (m multiplier) Adds(f Fold, parts int) int { return f.PE * f.SIMD / parts * m.bits }

func (m multiplier) RowBits(f Fold) int { return f.PE * f.SIMD * m.bits }

type dealer struct{ multiplier }

func (dealer) Part(Fold, int, int) (Op, StreamType, error) { panic("not asked for") }

func (dealer) Alike(Op, Fold, Target) bool { panic("not asked for") }

func TestEnvelope(t *testing.T) {
	t.Parallel()
	small := UnrollLimits{Wide: 4, Few: 8, One: 100}
	for _, tt := range []struct {
		name     string
		e        UnrollLimits
		op       Op
		pe, simd int
		parts    int
		raised   string // the least envelope with room for it
	}{
		{"no products", small, nil, 1000, 1000, 1, "4,8,100"},
		{"as many as there may be", small, multiplier{bits: 5}, 2, 2, 1, "4,8,100"},
		{"one more, not to be dealt out", small, multiplier{bits: 5}, 5, 1, 0, "5,8,100"},
		{"4 bits", small, multiplier{bits: 4}, 2, 4, 1, "4,8,100"},
		{"2 bits", small, dealer{multiplier{bits: 2}}, 4, 4, 2, "4,8,100"},
		{"1 bit", small, dealer{multiplier{bits: 1}}, 60, 5, 3, "4,8,100"},
		{"parts divide PE", small, dealer{multiplier{bits: 8}}, 9, 1, 3, "4,8,100"},
		{"PE 7 in one or seven", small, dealer{multiplier{bits: 8}}, 7, 2, 7, "4,8,100"},
		{"SIMD alone is too much", small, dealer{multiplier{bits: 8}}, 6, 5, 0, "5,8,100"},
		{"more parts than ports", small, dealer{multiplier{bits: 8}}, 128, 4, 0, "8,8,100"},
		{"the default", UnrollLimits{}, dealer{multiplier{bits: 8}}, 64, 32, 2, "1024,2048,8192"},
		{"TFC at full unrolling", UnrollLimits{}, dealer{multiplier{bits: 1}}, 64, 784, 8, "1024,2048,8192"},
	} {
		f := Fold{PE: tt.pe, SIMD: tt.simd}
		on := Target{Unroll: tt.e}
		if got := on.MinProcesses(tt.op, f); got != tt.parts {
			t.Errorf("%s: %d parts, want %d", tt.name, got, tt.parts)
		}
		raised := on.UnrollLimitsRaisedToFit(tt.op, f)
		if got := raised.String(); got != tt.raised {
			t.Errorf("%s: %s has room for it, want %s", tt.name, got, tt.raised)
		}
		if (Target{Unroll: raised}).MinProcesses(tt.op, f) == 0 {
			t.Errorf("%s: %s has no room for it", tt.name, raised)
		}
	}
}

// TestBuilt checks that for SystemVerilog alone the bits of sums limit a process, and products if the user gives a
// number.
func TestBuilt(t *testing.T) {
	t.Parallel()
	few := UnrollLimits{Wide: 64, Few: 64, One: 64}
	for _, tt := range []struct {
		name string
		on   Target
		op   Op
		pe   int // PE of a fold with SIMD 1024
		want int
	}{
		{"C++", Target{}, dealer{multiplier{bits: 8}}, 16, 16},
		{"SystemVerilog, as many bits as there may be", Target{Backend: BackendRTL}, dealer{multiplier{bits: 8}}, 16,
			1},
		{"and twice as many", Target{Backend: BackendRTL}, dealer{multiplier{bits: 8}}, 32, 2},
		{"fewer bits", Target{Backend: BackendRTL}, dealer{multiplier{bits: 2}}, 64, 1},
		{"not to be dealt out", Target{Backend: BackendRTL}, multiplier{bits: 8}, 32, 0},
		{"products, as the user says", Target{Backend: BackendRTL, Unroll: few}, dealer{multiplier{bits: 8}}, 16, 0},
		{"the products of C++, as the user says", Target{Backend: BackendRTL, Unroll: DefaultUnrollLimits},
			dealer{multiplier{bits: 8}}, 16, 16},
	} {
		f := Fold{PE: tt.pe, SIMD: 1024}
		if got := tt.on.MinProcesses(tt.op, f); got != tt.want {
			t.Errorf("%s: %d parts, want %d", tt.name, got, tt.want)
		}
		tt.on.Unroll = tt.on.UnrollLimitsRaisedToFit(tt.op, f)
		if tt.on.MinProcesses(tt.op, f) == 0 {
			t.Errorf("%s: %s has no room for it", tt.name, tt.on.Unroll)
		}
	}
}

// TestRows checks that C++ divides a row of weights that is too wide among processes, and that no limits of a user help
// where that is not possible. Circuits alone have no such row.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		on   Target
		op   Op
		pe   int // PE of a fold with SIMD 1024
		want int
		help bool
	}{
		{"the widest row", Target{Unroll: WidestUnrollLimits}, dealer{multiplier{bits: 8}}, 8, 1, true},
		{"wider rows", Target{Unroll: WidestUnrollLimits}, dealer{multiplier{bits: 8}}, 32, 4, true},
		{"not to be dealt out", Target{Unroll: WidestUnrollLimits}, multiplier{bits: 8}, 16, 0, false},
		{"a part that is too wide", Target{Unroll: WidestUnrollLimits}, dealer{multiplier{bits: 65}}, 2, 0, false},
		{"SystemVerilog", Target{Backend: BackendRTL, Unroll: WidestUnrollLimits}, multiplier{bits: 8}, 16, 1, true},
		{"no products", Target{}, nil, 1 << 20, 1, true},
	} {
		f := Fold{PE: tt.pe, SIMD: 1024}
		if got := tt.on.MinProcesses(tt.op, f); got != tt.want {
			t.Errorf("%s: %d parts, want %d", tt.name, got, tt.want)
		}
		if got := tt.on.UnrollLimitsCanHelp(tt.op, f); got != tt.help {
			t.Errorf("%s: limits of a user help: %v, want %v", tt.name, got, tt.help)
		}
	}
}

// TestPartNames checks the names of the parts of a layer, and that they do not change the names of later layers.
func TestPartNames(t *testing.T) {
	t.Parallel()
	kind := multiplier{Op: named("M")}
	w, other := &SplitLayer{Name: "M_0", Op: kind}, &SplitLayer{Name: "M_1", Op: kind}
	for _, tt := range []struct {
		name  string
		nodes []*Node
		want  string
	}{
		{"parts, and a layer", []*Node{{Name: "M_0_fork", Whole: w}, {Name: "M_0_0", Whole: w}, {Name: "M_1"}}, ""},
		{"two layers in parts", []*Node{{Name: "M_0_0", Whole: w}, {Name: "M_1_0", Whole: other}}, ""},
		{"twice", []*Node{{Name: "M_0_0", Whole: w}, {Name: "M_0_0", Whole: w}}, `a part of M_0 is called "M_0_0"`},
		{"as the layer", []*Node{{Name: "M_0", Whole: w}}, `a part of M_0 is called "M_0"`},
		{"apart", []*Node{{Name: "M_0_0", Whole: w}, {Name: "M_1"}, {Name: "M_0_1", Whole: w}},
			`a node is called "M_0" where M_2 is due`},
		{"out of turn", []*Node{{Name: "M_1_0", Whole: other}}, `a node is called "M_1" where M_0 is due`},
	} {
		s := names{count: naming{}, taken: map[string]bool{}}
		got := ""
		for _, n := range tt.nodes {
			n.Op = kind
			if err := s.verify(n); err != nil && got == "" {
				got = err.Error()
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A kinded layer only has a kind.
type kinded struct {
	Op
	kind string
}

func (k kinded) Kind() string { return k.kind }

func named(kind string) Op { return kinded{kind: kind} }
