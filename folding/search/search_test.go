package search

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// randomTree returns leaves with random choices of a few kinds, joined in pairs in random order.
func randomTree(r *rand.Rand, leaves, kinds, paths, most int) (*JoinPlan, [][][]LeafChoice) {
	plan := &JoinPlan{Leaves: leaves}
	choices := make([][][]LeafChoice, leaves)
	var open []int
	for l := range leaves {
		rows := 1 + r.IntN(4)
		plan.Tables = append(plan.Tables, PlanTable{Left: -1, Right: -1, Rows: rows})
		open = append(open, l)
		id := int32(0)
		for range rows {
			var row []LeafChoice
			for range min(most, r.IntN(most+2)) {
				c := LeafChoice{ID: id}
				id++
				for k := range kinds {
					c.Cost[k] = int64(r.IntN(30))
				}
				for range paths {
					c.Paths = append(c.Paths, int64(r.IntN(30)-6))
				}
				row = append(row, c)
			}
			choices[l] = append(choices[l], row)
		}
	}
	for len(open) > 1 {
		r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		a, b := open[0], open[1]
		t := PlanTable{Left: a, Right: b, Rows: 1 + r.IntN(4), First: []int32{0}}
		if len(open) == 2 {
			t.Rows = 1
		}
		for range t.Rows {
			for i := range plan.Tables[a].Rows {
				for j := range plan.Tables[b].Rows {
					if r.IntN(5) > 0 {
						t.Pairs = append(t.Pairs, RowPair{int32(i), int32(j)})
					}
				}
			}
			t.First = append(t.First, int32(len(t.Pairs)))
		}
		open = append(open[2:], len(plan.Tables))
		plan.Tables = append(plan.Tables, t)
	}
	if leaves == 1 {
		plan.Tables[0].Rows, choices[0] = 1, choices[0][:1]
	}
	return plan, choices
}

// all returns every solution of a table's row.
func all(plan *JoinPlan, choices [][][]LeafChoice, table, row int) (list []*Solution) {
	tb := &plan.Tables[table]
	if tb.Left < 0 {
		for _, c := range choices[table][row] {
			list = append(list, &Solution{Cost: c.Cost, Paths: c.Paths})
		}
		return list
	}
	for _, q := range tb.pairs(row) {
		for _, a := range all(plan, choices, tb.Left, int(q.Left)) {
			for _, b := range all(plan, choices, tb.Right, int(q.Right)) {
				s := &Solution{Cost: a.Cost.Plus(b.Cost), Paths: slices.Clone(a.Paths)}
				for i, p := range b.Paths {
					s.Paths[i] += p
				}
				list = append(list, s)
			}
		}
	}
	return list
}

// picked returns the costs of a solution's picks, as the caller would add them up.
func picked(t testing.TB, choices [][][]LeafChoice, f *Solution) *Solution {
	sum := &Solution{Paths: make([]int64, len(f.Paths))}
	for l, p := range f.Picks {
		i := slices.IndexFunc(choices[l][p.Row], func(c LeafChoice) bool { return c.ID == p.ID })
		if i < 0 {
			t.Fatalf("leaf %d has no choice %+v", l, p)
		}
		c := choices[l][p.Row][i]
		sum.Cost = sum.Cost.Plus(c.Cost)
		for k, path := range c.Paths {
			sum.Paths[k] += path
		}
	}
	return sum
}

func same(a, b *Solution) bool { return a.Cost == b.Cost && slices.Equal(a.Paths, b.Paths) }

