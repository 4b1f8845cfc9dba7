package layertest

import (
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// An option is something in which programs differ, with the value that a program has.
type option struct{ name, value string }

// A pair is a value of an option, or two values that a program has at once.
type pair struct{ a, b option }

// cover returns programs, in their order, among which every value of every option occurs that occurs in the list, and
// every pair of values of options that interact: of the first ones. Again and again it takes the program that adds
// most, the first of several that add as much.
func cover(programs []program, of func(program) (options []option, interact int)) []program {
	numbers := map[pair]int{}
	has := make([][]int, len(programs)) // by program: what it has that no taken program has
	for i, p := range programs {
		options, interact := of(p)
		for k, a := range options {
			add := func(x pair) {
				if _, ok := numbers[x]; !ok {
					numbers[x] = len(numbers)
				}
				has[i] = append(has[i], numbers[x])
			}
			add(pair{a: a})
			for _, b := range options[min(k+1, interact):interact] {
				add(pair{a, b})
			}
		}
		slices.Sort(has[i])
		has[i] = slices.Compact(has[i])
	}
	covered := make([]bool, len(numbers))
	var taken []int
	for {
		best, most := -1, 0
		for i, h := range has {
			has[i] = slices.DeleteFunc(h, func(x int) bool { return covered[x] })
			if n := len(has[i]); n > most {
				best, most = i, n
			}
		}
		if best < 0 {
			break
		}
		for _, x := range has[best] {
			covered[x] = true
		}
		taken = append(taken, best)
	}
	slices.Sort(taken)
	some := make([]program, len(taken))
	for i, k := range taken {
		some[i] = programs[k]
	}
	return some
}

// A covered value is one that the programs of a check have.
type covered struct {
	check string
	option
}

// allCovered holds the covered values of all tests of the process.
var allCovered sync.Map

// left returns a covering set without interactions, as cover does, of the values that no earlier set of the same check
// covers, whichever test is the first. The check is the name of the subtest. If no value is left, the subtest is
// skipped. The long tier gets all programs.
func left(t *testing.T, programs []program, of func(program) (options []option, interact int)) []program {
	t.Helper()
	if tier.Long() {
		return programs
	}
	check := path.Base(t.Name())
	some := cover(programs, func(p program) (list []option, interact int) {
		list, _ = of(p)
		return slices.DeleteFunc(list, func(o option) bool {
			_, done := allCovered.Load(covered{check, o})
			return done
		}), 0
	})
	if len(some) == 0 {
		t.Skip("other tests of the package have all that is special in these folds")
	}
	for _, p := range some {
		options, _ := of(p)
		for _, o := range options {
			allCovered.Store(covered{check, o}, true)
		}
	}
	return some
}

// options returns what a program's C++ depends on. Those of the fold interact.
func (p program) options() (list []option, interact int) {
	add := func(name string, value any) { list = append(list, option{name, fmt.Sprint(value)}) }
	pe, simd := 0, 0
	for f := range p.op.Folds() {
		pe, simd = max(pe, f.PE), max(simd, f.SIMD)
	}
	add("PE", part(p.fold.PE, pe))
	add("SIMD", part(p.fold.SIMD, simd))
	add("memory", p.fold.Memory)
	add("multipliers", p.fold.Compute)
	add("step functions", p.fold.Steps)
	interact = len(list)
	add("device", fmt.Sprint(p.Board.Family, p.Board.DSPType))
	add("accumulators", p.PerPE)
	in, out := p.op.Ports(p.fold)
	for k, ports := range [][]dataflow.Port{in, out} {
		side := []string{"in", "out"}[k]
		add(side, class(len(ports)))
		for _, port := range ports {
			add(side+" type", typeClass(port.Elem))
			add(side+" per word", class(port.PerWord))
			add(side+" tile", class(port.Tile))
		}
	}
	instance := p.op.Emit(p.fold, p.target())
	add("function", instance.Func)
	for _, f := range instance.Config {
		add(kindOf(f.Name), configClass(f.Value))
	}
	for _, t := range instance.Tables {
		add(kindOf(t.Name), fmt.Sprint(typeClass(t.Elem), class(len(t.Rows)), class(len(t.Rows[0]))))
	}
	for _, s := range instance.Storage {
		add(kindOf(s.Name), fmt.Sprint(s.In, class(s.Rows)))
	}
	return list, interact
}

// formOptions returns what the form of a program's C++ depends on: its loops, and the variables that stay from call to
// call.
func (p program) formOptions() (list []option, interact int) {
	add := func(name string, value any) { list = append(list, option{name, fmt.Sprint(value)}) }
	in, out := p.op.Ports(p.fold)
	add("in", class(len(in)))
	add("out", class(len(out)))
	instance := p.op.Emit(p.fold, p.target())
	add("function", instance.Func)
	add("ends", instance.Ends)
	for _, f := range instance.Config {
		if v, ok := f.Value.(bool); ok {
			add(kindOf(f.Name), v)
		}
	}
	for _, s := range instance.Storage {
		add(kindOf(s.Name), s.Rows > 1)
	}
	return list, 0
}

// circuitOptions returns what a program's SystemVerilog depends on: the operations of its circuit with their widths,
// its memories, states and streams.
func (p program) circuitOptions() (list []option, interact int) {
	op, ok := p.op.(dataflow.HasCircuit)
	if !ok {
		return nil, 0
	}
	add := func(name string, values ...any) { list = append(list, option{name, fmt.Sprint(values...)}) }
	var of func(m *circuit.Module)
	of = func(m *circuit.Module) {
		for _, n := range m.Nodes {
			add(n.Op.String(), n.Signed, widthClass(n.Width))
		}
		for _, s := range m.Memories {
			add("memory", s.Style, s.Data != nil, s.Loaded)
		}
		for _, c := range m.Calls {
			of(c.Function)
		}
	}
	t := p.target()
	t.Backend = dataflow.BackendRTL
	m := op.Circuit(p.fold, t)
	of(m)
	add("in", class(len(m.In)))
	add("out", class(len(m.Out)))
	add("states", len(m.States) > 0)
	return list, 0
}

// kindOf returns the name without its numbers: members, tables and arrays that are numbered are alike.
func kindOf(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// part says whether n is one, some or all of a whole.
func part(n, all int) string {
	switch n {
	case all:
		return "all"
	case 1:
		return "one"
	}
	return "some"
}

// class returns the same for numbers that take the same paths. At a power of two, widths change.
func class(n int) string {
	switch {
	case n < 0:
		return "negative"
	case n < 2:
		return fmt.Sprint(n)
	case bits.OnesCount(uint(n)) == 1:
		return "a power of two"
	}
	return "many"
}

// typeClass returns the same for types of a kind that take as many machine words.
func typeClass(t num.Type) string { return fmt.Sprint(t.Kind, widthClass(t.Width)) }

// widthClass returns the same for widths that take as many machine words, except that a bit is a class of its own.
func widthClass(width int) string {
	class := " of one bit"
	for _, w := range []int{1, 32, 64, 128} {
		if width > w {
			class = fmt.Sprintf(" of more than %d bits", w)
		}
	}
	return class
}

// configClass returns the class of a member of a config.
func configClass(v any) string {
	switch v := v.(type) {
	case int:
		return class(v)
	case num.Type:
		return typeClass(v)
	case []int:
		return class(len(v))
	case []int64:
		return class(len(v))
	case []num.Type:
		return class(len(v))
	}
	return fmt.Sprint(v)
}
