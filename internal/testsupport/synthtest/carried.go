package synthtest

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib/price/delay"
	"hlsgen/templates"
)

// A Kernel is a process of a project in the form in which clang compiles it, with every requested inlining and
// unrolling.
type Kernel struct {
	Process string
	body    *body
	uses    map[string]int
	widths  map[string]int // bits in use of each value
	parts   [][]string     // groups of static variables that depend on each other
}

// apart matches a pragma about a memory that states for how many iterations no read follows a write.
var apart = regexp.MustCompile(`#pragma HLS DEPENDENCE variable=(\w+) type=inter ` +
	`(?:dependent=false|direction=RAW distance=)`)

// Kernels compiles the processes of a project and returns them. It writes files below the folder dir.
func Kernels(ctx context.Context, dir string, files templates.ProjectFiles) ([]*Kernel, error) {
	ready, err := prepare(files)
	if err != nil {
		return nil, err
	}
	if err := ready.WriteBelow(dir); err != nil {
		return nil, err
	}
	w := work{ctx, filepath.Join(dir, "hls")}
	if _, err := w.run("clang++", slices.Concat(flags, []string{"-O2", "-S", "-emit-llvm", "-o", "carried.ll",
		"layers.cpp"})...); err != nil {
		return nil, err
	}
	ir, err := os.ReadFile(filepath.Join(w.dir, "carried.ll"))
	if err != nil {
		return nil, err
	}
	memories := map[string]bool{}
	for _, f := range files {
		for _, m := range apart.FindAllSubmatch(f.Data, -1) {
			memories[string(m[1])] = true
		}
	}
	all, err := bodies(string(ir))
	if err != nil {
		return nil, err
	}
	var list []*Kernel
	for _, b := range all {
		k := &Kernel{Process: plain(b.name), body: b, uses: map[string]int{}}
		for _, v := range slices.AppendSeq(slices.Clone(b.stores), maps.Values(b.values)) {
			for _, a := range v.args {
				k.uses[a]++
			}
		}
		k.measure()
		k.connect(memories)
		list = append(list, k)
	}
	return list, nil
}

// owner returns the static variable that contains a place.
func owner(place string) string {
	name, _, _ := strings.Cut(place, " ")
	return name
}

// connect finds the variables whose next value depends on their present one.
func (k *Kernel) connect(memories map[string]bool) {
	follows := map[string]map[string]bool{} // by variable: the variables on which its next value depends
	of := map[string]map[string]bool{}      // the same, by value
	gather := func(v *value) map[string]bool {
		all := map[string]bool{}
		if v.state != "" {
			all[owner(v.state)] = true
		}
		for _, n := range k.body.needs(v) {
			maps.Copy(all, of[n])
		}
		return all
	}
	for _, name := range k.body.order {
		of[name] = gather(k.body.values[name])
	}
	for _, s := range k.body.stores {
		if s.target == "" {
			continue
		}
		name := owner(s.target)
		if strings.Contains(s.target, "*") && memories[sourceName(name)] {
			continue
		}
		if follows[name] == nil {
			follows[name] = map[string]bool{}
		}
		maps.Copy(follows[name], gather(s))
	}
	for range follows { // transitive closure
		for _, from := range follows {
			for f := range maps.Clone(from) {
				maps.Copy(from, follows[f])
			}
		}
	}
	done := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(follows)) {
		if done[name] || !follows[name][name] {
			continue
		}
		var part []string
		for _, other := range slices.Sorted(maps.Keys(follows)) {
			if follows[name][other] && follows[other][name] {
				part = append(part, other)
				done[other] = true
			}
		}
		k.parts = append(k.parts, part)
	}
}

// sourceName returns the name of a function's static variable in the source.
func sourceName(mangled string) string {
	mangled = strings.Trim(mangled, `"`)
	for i := len(mangled) - 1; i > 0; i-- {
		m := regexp.MustCompile(`^(\d+)([A-Za-z_]\w*?)(?:_\d+)?$`).FindStringSubmatch(mangled[i:])
		if m != nil && m[1] == strconv.Itoa(len(m[2])) {
			return m[2]
		}
	}
	return mangled
}

// A Step is an operation on a path.
type Step struct {
	NS   float64 // time at which it is done
	Text string
}

// InstructionCount returns the number of instructions in clang's IR that compute a value or store one.
func (k *Kernel) InstructionCount() int { return len(k.body.values) + len(k.body.stores) }

// Longest returns the longest path from a state to its next value, by the delays of a clock.
func (k *Kernel) Longest(c delay.StageDelayModel) (ns float64, path []Step) {
	for _, part := range k.parts {
		n, p := k.longest(c, part, "", nil)
		if len(part) == 1 && k.body.arrays[part[0]] {
			n = min(n, k.around(c, part))
		}
		if n > ns || path == nil {
			ns, path = n, p
		}
	}
	return ns, path
}

