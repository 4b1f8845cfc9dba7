package synthtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A value is the result of an instruction in clang's IR.
type value struct {
	op     string // load, store, phi, select, add ...
	width  int    // width of the type
	args   []string
	state  string // for a load: the static variable and the place in it, or empty
	target string // for a store: the place that it writes
	block  int
	text   string
}

// A block is a sequence of instructions without branches.
type block struct {
	conditions []string // conditions of its branch
	next       []int
	from       []int
}

// A body is a function in clang's IR.
type body struct {
	name   string
	values map[string]*value
	stores []*value
	blocks []block
	order  []string        // names of values, each after the values on which it depends
	arrays map[string]bool // static variables that are arrays
	chosen map[int][]string
	guards map[int][]string
}

var (
	irFunction = regexp.MustCompile(`(?ms)^define [^@]*@("[^"]+"|[\w.$]+)\(([^\n]*)\{\n(.*?)^\}`)
	irLabel    = regexp.MustCompile(`^([\w.]+):`)
	irAssigned = regexp.MustCompile(`^  (%[\w.]+) = (?:(?:tail|musttail|notail) )?(\w+) ?(.*)$`)
	irType     = regexp.MustCompile(`\bi(\d+)\b`)
	irName     = regexp.MustCompile(`%[\w.]+`)
	irGlobal   = regexp.MustCompile(`@("[^"]+"|[\w.$]+)`)
	irOffset   = regexp.MustCompile(`, i(?:32|64) (-?\d+|%[\w.]+)`)
	irTarget   = regexp.MustCompile(`label %([\w.]+)`)
	irVariable = regexp.MustCompile(`(?m)^@("[^"]+"|[\w.$]+) = (?:[\w()]+ )*?global (.)`)
)

// bodies reads the functions of clang's IR. Constant globals are not counted as state.
func bodies(ir string) (list []*body, err error) {
	variables := map[string]bool{}
	arrays := map[string]bool{}
	for _, m := range irVariable.FindAllStringSubmatch(ir, -1) {
		variables[m[1]] = true
		arrays[m[1]] = m[2] == "["
	}
	for _, m := range irFunction.FindAllStringSubmatch(ir, -1) {
		if words.MatchString(m[1]) {
			continue
		}
		b, err := readBody(strings.Trim(m[1], `"`), m[3], variables)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m[1], err)
		}
		b.arrays = arrays
		list = append(list, b)
	}
	return list, nil
}

// readBody reads a function's instructions.
func readBody(name, text string, variables map[string]bool) (*body, error) {
	b := &body{name: name, values: map[string]*value{}, chosen: map[int][]string{},
		guards: map[int][]string{}}
	lines := strings.Split(text, "\n")
	labels := map[string]int{}
	b.blocks = append(b.blocks, block{})
	for i, line := range lines {
		if m := irLabel.FindStringSubmatch(line); m != nil {
			if i > 0 {
				b.blocks = append(b.blocks, block{})
			}
			labels[m[1]] = len(b.blocks) - 1
		}
	}
	at := 0
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := irLabel.FindStringSubmatch(line); m != nil {
			at = labels[m[1]]
			continue
		}
		if strings.HasPrefix(line, "  switch ") {
			for !strings.HasSuffix(strings.TrimSpace(lines[i]), "]") {
				i++
				line += lines[i]
			}
		}
		b.read(line, at, labels, variables)
	}
	for i, k := range b.blocks {
		for _, n := range k.next {
			b.blocks[n].from = append(b.blocks[n].from, i)
		}
	}
	return b, b.sort()
}

// read reads an instruction.
func (b *body) read(line string, at int, labels map[string]int, variables map[string]bool) {
	line, _, _ = strings.Cut(line, ", !")
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "br ") || strings.HasPrefix(trimmed, "switch "):
		head, _, _ := strings.Cut(trimmed, "label ")
		b.blocks[at].conditions = irName.FindAllString(head, -1)
		for _, m := range irTarget.FindAllStringSubmatch(trimmed, -1) {
			if n := labels[m[1]]; !slices.Contains(b.blocks[at].next, n) {
				b.blocks[at].next = append(b.blocks[at].next, n)
			}
		}
		if strings.HasPrefix(trimmed, "switch ") {
			for _, c := range b.blocks[at].conditions {
				name := c + " as a switch"
				b.values[name] = &value{op: "icmp", width: 8, args: []string{c}, block: at, text: trimmed}
				b.blocks[at].conditions = []string{name}
			}
		}
	case strings.HasPrefix(trimmed, "store "):
		what, where, _ := strings.Cut(trimmed[len("store "):], "* ")
		what, _, _ = strings.Cut(what, ", ")
		v := &value{op: "store", width: widthOf(what), args: irName.FindAllString(what, 1), block: at, text: trimmed}
		v.target = b.place(where, variables)
		b.stores = append(b.stores, v)
	default:
		m := irAssigned.FindStringSubmatch(line)
		if m == nil {
			return
		}
		v := &value{op: m[2], width: widthOf(m[3]), block: at, text: trimmed}
		switch m[2] {
		case "load":
			_, where, _ := strings.Cut(m[3], ", ")
			v.state = b.place(where, variables)
			if v.state == "" {
				v.args = irName.FindAllString(where, -1)
			}
		case "getelementptr", "bitcast":
			v.target = b.place(m[3], variables)
			v.args = irName.FindAllString(m[3], -1)
		case "phi":
			for _, in := range regexp.MustCompile(`\[ ([^,]+), `).FindAllStringSubmatch(m[3], -1) {
				v.args = append(v.args, in[1])
			}
		case "call":
			if g := irGlobal.FindStringSubmatch(m[3]); g != nil {
				v.target = g[1]
				_, list, _ := strings.Cut(m[3], "(")
				if strings.HasPrefix(g[1], "llvm.") {
					v.op, v.args = strings.SplitN(g[1], ".", 3)[1], irOperands(list)
				}
			}
		default:
			v.args = irOperands(m[3])
		}
		b.values[m[1]] = v
	}
}

