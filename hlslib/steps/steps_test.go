package steps_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// draw returns a step function over a type with a given number of breakpoints: rising by one, by jumps, or up and down.
func draw(r *rand.Rand, of num.Type, breaks int) num.StepFunction {
	all := of.Range()
	span := uint64(all.Hi) - uint64(all.Lo)
	at := map[int64]bool{}
	for range breaks {
		at[all.Lo+1+int64(r.Uint64N(span))] = true
	}
	s := num.StepFunction{Value: []int64{int64(r.IntN(9)) - 4}}
	jump := []func() int64{
		func() int64 { return 1 }, func() int64 { return -1 }, func() int64 { return 1 + int64(r.IntN(4)) },
		func() int64 { return int64(r.IntN(9)) - 4 },
	}[r.IntN(4)]
	for v := range at {
		s.At = append(s.At, v)
	}
	slices.Sort(s.At)
	for range s.At {
		s.Value = append(s.Value, s.Value[len(s.Value)-1]+jump())
	}
	return s.RestrictedTo(all)
}

// line is a step function that multiplies, shifts and clips: it rises or falls.
func line(r *rand.Rand, of num.Type) num.StepFunction {
	all := of.Range()
	m, shift := int64(1+r.IntN(200)), max(0, of.Width-4+r.IntN(9))
	if of.Width > 40 { // else a line that a few bits lie above
		shift = of.Width
	}
	bias, sign := int64(r.IntN(1<<min(40, shift))), int64(1-2*r.IntN(2))
	code := func(v int64) int64 { return max(-20, min((v*m+bias)>>shift, 43)) * sign }
	s := num.StepFunction{Value: []int64{code(all.Lo)}}
	for v := all.Lo; v < all.Hi; {
		// The next value with another code, by bisection: codes never turn round.
		lo, hi, last := v, all.Hi, s.Value[len(s.Value)-1]
		if code(hi) == last {
			break
		}
		for hi-lo > 1 {
			if mid := lo + (hi-lo)/2; code(mid) == last {
				lo = mid
			} else {
				hi = mid
			}
		}
		s.At, s.Value, v = append(s.At, hi), append(s.Value, code(hi)), hi
	}
	return s
}

// TestForms checks that every possible form gives the values of the step function, next to every breakpoint and
// elsewhere, and has as many rows as it reports.
func TestForms(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(14, 4))
	names := map[string]bool{}
	for n := range 150 {
		of := num.Type{Kind: []num.TypeKind{num.KindUInt, num.KindInt}[n%2], Width: 2 + r.IntN(60)}
		if n%3 > 0 {
			of.Width = 2 + r.IntN(12)
		}
		pe, rows := 1+r.IntN(3), 1+r.IntN(3)
		list := make([]num.StepFunction, []int{1, pe * rows}[r.IntN(2)])
		var values [][]int64
		for c := range list {
			if list[c] = draw(r, of, 1+r.IntN(40)); n%4 == 0 && of.Width < 55 {
				list[c] = line(r, of)
			}
			values = append(values, list[c].Value)
		}
		occurs := []num.Range{of.Range()}
		if all := of.Range(); n%3 == 1 {
			occurs[0].Lo += int64(r.Uint64N(uint64(all.Hi-all.Lo)/2 + 1))
		}
		k := num.NewThresholdTable(list, occurs, of, 100)
		f := steps.New(k, occurs, of, num.NarrowestTypeOfValues(values...))
		for _, form := range f.AllFormsAt(steps.FormSite{PE: pe, Alike: len(list) == 1}) {
			names[form.Name()[:5]] = true
			for c, s := range list {
				probe := []int64{occurs[0].Lo, of.Range().Hi}
				for _, at := range s.At {
					probe = append(probe, at-1, at)
				}
				for range 20 {
					probe = append(probe, of.DecodeBits(r.Uint64()))
				}
				for _, v := range probe {
					if got, want := form.ComputeCode(c, v), s.Apply(v); got != want && occurs[0].Contains(v) {
						t.Fatalf("%s of %v, channel %d: %d gives %d, want %d", form.Name(), of, c, v, got, want)
					}
				}
			}
			if d := f.FindDifference(form); d != nil {
				t.Fatalf("%s of %v differs: %+v", form.Name(), of, d)
			}
			checkTables(t, form)
		}
	}
	for _, want := range []string{"compa", "table", "2^2 s", "searc", "multi"} {
		if !names[want] {
			t.Errorf("no form %s...: %v", want, names)
		}
	}
}

