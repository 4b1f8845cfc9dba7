package real

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestExpLog holds three readings against each other: float64, intervals, and big enclosures, which must lie within the
// interval and become narrow; and log must undo exp.
func TestExpLog(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		x := rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(16)-10))
		for _, c := range []struct {
			name string
			f    *Expr
			arg  float64
		}{{"exp", Exp(Var(0)), x}, {"log", Log(Var(0)), math.Abs(x)}, {"log of exp", Log(Exp(Var(0))), x}} {
			f := Compile(c.f)
			iv, sure := f.Interval([]Interval{Pt(c.arg)})
			if !sure || iv.Lo > iv.Hi {
				t.Fatalf("%s(%v) = %v", c.name, c.arg, iv)
			}
			for _, prec := range []uint{128, 512} {
				n, err := f.Exact([]Num{Exactly(new(big.Rat).SetFloat64(c.arg))}, prec)
				if err != nil {
					t.Fatalf("%s(%v): %v", c.name, c.arg, err)
				}
				if n.lo.Cmp(n.hi) > 0 {
					t.Fatalf("%s(%v) at %d bits: empty", c.name, c.arg, prec)
				}
				if a := n.Interval(); a.Hi < iv.Lo || a.Lo > iv.Hi {
					t.Fatalf("%s(%v): interval %v, exact %v", c.name, c.arg, iv, a)
				}
				width, _ := new(big.Float).Sub(n.hi, n.lo).Float64()
				mid, _ := n.hi.Float64()
				if width > math.Exp2(40-float64(prec))*(1+math.Abs(mid)) {
					t.Fatalf("%s(%v) at %d bits is %g wide", c.name, c.arg, prec, width)
				}
				if c.name == "log of exp" {
					xf := new(big.Float).SetFloat64(x)
					if n.lo.Cmp(xf) > 0 || n.hi.Cmp(xf) < 0 {
						t.Fatalf("log(exp(%v)) does not hold it", x)
					}
				}
			}
		}
	}
}

func TestTranscendentalEdges(t *testing.T) {
	t.Parallel()
	at := func(e *Expr, x float64) (Num, error) {
		return Compile(e).Exact([]Num{Exactly(new(big.Rat).SetFloat64(x))}, 128)
	}
	for _, c := range []struct {
		e       *Expr
		x, want float64
	}{{Exp(Var(0)), 0, 1}, {Log(Var(0)), 1, 0}, {AtLeast(Var(0), Float(0.5)), 0.5, 1}, {AtLeast(Var(0), Float(0.5)), 0.49, 0}} {
		n, err := at(c.e, c.x)
		if err != nil || n.Rat() == nil || n.Interval() != Pt(c.want) {
			t.Errorf("at %v: %v %v, want exactly %v", c.x, n.Interval(), err, c.want)
		}
		if y, sure := Compile(c.e).Interval([]Interval{Pt(c.x)}); !sure || y != Pt(c.want) {
			t.Errorf("interval at %v: %v, want %v", c.x, y, c.want)
		}
	}
	for _, x := range []float64{0, -1} {
		if _, err := at(Log(Var(0)), x); err != ErrLog {
			t.Errorf("log(%v): %v", x, err)
		}
	}
	if y, sure := Compile(AtLeast(Var(0), Float(0))).Interval([]Interval{{-1, 1}}); sure || y != (Interval{0, 1}) {
		t.Errorf("an open comparison gave %v, %v", y, sure)
	}
	if n, err := at(Exp(Var(0)), -1e7); err != nil || n.Interval().Hi > 1e-300 {
		t.Errorf("exp(-1e7) is %v, %v", n.Interval(), err)
	}
}

// TestSaturation rounds values that agree with a whole number to thousands of bits: they lie beside it all the same.
func TestSaturation(t *testing.T) {
	t.Parallel()
	one, two := Float(1), Float(2)
	tanh := Sub(one, Div(two, Add(Exp(Mul(two, Var(0))), one)))
	for _, c := range []struct {
		f    *Expr
		x    float64
		want float64
	}{
		{Round(tanh, Floor), 16384, 0},
		{Round(tanh, Ceil), 16384, 1},
		{Round(tanh, Ceil), -16384, 0},
		{Round(tanh, Floor), -16384, -1},
		{Round(Add(tanh, Float(0.5)), HalfEven), 16384, 1}, // just below 1.5
		{Round(Add(tanh, Float(1.5)), HalfEven), 16384, 2}, // just below 2.5, where ties go
		{Round(Sub(tanh, Float(1.5)), HalfUp), 16384, -1},  // just below -0.5: would be -1 at the tie, too
		{Round(Sub(Neg(tanh), Float(1.5)), HalfEven), 16384, -2},
		{AtLeast(tanh, one), 16384, 0},
		{AtLeast(one, tanh), 16384, 1},
		{PowerBelow(tanh), 16384, 0.5},
	} {
		var n Num
		err := ErrPrecision
		for _, prec := range Precisions {
			if n, err = Compile(c.f).Exact([]Num{Exactly(new(big.Rat).SetFloat64(c.x))}, prec); err == nil {
				break
			}
		}
		if err != nil || n.Interval() != Pt(c.want) {
			t.Errorf("at %v: %v %v, want %v", c.x, n.Interval(), err, c.want)
		}
	}
}
