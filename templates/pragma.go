package templates

import (
	"fmt"
	"slices"
	"strings"
)

// A standing is a kind of scope in C++ that contains a pragma directly, between the nearest pair of braces around it.
type standing int

// The kinds of scopes, which may be combined.
const (
	inFunction standing = 1 << iota // the body of a function
	inFor                           // the body of a for loop
	inLoop                          // the body of another loop
	inBlock                         // any other block of a function

	inLoops    = inFor | inLoop
	inAnything = inFunction | inLoops | inBlock
)

// String returns the name of the kind of scope.
func (p standing) String() string {
	return map[standing]string{inFunction: "a function", inFor: "a for loop", inLoop: "a loop", inBlock: "a block",
		inLoops: "a loop", inFunction | inLoops: "a function or a loop", inFunction | inFor: "a function or a for loop",
	}[p]
}

// A pragma is a row of the grammar.
//
//	takes  the options: x=int is a constant, x=var a variable, x=id a name, x=a|b one of these, x alone a flag;
//	       the front end drops the pragma if an option marked with ! is missing
//	apart  pairs that exclude each other, as in "off/style"
//	needs  pairs of which the left requires the right, as in "block/factor"; + on the left joins several options,
//	       an empty left means always, and | on the right separates alternatives
type pragma struct {
	at           standing
	takes        string
	apart, needs string
}

// pragmas is the grammar of the public front end of Vitis HLS, release 2021 (Xilinx/hls-llvm-project:
// ParseXlxPragma.cpp for options, SemaXlxAttr.cpp and CGXlxAttr.cpp for places and conflicts). The front end reports
// violations as errors or, worse, warns and drops the pragma. Deprecated pragmas have no row. An interface has a row
// per mode, because each mode has different options.
var pragmas = map[string]pragma{
	"PIPELINE": {inFunction | inLoops, "II=int style=stp|flp|frp rewind off",
		"off/style rewind/style=flp rewind/style=frp", ""},
	"UNROLL": {inLoops, "factor=int skip_exit_check", "", ""},
	"DATAFLOW": {inFunction | inFor, "disable_start_propagation",
		"", ""},
	"INLINE": {inAnything, "off recursive", "", ""},
	"RESET":  {inAnything, "variable=var! off", "", ""},
	"STREAM": {inAnything, "variable=var! depth=int type=fifo|pipo|shared|unsync", "", ""},
	"ARRAY_PARTITION": {inAnything, "variable=var! dim=int factor=int cyclic block complete type=cyclic|block|complete",
		"cyclic/block cyclic/complete block/complete complete/factor type=complete/factor",
		"cyclic/factor block/factor type=cyclic/factor type=block/factor"},
	"ARRAY_RESHAPE": {inAnything, "variable=var! dim=int factor=int cyclic block complete type=cyclic|block|complete",
		"cyclic/block cyclic/complete block/complete complete/factor type=complete/factor",
		"cyclic/factor block/factor type=cyclic/factor type=block/factor"},
	"BIND_STORAGE": {inAnything, "variable=var! " +
		"type=fifo|ram_1p|ram_1wnr|ram_2p|ram_s2p|ram_t2p|rom_1p|rom_2p|rom_np! " +
		"impl=bram|bram_ecc|lutram|memory|srl|uram|uram_ecc latency=int",
		pairs("type", "impl", storageKinds), ""},
	"BIND_OP": {inAnything, "variable=var! op=mul|add|sub! impl=dsp|fabric latency=int", "", ""},
	"DEPENDENCE": {inAnything, "variable=var cross_variables=var class=array|pointer type=inter|intra " +
		"direction=RAW|WAR|WAW distance=int dependent=true|false pointer array inter intra RAW WAR WAW true false",
		"variable/cross_variables pointer/array inter/intra RAW/WAR RAW/WAW WAR/WAW true/false intra/distance " +
			"type=intra/distance",
		"/dependent|true|false type=inter+dependent=true/distance inter+true/distance"},
	"LOOP_TRIPCOUNT":     {inLoops, "min=int max=int! avg=int", "", ""},
	"LOOP_FLATTEN":       {inLoops, "off", "", ""},
	"LOOP_MERGE":         {inAnything, "force", "", ""},
	"LATENCY":            {inAnything, "min=int max=int", "", ""},
	"OCCURRENCE":         {inLoops | inBlock, "cycle=int", "", ""},
	"PROTOCOL":           {inLoops | inBlock, "mode=floating|fixed", "", ""},
	"EXPRESSION_BALANCE": {inAnything, "off", "", ""},
	"STABLE":             {inAnything, "variable=var!", "", ""},
	"AGGREGATE":          {inAnything, "variable=var! compact=none|bit|byte|auto", "", ""},
	"DISAGGREGATE":       {inAnything, "variable=var!", "", ""},

	"INTERFACE axis": {inFunction, "axis port=var! register register_mode=forward|reverse|both|off depth=int name=id",
		"", ""},
	"INTERFACE ap_fifo":       {inFunction, "ap_fifo port=var! register depth=int name=id", "", ""},
	"INTERFACE ap_ctrl_none":  {inFunction, "ap_ctrl_none port=return! name=id", "", ""},
	"INTERFACE ap_ctrl_hs":    {inFunction, "ap_ctrl_hs port=return! name=id", "", ""},
	"INTERFACE ap_ctrl_chain": {inFunction, "ap_ctrl_chain port=return! name=id", "", ""},
}

