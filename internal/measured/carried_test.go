package measured

import (
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

// TestCarriedCircuits checks that each layer's feedback paths (counters, positions and sums that one clock passes
// to the next) meet the default clock of every AMD board. It counts the lookup tables along them in Yosys' netlist
// and takes the delay of that many for the path. Below the long tier only a sliding window is checked.
func TestCarriedCircuits(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "yosys")
	to := target(t, networkBoard)
	for _, c := range randomtest.LargeFrameCases(t) {
		if !tier.Long() && !strings.HasPrefix(c.Name, "ConvolutionInputGenerator of wide layer 1") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			p := narrow(t, c, to)
			made, _, err := netlists(t.Context(), t.TempDir(), []point{p})
			if err != nil {
				t.Fatal(err)
			}
			holdCarried(t, p, made[p.name])
		})
	}
}

// narrow returns a layer in the fold that takes one word per clock, with its tables in block RAM if there is such a
// fold.
func narrow(t *testing.T, c layertest.Case, to dataflow.Target) point {
	t.Helper()
	p := point{name: "layer", op: bind(t, c.Op, c.In...), target: to}
	folds := slices.Collect(withoutAdders(p.op))
	at := slices.IndexFunc(folds, func(f dataflow.Fold) bool {
		return f.PE == folds[0].PE && f.SIMD == folds[0].SIMD && f.Memory == dataflow.MemoryBRAM
	})
	p.fold = folds[max(at, 0)]
	return p
}

func holdCarried(t *testing.T, p point, n netlist) {
	t.Helper()
	levels, from, to := n.carried()
	for _, b := range boards.AllBoards() {
		if b.Family != boards.FamilyAMD {
			continue
		}
		c := delay.NewStageDelayModel(delay.DelayFamily(b.DSPType), b.ClockMHz, nil, delay.DelayRangeExpected)
		if ns := c.LUTTableDelayNS(max(1, levels)); ns > c.StageBudgetNS() {
			t.Errorf("%+v: %d lookup tables, %.2f ns, where a stage of %s has %.2f: from %s to %s", p.fold, levels, ns,
				b.Name, c.StageBudgetNS(), from, to)
		}
	}
}

// combinational reports whether a cell stores nothing.
func (x *cell) combinational() bool {
	return slices.ContainsFunc([]string{"LUT", "CARRY", "MUXF", "INV"}, func(p string) bool {
		return strings.HasPrefix(x.Type, p)
	})
}

// carried returns the most lookup tables on a path between two registers or memories that lie in one loop, that is,
// each depends on the other, and the two ends of that path.
func (n netlist) carried() (most int, from, to string) {
	g := newReach(n)
	for _, x := range g.names {
		for y, luts := range g.into[x] {
			if luts > most && g.loop[x] == g.loop[y] {
				most, from, to = luts, y, x
			}
		}
	}
	return most, from, to
}

// A reach finds which registers each register depends on, and through how many lookup tables.
type reach struct {
	names []string
	ways  map[bit][]way
	out   map[bit]string            // by bit: the register that drives it
	known map[bit]map[string]int    // by bit: the registers it depends on, with the most lookup tables between
	into  map[string]map[string]int // by register: the same for all its inputs
	loop  map[string]int            // by register: number of its loop
}

func newReach(n netlist) *reach {
	g := &reach{ways: map[bit][]way{}, out: map[bit]string{}, known: map[bit]map[string]int{},
		into: map[string]map[string]int{}, loop: map[string]int{}}
	for name, x := range n.Cells {
		for port, bits := range x.Connections {
			for k, b := range bits {
				if to, ok := b.(float64); ok && x.Directions[port] == "output" {
					g.ways[bit(to)] = x.ways(k)
					if !x.combinational() {
						g.out[bit(to)] = name
					}
				}
			}
		}
	}
	for name, x := range n.Cells {
		if x.combinational() {
			continue
		}
		g.names = append(g.names, name)
		g.into[name] = map[string]int{}
		for port, bits := range x.Connections {
			for _, b := range bits {
				if at, ok := b.(float64); ok && x.Directions[port] == "input" {
					longer(g.into[name], g.behind(bit(at)), 0)
				}
			}
		}
	}
	slices.Sort(g.names)
	g.number()
	return g
}

// longer adds the registers of some to all, each with its number of lookup tables plus more, keeping the greater
// where there are two.
func longer(all, some map[string]int, more int) {
	for name, luts := range some {
		all[name] = max(all[name], luts+more)
	}
}

// behind returns the registers that a bit depends on, with the most lookup tables between.
func (g *reach) behind(b bit) map[string]int {
	if all, ok := g.known[b]; ok {
		return all
	}
	all := map[string]int{}
	g.known[b] = all
	if name, ok := g.out[b]; ok {
		all[name] = 0
	}
	for _, w := range g.ways[b] {
		longer(all, g.behind(w.from), w.luts)
	}
	return all
}

// number numbers the loops of registers that depend on each other, as strongly connected components (R. E. Tarjan
// 1972).
func (g *reach) number() {
	at, low, open, count := map[string]int{}, map[string]int{}, []string(nil), 0
	var visit func(x string)
	visit = func(x string) {
		count++
		at[x], low[x], open = count, count, append(open, x)
		for y := range g.into[x] {
			if at[y] == 0 {
				visit(y)
			}
			if g.loop[y] == 0 {
				low[x] = min(low[x], low[y])
			}
		}
		if low[x] == at[x] {
			k := slices.Index(open, x)
			for _, y := range open[k:] {
				g.loop[y] = at[x]
			}
			open = open[:k]
		}
	}
	for _, x := range g.names {
		if at[x] == 0 {
			visit(x)
		}
	}
}

func TestNetlistCarried(t *testing.T) {
	t.Parallel()
	pins := func(of string, out float64, in ...any) *cell {
		return &cell{of, map[string]string{"Q": "output", "D": "input"}, map[string][]any{"Q": {out}, "D": in}}
	}
	for name, tt := range map[string]struct {
		of   []*cell
		want int
	}{
		"a pipeline": {[]*cell{pins("FDRE", 2, 1.), pins("LUT2", 3, 2., 1.), pins("FDRE", 4, 3.)}, 0},
		"a counter":  {[]*cell{pins("LUT2", 2, 3.), pins("FDRE", 3, 2.)}, 1},
		"two registers": {[]*cell{pins("LUT1", 2, 3.), pins("LUT1", 4, 2.), pins("FDRE", 5, 4.), pins("LUT1", 6, 5.),
			pins("FDRE", 3, 6.), pins("LUT1", 7, 2.), pins("LUT1", 8, 4.), pins("LUT1", 9, 8.),
			pins("FDRE", 10, 9.)}, 2},
	} {
		n := netlist{map[string]*cell{}}
		for i, x := range tt.of {
			n.Cells[string(rune('a'+i))] = x
		}
		if got, from, to := n.carried(); got != tt.want {
			t.Errorf("%s: %d lookup tables from %s to %s, want %d", name, got, from, to, tt.want)
		}
	}
}