// irOperands returns the names and numbers in an instruction.
func irOperands(text string) []string {
	return regexp.MustCompile(`%[\w.]+|\b(?:true|false|undef|poison)\b|(?: |^)-?\d+\b`).FindAllString(text, -1)
}

// widthOf returns the width in bits of the type in a text of clang's IR.
func widthOf(text string) int {
	if m := irType.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 1
}

// place returns the static variable into which a pointer points, and the offset, with a star for an offset that is
// not constant. It returns "" if the pointer points into no variable.
func (b *body) place(pointer string, variables map[string]bool) string {
	if m := irGlobal.FindStringSubmatch(pointer); m != nil {
		if !variables[m[1]] {
			return ""
		}
		return m[1] + " " + offsets(pointer)
	}
	for _, n := range irName.FindAllString(pointer, -1) {
		if v := b.values[n]; v != nil && v.target != "" {
			return v.target + offsets(pointer)
		}
	}
	return ""
}

// offsets returns the indices of a pointer.
func offsets(pointer string) (at string) {
	for _, m := range irOffset.FindAllStringSubmatch(pointer, -1) {
		if strings.HasPrefix(m[1], "%") {
			m[1] = "*"
		}
		at += "." + m[1]
	}
	return at
}

// sort orders values after the values on which they depend.
func (b *body) sort() error {
	state := map[string]int{}
	var visit func(name string) error
	visit = func(name string) error {
		v := b.values[name]
		if v == nil || state[name] == 2 {
			return nil
		}
		if state[name] == 1 {
			return fmt.Errorf("%s is made of itself: a loop is left", name)
		}
		state[name] = 1
		for _, a := range b.needs(v) {
			if err := visit(a); err != nil {
				return err
			}
		}
		state[name] = 2
		b.order = append(b.order, name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(b.values)) {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// needs lists the values on which a value depends. A phi also depends on the conditions that select its argument.
func (b *body) needs(v *value) []string {
	switch v.op {
	case "phi":
		return append(slices.Clone(v.args), b.choose(v.block)...)
	case "store":
		return append(slices.Clone(v.args), b.guard(v.block)...)
	}
	return v.args
}

// choose returns the conditions that decide from which block a block is reached. These are the conditions of branches
// whose ways to the block have no other block in common.
func (b *body) choose(at int) []string {
	if list, ok := b.chosen[at]; ok {
		return list
	}
	from := b.before(at)
	var conditions []string
	common := make([]map[int]bool, len(b.blocks)) // by block: the later blocks that all ways to this block share
	var visit func(x int) map[int]bool
	visit = func(x int) map[int]bool {
		if common[x] != nil || x == at {
			return common[x]
		}
		var all map[int]bool
		for _, n := range b.blocks[x].next {
			if !from[n] {
				continue
			}
			way := maps.Clone(visit(n))
			if way == nil {
				way = map[int]bool{}
			}
			if n != at {
				way[n] = true
			}
			if all == nil {
				all = way
			} else {
				maps.DeleteFunc(all, func(y int, _ bool) bool { return !way[y] })
			}
		}
		common[x] = all
		return all
	}
	for x := range b.blocks {
		if x != at && from[x] && len(b.blocks[x].next) > 1 && len(visit(x)) == 0 {
			conditions = append(conditions, b.blocks[x].conditions...)
		}
	}
	b.chosen[at] = conditions
	return conditions
}

// guard returns the conditions under which a block runs.
func (b *body) guard(at int) []string {
	if list, ok := b.guards[at]; ok {
		return list
	}
	var conditions []string
	from := b.before(at)
	for x := range b.blocks {
		if x == at || !from[x] || len(b.blocks[x].next) < 2 {
			continue
		}
		ends := b.reached(x, at) // blocks that are reached without running the block
		for y := range b.blocks {
			if y != at && ends[y] && len(b.blocks[y].next) == 0 {
				conditions = append(conditions, b.blocks[x].conditions...)
				break
			}
		}
	}
	b.guards[at] = conditions
	return conditions
}

// reached returns the blocks that can be reached from one block without passing another.
func (b *body) reached(from, without int) []bool {
	seen := make([]bool, len(b.blocks))
	if from == without {
		return seen
	}
	list := []int{from}
	seen[from] = true
	for len(list) > 0 {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		for _, n := range b.blocks[x].next {
			if n != without && !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	return seen
}

// before returns the blocks from which a block can be reached, including itself.
func (b *body) before(at int) []bool {
	seen := make([]bool, len(b.blocks))
	list := []int{at}
	seen[at] = true
	for len(list) > 0 {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		for _, n := range b.blocks[x].from {
			if !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	return seen
}