// storageKinds lists the memories for each type of storage (XILINXFPGAPlatformBasic.cpp of the same project).
var storageKinds = map[string][]string{
	"fifo":     {"bram", "lutram", "memory", "srl", "uram"},
	"ram_1p":   {"bram", "lutram", "uram"},
	"ram_1wnr": {"bram", "lutram", "uram"},
	"ram_2p":   {"bram", "lutram", "uram"},
	"ram_s2p":  {"bram", "bram_ecc", "lutram", "uram", "uram_ecc"},
	"ram_t2p":  {"bram", "uram"},
	"rom_1p":   {"bram", "lutram"},
	"rom_2p":   {"bram", "lutram"},
	"rom_np":   {"bram", "lutram"},
}

// pairs returns the pairs that a table does not contain, in the form of pragma.apart.
func pairs(left, right string, table map[string][]string) string {
	all := map[string]bool{}
	for _, values := range table {
		for _, v := range values {
			all[v] = true
		}
	}
	var apart []string
	for _, l := range sortedKeys(table) {
		for _, r := range sortedKeys(all) {
			if !slices.Contains(table[l], r) {
				apart = append(apart, left+"="+l+"/"+right+"="+r)
			}
		}
	}
	return strings.Join(apart, " ")
}

// apart lists pairs of pragmas that must not stand in one place. The front end refuses the first two pairs; of the
// others it drops one pragma.
var apart = [][2]string{
	{"DATAFLOW", "PIPELINE"}, {"DATAFLOW", "UNROLL"},
	{"PIPELINE", "UNROLL"}, {"INLINE", "PIPELINE"}, {"INLINE", "DATAFLOW"}, {"INLINE", "INTERFACE"},
}

// A use is a pragma that stands in generated text, with its options.
type use struct {
	line     int
	name     string
	settings []string // as written
}

// row returns the grammar's row for the pragma, and its name. The last result is false if the grammar has none.
func (u use) row() (pragma, string, bool) {
	if p, ok := pragmas[u.name]; ok {
		return p, u.name, true
	}
	for _, s := range u.settings {
		if p, ok := pragmas[u.name+" "+s]; ok {
			return p, u.name + " " + s, true
		}
	}
	return pragma{}, u.name, false
}

// value returns the value of an option of the pragma, or "" for a flag or a missing option.
func (u use) value(option string) string {
	for _, s := range u.settings {
		if name, value, ok := strings.Cut(s, "="); ok && name == option {
			return value
		}
	}
	return ""
}

// has reports whether the pragma has all parts of a term, which are options, flags or settings joined by +.
func (u use) has(term string) bool {
	for t := range strings.SplitSeq(term, "+") {
		if !slices.ContainsFunc(u.settings, func(s string) bool { return s == t || strings.HasPrefix(s, t+"=") }) {
			return false
		}
	}
	return true
}

// check returns the violations of the grammar by the pragma in a scope of kind at, a line for each.
func (u use) check(at standing) (wrong []string) {
	p, name, ok := u.row()
	if !ok {
		return []string{"pragma " + strings.Join(append([]string{u.name}, u.settings...), " ")}
	}
	say := func(format string, args ...any) {
		wrong = append(wrong, "pragma "+name+": "+fmt.Sprintf(format, args...))
	}
	if p.at&at == 0 {
		say("it stands in %v, where %v is its place", at, p.at)
	}
	kinds, seen := map[string]string{}, map[string]bool{}
	for o := range strings.FieldsSeq(p.takes) {
		o, must := strings.CutSuffix(o, "!")
		option, kind, _ := strings.Cut(o, "=")
		if kinds[option] = kind; must && !u.has(option) {
			say("it has no %s", option)
		}
	}
	for _, s := range u.settings {
		option, value, set := strings.Cut(s, "=")
		kind, known := kinds[option]
		if !known || set != (kind != "") || set && !takes(kind, value) || seen[option] {
			say("%s", s)
		}
		seen[option] = true
	}
	for pair := range strings.FieldsSeq(p.apart) {
		if a, b, _ := strings.Cut(pair, "/"); u.has(a) && u.has(b) {
			say("%s with %s", a, b)
		}
	}
	for pair := range strings.FieldsSeq(p.needs) {
		a, b, _ := strings.Cut(pair, "/")
		if (a == "" || u.has(a)) && !slices.ContainsFunc(strings.Split(b, "|"), u.has) {
			say("%s", strings.TrimSpace(a+" without "+b))
		}
	}
	return wrong
}

// takes reports whether an option of a kind of the grammar, such as int or var, accepts a value.
func takes(kind, value string) bool {
	switch kind {
	case "int":
		return constantValue.MatchString(value)
	case "var":
		return variableValue.MatchString(value)
	case "id":
		return IsIdentifier(value)
	}
	return slices.Contains(strings.Split(kind, "|"), value)
}