// TestMinimise checks every measure, within random caps, against the enumeration of all solutions: with labels, and for
// trees with paths by branching alone.
func TestMinimise(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	fit, none, branched := 0, 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		kinds, paths := 1+r.IntN(4), 0
		if seed%4 == 3 {
			paths = 1 + r.IntN(5)
		}
		plan, choices := randomTree(r, 1+r.IntN(6), kinds, paths, 2)
		solutions := all(plan, choices, len(plan.Tables)-1, 0)
		caps := UnlimitedCaps
		for k := range kinds {
			caps.AmountVector[k] = int64((8 + r.IntN(18)) * plan.Leaves)
		}
		if paths > 0 && r.IntN(2) > 0 {
			caps.Path = int64((r.IntN(20)) * plan.Leaves)
		}
		yard := AmountVector{}
		for k := range kinds {
			yard[k] = int64(r.IntN(100))
		}
		within := slices.DeleteFunc(slices.Clone(solutions), func(f *Solution) bool { return !f.isWithinCaps(&caps) })
		measures := []Objective{{Kind: r.IntN(kinds)}, {Yard: &yard}}
		if paths > 0 {
			measures = append(measures, Objective{Path: true})
		}
		for _, m := range measures {
			e := &StepCounter{Limit: math.MaxInt}
			got, err := NewChoiceTree(plan, choices, e).FindMinimalSolution(t.Context(), m, nil, caps, math.MaxInt)
			if err != nil || !got.Proved || e.Cut {
				t.Fatalf("seed %d: %+v, %v", seed, got, err)
			}
			if got.Best == nil {
				if len(within) > 0 {
					t.Fatalf("seed %d: nothing found of %d", seed, len(within))
				}
				none++
				continue
			}
			if c := picked(t, choices, got.Best); !same(c, got.Best) || !c.isWithinCaps(&caps) {
				t.Fatalf("seed %d: %+v takes %v within %v", seed, got.Best, c, caps)
			}
			least := math.Inf(1)
			for _, f := range within {
				least = min(least, m.MeasureOfSolution(f))
			}
			if v := m.MeasureOfSolution(got.Best); v != least || got.Bound != least {
				t.Errorf("seed %d, %+v: %v, bound %v, the least is %v", seed, m, v, got.Bound, least)
			}
			fit++
			if m.Path {
				branched++
			}
			if b := NewChoiceTree(plan, choices, e).LowerBoundOf(m, caps); b > least {
				t.Errorf("seed %d, %+v: bound %v, the least is %v", seed, m, b, least)
			}
		}
		any, err := NewChoiceTree(plan, choices,
			&StepCounter{Limit: math.MaxInt}).FindAnySolutionWithinCaps(t.Context(), caps)
		if err != nil || !any.Proved || (any.Best != nil) != (len(within) > 0) {
			t.Errorf("seed %d: %+v, %v; %d are within", seed, any, err, len(within))
		}
	}
	if fit < 200 || none < 50 || branched < 20 {
		t.Errorf("%d fit, %d do not, %d of paths: the trees test too little", fit, none, branched)
	}
}

// TestReduce checks that a reduced tree has the same solutions within the caps.
func TestReduce(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	smaller := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		plan, choices := randomTree(r, 1+r.IntN(5), 3, int(seed%2)*r.IntN(4), 3)
		caps := UnlimitedCaps
		for k := range 3 {
			caps.AmountVector[k] = int64((6 + r.IntN(14)) * plan.Leaves)
		}
		if seed%2 > 0 {
			caps.Path = int64(r.IntN(15) * plan.Leaves)
		}
		within := func(list []*Solution) []*Solution {
			list = slices.DeleteFunc(list, func(f *Solution) bool { return !f.isWithinCaps(&caps) })
			slices.SortFunc(list, func(a, b *Solution) int {
				return cmp.Or(slices.Compare(a.Cost[:], b.Cost[:]), slices.Compare(a.Paths, b.Paths))
			})
			return list
		}
		full := all(plan, choices, len(plan.Tables)-1, 0)
		want := within(slices.Clone(full))
		tree := NewChoiceTree(plan, choices, &StepCounter{Limit: math.MaxInt})
		if tree.HasAnySolution() {
			tree.LearnBestPrices(caps)
		}
		n := tree.withoutExcludedChoices(caps)
		if n == nil {
			if len(want) > 0 {
				t.Errorf("seed %d: nothing left of %d", seed, len(want))
			}
			continue
		}
		left := all(n.plan, n.choices, len(n.plan.Tables)-1, 0)
		if got := within(slices.Clone(left)); !slices.EqualFunc(got, want, same) {
			t.Errorf("seed %d: %d solutions left of %d", seed, len(got), len(want))
		}
		if len(left) < len(full) {
			smaller++
		}
	}
	if smaller < 60 {
		t.Errorf("%d trees became smaller", smaller)
	}
}

// TestEffort checks that a search whose effort ends says so, and that its result holds.
func TestEffort(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	open := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		plan, choices := randomTree(r, 6, 4, 0, 2)
		yard := AmountVector{20, 30, 40, 50}
		least := math.Inf(1)
		m := Objective{Yard: &yard}
		for _, f := range all(plan, choices, len(plan.Tables)-1, 0) {
			least = min(least, m.MeasureOfSolution(f))
		}
		got, err := NewChoiceTree(plan, choices, &StepCounter{Limit: r.IntN(3000)}).FindMinimalSolution(t.Context(), m,
			nil, UnlimitedCaps,
			math.MaxInt)
		if err != nil || got.Bound > least || got.Best != nil && m.MeasureOfSolution(got.Best) < least || got.Proved &&
			got.Best != nil && m.MeasureOfSolution(got.Best) != least {
			t.Errorf("seed %d: %+v, %v; the least is %v", seed, got, err, least)
		}
		if !got.Proved {
			open++
		}
	}
	if open < 5 {
		t.Errorf("%d were left open", open)
	}
}

