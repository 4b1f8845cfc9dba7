package ask

import (
	"math"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
)

func TestParseMaxUse(t *testing.T) {
	t.Parallel()
	d := DefaultMaxUse
	with := func(u Use, kind int, f float64) Use {
		*u.Share(kind) = f
		return u
	}
	for _, c := range []struct {
		text    string
		want    Use
		written string // what String makes of it; as given where empty
		err     string
	}{
		{"guideline", d, "", ""},
		{"0.8", Even(0.8), "", ""},
		{"1", Even(1), "", ""},
		{" 0.25 ", Even(0.25), "0.25", ""},
		{"lut=0.6,bram=0.9", with(with(d, LUT, 0.6), BRAM, 0.9), "", ""},
		{"lut=0.7", d, "guideline", ""},
		{"LUT = 0.6, Dsp=0", with(with(d, LUT, 0.6), DSP, 0), "lut=0.6,dsp=0", ""},
		{"0.5,uram=1", with(Even(0.5), URAM, 1), "", ""},
		{"0.5,dsp=1", with(Even(0.5), DSP, 1), "", ""},
		{"0.5,lut=0.6", with(Even(0.5), LUT, 0.6), "", ""},
		{"lutram=0.1,ff=0.2,mean=0.3", with(with(with(d, LUTRAM, 0.1), FF, 0.2), Mean, 0.3), "", ""},
		{"0.9,lut=0.5,dsp=0.6", with(with(Even(0.9), LUT, 0.5), DSP, 0.6), "", ""},
		{"0.9,lut=0.7,lutram=0.25,ff=1", with(with(with(Even(0.9), LUT, 0.7), LUTRAM, 0.25), FF, 1), "", ""},
		{"", Use{}, "", "not a fraction"},
		{"80%", Use{}, "", "not a fraction"},
		{"1.2", Use{}, "", "not a fraction"},
		{"-0.1", Use{}, "", "not a fraction"},
		{"NaN", Use{}, "", "not a fraction"},
		{"lut=inf", Use{}, "", "not a fraction"},
		{"lut=", Use{}, "", "not a fraction"},
		{"luts=0.5", Use{}, "", "unknown resource"},
		{"guideline,lut=0.5", Use{}, "", "not a fraction"},
		{"lut=0.5,lut=0.6", Use{}, "", "given twice"},
		{"lut=0.5,0.6", Use{}, "", "names no resource"},
		{"0", Use{}, "", "leaves no resource"},
	} {
		got, err := ParseMaxUse(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
			continue
		}
		if c.written == "" {
			c.written = c.text
		}
		if err != nil {
			continue
		}
		again, err := ParseMaxUse(got.String())
		if err != nil || again != got {
			t.Errorf("%q is written %q, read back %+v, %v", c.text, got, again, err)
		}
		if got.differs(Even(got.LUT)) != 1 && got.String() != c.written {
			t.Errorf("%q is written %q, want %q", c.text, got, c.written)
		}
	}
	if zero := (Use{}).String(); zero != Guideline {
		t.Errorf("nothing given is written %q", zero)
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	z, err := boards.Find("zcu104")
	if err != nil {
		t.Fatal(err)
	}
	p, err := boards.Find("pynq-z1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b    boards.Board
		use  Use
		want dataflow.Resources
	}{
		{z, Use{}, dataflow.Resources{LUT: 161280, LUTRAM: 25440, FF: 230400, BRAM: 499, URAM: 76, DSP: 1382}},
		{z, Even(1), dataflow.Resources{LUT: 230400, LUTRAM: 101760, FF: 460800, BRAM: 624, URAM: 96, DSP: 1728}},
		{p, Even(0.7), dataflow.Resources{LUT: 37240, LUTRAM: 12180, FF: 74480, BRAM: 196, DSP: 154}},
		{p, Use{LUT: 0.29}, dataflow.Resources{LUT: 15428}},
	} {
		if got := BudgetOf(c.b, c.use); got.Resources != c.want || got.Fits(c.want.Plus(dataflow.Resources{LUT: 1})) {
			t.Errorf("%s %+v: %+v, want %+v", c.b.Name, c.use, got.Resources, c.want)
		}
	}
}

// The mean is of the kinds that the board has.
func TestMean(t *testing.T) {
	t.Parallel()
	b := boards.Board{LUT: 100, BRAM36: 5, DSP: 10} // 10 RAMB18
	with := b
	with.URAM = 4
	for _, c := range []struct {
		b     boards.Board
		limit float64
		r     dataflow.Resources
		mean  float64
		fits  bool
	}{
		{b, 0.5, dataflow.Resources{BRAM: 5, DSP: 5}, 0.5, true},
		{b, 0.5, dataflow.Resources{BRAM: 10, DSP: 0}, 0.5, true},
		{b, 0.5, dataflow.Resources{BRAM: 6, DSP: 5}, 0.55, false},
		{b, 0.5, dataflow.Resources{LUT: 100}, 0, true},
		{with, 0.5, dataflow.Resources{BRAM: 6, URAM: 2, DSP: 4}, 0.5, true},
		{with, 0.5, dataflow.Resources{BRAM: 5, URAM: 3, DSP: 3}, 1.55 / 3, false},
		{boards.Board{LUT: 100}, 0.5, dataflow.Resources{LUT: 1}, 0, true},
	} {
		budget := BudgetOf(c.b, Use{1, 1, 1, 1, 1, 1, c.limit})
		if got := budget.MeanOf(c.r); math.Abs(got-c.mean) > 1e-9 || budget.Fits(c.r) != c.fits {
			t.Errorf("%+v of %+v: mean %v, fits %t", c.r, c.b, got, budget.Fits(c.r))
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{1e6: "1000000", 200: "200", 0.5: "0.5", 1234.5678912: "1234.567891",
		1e-9: "0"} {
		if got := Plain(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}