// checkTables compares the tables of a form with its storage.
func checkTables(t *testing.T, form steps.StepFunctionHardware) {
	t.Helper()
	tables, storage := form.Tables(), form.Storage()
	if len(tables) != len(storage) {
		t.Fatalf("%s has %d tables and %d storages", form.Name(), len(tables), len(storage))
	}
	for i, table := range tables {
		want := table.StorageForCostPart(storage[i].Part)
		want.In, want.Same = storage[i].In, storage[i].Same
		if priced, rows := want.Same*want.ArrayCount(), same(table.Rows); priced > rows || priced < 0 {
			t.Fatalf("%s: %d rows of %s are priced as the same in their blocks, %d are", form.Name(), priced,
				table.Name, rows)
		}
		if storage[i] != want || storage[i].Verify() != nil {
			t.Fatalf("%s: table %v, storage %v", form.Name(), want, storage[i])
		}
		for _, row := range table.Rows {
			for _, v := range row {
				if !table.Elem.Holds(v) {
					t.Fatalf("%s: %s of %v has %d", form.Name(), table.Name, table.Elem, v)
				}
			}
		}
	}
}

// same counts the rows in blocks of 64 that are the same.
func same(rows [][]int64) (n int) {
	for block := range slices.Chunk(rows, 64) {
		other := func(row []int64) bool { return !slices.Equal(row, block[0]) }
		if len(block) == 64 && !slices.ContainsFunc(block, other) {
			n += 64
		}
	}
	return n
}

// TestSame checks that a function whose breakpoints lie close together has mostly rows that equal others next to them.
func TestSame(t *testing.T) {
	t.Parallel()
	of := num.Type{Kind: num.KindInt, Width: 12}
	s := num.StepFunction{At: []int64{100, 103, 140}, Value: []int64{0, 1, 2, 3}} // in two blocks
	f := steps.New(num.NewThresholdTable([]num.StepFunction{s}, []num.Range{of.Range()}, of, 9),
		[]num.Range{of.Range()}, of,
		num.Type{Kind: num.KindUInt, Width: 2})
	for _, form := range f.AllFormsAt(steps.FormSite{PE: 2, Alike: true, Memory: dataflow.MemoryLUTRAM}) {
		if form.Name() != "table of 2^12 rows" {
			continue
		}
		if got := form.Storage()[0]; got.Same != 4096-2*64 {
			t.Errorf("%+v: want all but two blocks the same", got)
		}
		return
	}
	t.Error("no table")
}

// TestDiffers checks that a form of another function is detected.
func TestDiffers(t *testing.T) {
	t.Parallel()
	of := num.Type{Kind: num.KindInt, Width: 8}
	site := steps.FormSite{PE: 1, Alike: true}
	make := func(at ...int64) *steps.StepFunctions {
		s := num.StepFunction{At: at, Value: []int64{0}}
		for i := range at {
			s.Value = append(s.Value, int64(i+1))
		}
		k := num.NewThresholdTable([]num.StepFunction{s}, []num.Range{of.Range()}, of, 9)
		return steps.New(k, []num.Range{of.Range()}, of, num.Type{Kind: num.KindUInt, Width: 3})
	}
	f := make(-100, 3, 77)
	others := []*steps.StepFunctions{make(-100, 3, 78), make(-99, 3, 77), make(-100, 3), make(-100, 3, 77, 127)}
	for _, other := range others {
		for _, form := range other.AllFormsAt(site) {
			if f.FindDifference(form) == nil {
				t.Errorf("%s of another function is taken", form.Name())
			}
		}
	}
}

// TestChosen checks the form that is chosen for a site, and that a limit of clocks bounds it.
func TestChosen(t *testing.T) {
	t.Parallel()
	even := func(of num.Type, first, gap int64, n int) num.StepFunction {
		s := num.StepFunction{Value: []int64{0}}
		for i := range int64(n) {
			s.At, s.Value = append(s.At, first+i*gap), append(s.Value, i+1)
		}
		return s
	}
	wide, byte8 := num.Type{Kind: num.KindInt, Width: 17}, num.Type{Kind: num.KindInt, Width: 8}
	for _, tt := range []struct {
		of     num.Type
		step   num.StepFunction
		clocks int
		want   string
	}{
		{byte8, even(byte8, -100, 3, 60), 0, "2^6 segments"},
		{byte8, even(byte8, 5, 1, 1), 0, "comparators"},
		{wide, even(wide, -50000, 384, 255), 2, "2^7 segments"},
		{num.Type{Kind: num.KindInt, Width: 40}, even(wide, -50000, 384, 255), 2, "search by [4 4] bits"},
		{num.Type{Kind: num.KindInt, Width: 40}, even(wide, -50000, 384, 255), 0, "2^8 segments of 2^17 values"},
		{num.Type{Kind: num.KindInt, Width: 40}, even(wide, -50000, 384, 255), 1, "comparators"},
	} {
		k := num.NewThresholdTable([]num.StepFunction{tt.step}, []num.Range{tt.of.Range()}, tt.of, 300)
		site := steps.FormSite{PE: 4, Alike: true, Memory: dataflow.NoMemory, Clocks: tt.clocks}
		form := steps.New(k, []num.Range{tt.of.Range()}, tt.of, num.Type{Kind: num.KindUInt,
			Width: 8}).CheapestFormAt(site)
		if form.Name() != tt.want || tt.clocks > 0 && form.LatencyClocks() > tt.clocks {
			t.Errorf("%v in %d clocks: %s in %d, want %s", tt.of, tt.clocks, form.Name(), form.LatencyClocks(), tt.want)
		}
	}
}