// readTree reads a tree from testdata.
func readTree(t testing.TB, path string) (plan *JoinPlan, choices [][][]LeafChoice, budget Caps) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan = &JoinPlan{}
	numbers := func(s string, to ...any) {
		if _, err := fmt.Sscan(s, to...); err != nil {
			t.Fatal(s, err)
		}
	}
	cost := func(v *AmountVector) []any { return []any{&v[0], &v[1], &v[2], &v[3], &v[4]} }
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var tb PlanTable
		if n := len(plan.Tables); n > 0 {
			tb = plan.Tables[n-1]
		}
		switch word {
		case "#":
		case "budget":
			budget = UnlimitedCaps
			numbers(rest, cost(&budget.AmountVector)...)
		case "leaf":
			tb = PlanTable{Left: -1, Right: -1}
			numbers(rest, &tb.Rows)
			plan.Tables, choices = append(plan.Tables, tb), append(choices, make([][]LeafChoice, tb.Rows))
			plan.Leaves++
		case "join":
			tb = PlanTable{}
			numbers(rest, &tb.Left, &tb.Right, &tb.Rows)
			tb.First = make([]int32, tb.Rows+1)
			plan.Tables = append(plan.Tables, tb)
		default:
			var row int
			numbers(word, &row)
			if tb.Left < 0 {
				c := LeafChoice{ID: int32(len(choices[plan.Leaves-1][row]))}
				numbers(rest, cost(&c.Cost)...)
				choices[plan.Leaves-1][row] = append(choices[plan.Leaves-1][row], c)
				continue
			}
			var q RowPair
			numbers(rest, &q.Left, &q.Right)
			tb.Pairs = append(tb.Pairs, q)
			for r := row + 1; r <= tb.Rows; r++ {
				tb.First[r] = int32(len(tb.Pairs))
			}
			plan.Tables[len(plan.Tables)-1] = tb
		}
	}
	return plan, choices, budget
}

// TestCNV checks the minimum of 40,393 LUTs, which a general solver of integer programmes proves.
func TestCNV(t *testing.T) {
	t.Parallel()
	plan, choices, budget := readTree(t, "testdata/cnv.txt")
	e := &StepCounter{Limit: 40_000_000}
	got, err := NewChoiceTree(plan, choices, e).FindMinimalSolution(t.Context(), Objective{Kind: 0}, nil, budget,
		math.MaxInt)
	if err != nil || !got.Proved || got.Bound != 40393 {
		t.Errorf("%v LUT, bound %v, proved %t after %d steps, %v", got.Best.Cost[0], got.Bound, got.Proved, e.Done, err)
	}
	t.Logf("%d steps", e.Done)
}

func BenchmarkCNV(b *testing.B) {
	plan, choices, budget := readTree(b, "testdata/cnv.txt")
	for b.Loop() {
		e := &StepCounter{Limit: math.MaxInt}
		got, err := NewChoiceTree(plan, choices, e).FindMinimalSolution(b.Context(), Objective{Kind: 0}, nil, budget,
			math.MaxInt)
		if err != nil || !got.Proved {
			b.Fatal(got, err)
		}
		b.ReportMetric(float64(e.Done), "steps")
	}
}

// TestGame checks that the weights of a game are a distribution whose value none of many random ones exceeds, and that
// the mixture of solutions is as good against every kind.
func TestGame(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	caps := Caps{AmountVector{100, 50, 20, 10, 30, 7, 90, 1000, 40}, 0}
	share := func(f *Solution, k int) float64 { return shareOf(f.Cost[k], caps.AmountVector[k]) }
	worst := func(found []*Solution, w []float64) float64 {
		least := math.Inf(1)
		for _, f := range found {
			sum := 0.0
			for k := range w {
				sum += w[k] * share(f, k)
			}
			least = min(least, sum)
		}
		return least
	}
	for range 200 {
		tree, found := &parts{}, []*Solution(nil)
		for k := range tree.dearest {
			tree.dearest[k] = 3 * caps.AmountVector[k]
		}
		for range 1 + r.IntN(12) {
			f := &Solution{}
			for k := range f.Cost {
				f.Cost[k] = r.Int64N(2 * caps.AmountVector[k])
			}
			found = append(found, f)
		}
		w, mixture, value := tree.game(found, &caps)
		sum, parts := 0.0, 0.0
		for _, x := range w {
			sum += x
		}
		for _, x := range mixture {
			parts += x
		}
		if math.Abs(sum-1) > 1e-9 || math.Abs(parts-1) > 1e-9 || math.Abs(worst(found, w)-value) > 1e-9 {
			t.Fatalf("weights %v of value %v, said to be %v; mixture %v", w, worst(found, w), value, mixture)
		}
		for k := range maxAmountKinds {
			mixed := 0.0
			for i, f := range found {
				mixed += mixture[i] * share(f, k)
			}
			if mixed > value+1e-9 {
				t.Fatalf("the mixture takes %v of kind %d, the value is %v", mixed, k, value)
			}
		}
		for range 500 {
			o := make([]float64, len(w))
			total := 0.0
			for k := range o {
				o[k] = -math.Log(r.Float64())
				total += o[k]
			}
			for k := range o {
				o[k] /= total
			}
			if v := worst(found, o); v > value+1e-9 {
				t.Fatalf("weights %v have value %v, %v have %v", w, value, o, v)
			}
		}
	}
}