// around returns the longest path from the elements of an array to themselves, in ns per clock. A value that is
// shifted through an array has as many clocks as it takes to come back.
func (k *Kernel) around(c delay.StageDelayModel, part []string) float64 {
	elements := map[string]map[string]float64{} // by source and destination place: length of the path
	for _, v := range k.body.values {
		if v.state != "" && owner(v.state) == part[0] && elements[v.state] == nil {
			ends := map[string]float64{}
			k.longest(c, part, v.state, ends)
			elements[v.state] = ends
		}
	}
	// Maximum cycle mean by Karp, Discrete Mathematics 23 (1978), with walks from all elements.
	n := len(elements)
	walks := make([]map[string]float64, n+1)
	walks[0] = map[string]float64{}
	for e := range elements {
		walks[0][e] = 0
	}
	for i := range n {
		walks[i+1] = map[string]float64{}
		for from, far := range walks[i] {
			for to, ns := range elements[from] {
				if t, ok := walks[i+1][to]; elements[to] != nil && (!ok || far+ns > t) {
					walks[i+1][to] = far + ns
				}
			}
		}
	}
	most := 0.0
	for to, far := range walks[n] {
		least := far
		for i := range n {
			if t, ok := walks[i][to]; ok {
				least = min(least, (far-t)/float64(n-i))
			}
		}
		most = max(most, least)
	}
	return most
}

// longest returns the longest path from some variables to themselves. If from names a place in them, it considers
// only paths from there, and sets ends to the path lengths by destination.
func (k *Kernel) longest(
	c delay.StageDelayModel, part []string, from string, ends map[string]float64,
) (most float64, path []Step) {
	at, by := map[string]float64{}, map[string]string{}
	latest := func(names []string) (last float64, who string) {
		for _, n := range names {
			if t, ok := at[n]; ok && (who == "" || t > last) {
				last, who = t, n
			}
		}
		return last, who
	}
	base := map[string]float64{}
	comes := func(v *value) (list []string) {
		for _, a := range v.args {
			if _, ok := at[a]; ok {
				list = append(list, a)
			}
		}
		return list
	}
	for _, name := range k.body.order {
		v := k.body.values[name]
		ns, who := latest(k.body.needs(v))
		if v.state != "" && slices.Contains(part, owner(v.state)) && (from == "" || v.state == from) {
			at[name], by[name] = ns, who
			continue
		}
		if who == "" {
			continue
		}
		at[name], by[name] = ns+k.delay(c, name, v), who
		// In a sum of several values, the value that arrives last is added last.
		if v.op == "add" && len(comes(v)) == 1 {
			if base[name] = ns; k.uses[who] == 1 {
				if b, ok := base[who]; ok {
					base[name] = b
				}
			}
			at[name] = base[name] + k.delay(c, name, v)
		}
	}
	times := map[string]int{}
	for _, s := range k.body.stores {
		times[s.target]++
	}
	var end string
	var last Step
	for _, s := range k.body.stores {
		if s.target == "" || !slices.Contains(part, owner(s.target)) {
			continue
		}
		ns, who := latest(k.body.needs(s))
		if who == "" {
			continue
		}
		if times[s.target] > 1 {
			ns += c.OpDelayNS(delay.OpSelect, 1)
		}
		if ends != nil {
			ends[s.target] = max(ends[s.target], ns)
		}
		if ns > most || end == "" {
			most, end, last = ns, who, Step{ns, s.text}
		}
	}
	path = []Step{last}
	for ; end != ""; end = by[end] {
		path = append(path, Step{at[end], k.body.values[end].text})
	}
	slices.Reverse(path)
	return most, path
}

// delay returns the delay of an instruction in ns. Masks, and shifts by constants, are wires and take no time.
func (k *Kernel) delay(c delay.StageDelayModel, name string, v *value) float64 {
	width := k.widths[name]
	operands := 1
	for _, a := range v.args {
		operands = max(operands, k.width(a))
	}
	switch v.op {
	case "add", "sub":
		return c.OpDelayNS(delay.OpAdd, max(1, width-k.zeros(v.args[0], v.args[1])))
	case "icmp":
		return c.OpDelayNS(delay.OpCompare, operands)
	case "phi", "select":
		if v.width == 1 && v.op == "select" && (isNumber(v.args[1]) || isNumber(v.args[2])) {
			return c.OpDelayNS(delay.OpLogicGate, 1)
		}
		return c.OpDelayNS(delay.OpSelect, width)
	case "and", "or":
		if v.op == "or" && k.bits(v.args[0])&k.bits(v.args[1]) == 0 {
			return 0 // no common bits: wires
		}
		if !isNumber(v.args[1]) {
			return c.OpDelayNS(delay.OpLogicGate, 1)
		}
	case "xor":
		return c.OpDelayNS(delay.OpLogicGate, 1)
	case "umin", "umax", "smin", "smax", "usub":
		return c.OpDelayNS(delay.OpCompare, operands) + c.OpDelayNS(delay.OpSelect, width)
	case "abs":
		return c.OpDelayNS(delay.OpAdd, width) + c.OpDelayNS(delay.OpSelect, width)
	case "mul":
		return c.OpDelayNS(delay.OpMultiplyInLUTs, k.width(v.args[0])+k.width(v.args[1]))
	case "shl", "lshr", "ashr":
		if !isNumber(v.args[1]) {
			return c.OpDelayNS(delay.OpSelect, width) * float64(bits.Len(uint(width-1)))
		}
	case "load":
		if len(v.args) > 0 { // from a table
			return c.OpDelayNS(delay.OpSelect, width) * 2
		}
	case "zext", "sext", "trunc", "getelementptr", "bitcast", "fshl", "fshr", "freeze",
		"extractvalue", "insertelement", "extractelement", "shufflevector":
	case "call":
	default:
		panic(fmt.Sprintf("synthtest: no delay of %s", v.text))
	}
	return 0
}

// isNumber reports whether an argument of an instruction is a number, not the result of another instruction.
func isNumber(arg string) bool { return !strings.HasPrefix(arg, "%") }