// TestComparators looks at how step functions are written as tables of comparators.
func TestComparators(t *testing.T) {
	t.Parallel()
	relu := num.StepFunction{At: []int64{1, 3, 6}, Value: []int64{0, 1, 2, 3}}
	fall := num.StepFunction{At: []int64{2}, Value: []int64{1, 0}}
	jump := num.StepFunction{At: []int64{2, 4}, Value: []int64{0, 1, 100}}
	tests := []struct {
		name  string
		steps []num.StepFunction
		pe    int
		want  string
	}{
		{"shared", []num.StepFunction{relu}, 2, "thresholds UINT3 none [[0 2 5]]"},
		{"found to be shared", []num.StepFunction{relu, relu}, 1, "thresholds UINT3 none [[0 2 5]]"},
		{"by channel", []num.StepFunction{relu, {At: []int64{4}, Value: []int64{0, 1}}}, 1,
			"thresholds UINT3 distributed [[0 2 5] [3 7 7]]"},
		{"side by side", []num.StepFunction{relu, {At: []int64{4}, Value: []int64{0, 1}}}, 2,
			"thresholds UINT3 none [[0 2 5 3 7 7]]"},
		{"bases", []num.StepFunction{relu, {At: []int64{4}, Value: []int64{-2, -1}}}, 2,
			"thresholds UINT3 none [[0 2 5 3 7 7]], base INT2 none [[0 -2]]"},
		{"deltas", []num.StepFunction{fall, jump}, 1,
			"thresholds UINT3 distributed [[1 7] [1 3]], base BINARY distributed [[1] [0]], deltas INT8 distributed " +
				"[[-1 0] [1 99]]"},
		{"a jump", []num.StepFunction{jump}, 1,
			"thresholds UINT3 none [[1 3]], base BINARY none [[0]], deltas UINT7 none [[1 99]]"},
	}
	for _, tt := range tests {
		of := num.Type{Kind: num.KindUInt, Width: 3}
		k := num.NewThresholdTable(tt.steps, []num.Range{of.Range()}, of, 4).WithSharedRow()
		f := steps.New(k, []num.Range{of.Range()}, of, num.Type{Kind: num.KindInt, Width: 8})
		form := f.AllFormsAt(steps.FormSite{PE: tt.pe, Alike: k.HasSharedRow(), Memory: dataflow.MemoryLUTRAM})[0]
		var tables []string
		for i, x := range form.Tables() {
			tables = append(tables, fmt.Sprintf("%s %s %s %v", x.Name, x.Elem, form.Storage()[i].In, x.Rows))
		}
		if got := strings.Join(tables, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestConstantThresholds checks that comparators with a single row of thresholds take fewer LUTs, unless that row is
// loaded.
func TestConstantThresholds(t *testing.T) {
	t.Parallel()
	of := num.Type{Kind: num.KindUInt, Width: 12}
	values := []int64{0, 1, 2}
	list := []num.StepFunction{{At: []int64{100, 1500}, Value: values}, {At: []int64{31, 2000}, Value: values}}
	luts := func(made func(num.ThresholdTable, []num.Range, num.Type, num.Type) *steps.StepFunctions, pe int) int {
		k := num.NewThresholdTable(list, []num.Range{of.Range(), of.Range()}, of, 4)
		f := made(k, []num.Range{of.Range(), of.Range()}, of, num.Type{Kind: num.KindUInt, Width: 2})
		return f.AllFormsAt(steps.FormSite{PE: pe, Memory: dataflow.MemoryLUTRAM})[0].LogicCost(cost.CostModel{})[0].LUT
	}
	for name, tt := range map[string]struct{ got, want int }{
		"a row":        {luts(steps.New, 2), 2 * (2*4 + 1)},
		"two rows":     {luts(steps.New, 1), 2*6 + 1},
		"a loaded row": {luts(steps.NewLoadableStepFunctions, 2), 2 * (2*6 + 1)},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d LUT, want %d", name, tt.got, tt.want)
		}
	}
}
