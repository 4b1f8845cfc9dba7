package rnn

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"hlsgen/hlslib/layer"
	"hlsgen/internal/dataflow"
)

// A writer writes the layer's program in C++, as a member of the layer's config struct: the function clock computes one
// iteration. The text refers only to members of the config and to constants.
type writer struct {
	o      *op
	f      dataflow.Fold
	tables []dataflow.Table
	lines  []string
	depth  int
	steps  bool // frames are sequences of any length
}

func newWriter(o *op, f dataflow.Fold, tables []dataflow.Table) *writer {
	return &writer{o: o, f: f, tables: tables, depth: 1}
}

// say writes a line of C++. A line that ends in an opening brace starts a block, whose lines are indented.
func (w *writer) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if strings.HasPrefix(line, "}") {
		w.depth--
	}
	indent := strings.Repeat("    ", w.depth)
	if line == "" || strings.HasPrefix(line, "#") {
		indent = ""
	}
	w.lines = append(w.lines, indent+line)
	if strings.HasSuffix(line, "{") {
		w.depth++
	}
}

func (w *writer) code() []string {
	for i := range w.o.phases {
		for k := range w.o.phases[i].values {
			if v := &w.o.phases[i].values[k]; v.built() && v.Op == OpStepFunction {
				w.stepFunction(v)
			}
		}
	}
	w.clock()
	return w.lines
}

// stepFunction writes the struct that apply_steps takes as its template parameter, for the step functions of v.
func (w *writer) stepFunction(v *value) {
	w.say("")
	w.say("// The step function of %s.", v.name)
	w.say("struct %s_function {", v.name)
	w.say("typedef %s_t out_t;", v.name)
	for _, f := range v.steps.form(w.f.PE).ConfigFields() {
		if f.Name == "shared" {
			continue // the caller of apply_steps selects the row
		}
		switch x := f.Value.(type) {
		case []int:
			list := strings.Trim(strings.ReplaceAll(fmt.Sprint(x), " ", ", "), "[]")
			w.say("typedef hlsgen::counts<%s> %s;", list, f.Name)
		case bool:
			w.say("static const bool %s = %t;", f.Name, x)
		default:
			w.say("static const int %s = %d;", f.Name, x)
		}
	}
	for _, table := range w.tables {
		if name, ok := strings.CutPrefix(table.Name, v.name+"_"); ok && !table.Bare {
			w.say("typedef %s_t %s_t;", table.Name, name)
			w.say("static const int %s_per_limb = %s_per_limb;", name, table.Name)
		}
	}
	w.say("};")
}

// parameters returns the C++ parameters of clock: the streams, then the tables.
func (w *writer) parameters() (list []string) {
	if w.steps {
		list = append(list, "hls::stream<ap_uint<1> >& ends")
	}
	for i := range w.o.in {
		list = append(list, fmt.Sprintf("hls::stream<ap_uint<%s_width> >& %[1]s", numbered("in", i, len(w.o.in))))
	}
	for i := range w.o.out {
		list = append(list, fmt.Sprintf("hls::stream<ap_uint<%s_width> >& %[1]s", numbered("out", i, len(w.o.out))))
	}
	for i, t := range w.tables {
		list = append(list, fmt.Sprintf("const T%d& %s", i, t.Name))
	}
	return list
}

// types returns the template parameters of the C++ function clock: first, and then a type for each table.
func (w *writer) types(first string) string {
	list := []string{"class " + first}
	for i := range w.tables {
		list = append(list, fmt.Sprintf("class T%d", i))
	}
	return strings.Join(list, ", ")
}

// kept writes the declarations of the static variables: memories, accumulators, and the place in the frame.
func (w *writer) kept() {
	static := func(declaration, name string) {
		w.say("static %s", declaration)
		w.say("#pragma HLS RESET variable=%s off", name)
	}
	for i := range w.o.stores {
		s := &w.o.stores[i]
		static(fmt.Sprintf("ap_uint<C::%s_width> %[1]s[C::%[1]s_rows];", s.name), s.name)
		w.say("hlsgen::bind_memory(%s, hlsgen::memory<C::%[1]s_memory>());", s.name)
		w.say("// No read depends on a nearer write.")
		w.say("#pragma HLS DEPENDENCE variable=%s type=inter direction=RAW distance=C::%[1]s_distance dependent=true",
			s.name)
		if s.vector {
			static(fmt.Sprintf("ap_uint<C::%s_width> %[1]s_newest; // units, until they are a word", s.name),
				s.name+"_newest")
		}
	}
	static(fmt.Sprintf("acc_t acc[%d];", w.f.PE*max(1, w.o.dots)), "acc")
	w.say("#pragma HLS ARRAY_PARTITION variable=acc complete dim=1")
	w.say("static hlsgen::rnn_place<C> place;")
	w.say("#pragma HLS RESET variable=place")
	if w.o.P.Keeps {
		w.say("#ifndef __SYNTHESIS__")
		w.say("static unsigned restarted = 0;")
		w.say("if (restarted != hlsgen::restarts()) place = hlsgen::rnn_place<C>();")
		w.say("restarted = hlsgen::restarts();")
		w.say("#endif")
	}
	w.say("hlsgen::rnn_place<C> at = place;")
	w.say("")
}

// awaits writes the C++ statements that return early from iterations that need a word which has not arrived.
func (w *writer) awaits() {
	if !w.steps {
		w.say("if (at.ends(0) && %s.empty()) return;", numbered("in", 0, len(w.o.in)))
		for i := range w.o.P.Starts {
			w.say("if (%s && %s.empty()) return;", w.arrival(i), numbered("in", 1+i, len(w.o.in)))
		}
		return
	}
	// A single return statement makes the rest of the iteration depend on one condition only.
	missing := []string{fmt.Sprintf("(at.ends(0) & %s.empty())", numbered("in", 0, len(w.o.in)))}
	for i := range w.o.P.Starts {
		missing = append(missing, fmt.Sprintf("(%s & %s.empty())", w.arrival(i), numbered("in", 1+i, len(w.o.in))))
	}
	w.say("const bool missing = %s | (at.finished() & ends.empty());", strings.Join(missing, " | "))
	w.say("if (missing) return;")
}

// arrival returns the C++ condition under which the iteration reads a word of the initial state with the number start.
func (w *writer) arrival(start int) string {
	return fmt.Sprintf("at.arrives(%d)", w.o.turns*w.o.cell.units(w.o.P.Starts[start])/w.f.PE)
}

// clock writes the function clock, one iteration of the loop.
func (w *writer) clock() {
	w.say("")
	w.say("// clock is one iteration.")
	w.say("template <%s>", w.types("C"))
	w.say("static void clock(%s) {", strings.Join(w.parameters(), ",\n                      "))
	w.say("#pragma HLS INLINE")
	w.kept()
	w.awaits()
	w.sums()
	for i := range w.o.stores {
		if s := &w.o.stores[i]; !s.vector {
			w.say("ap_uint<%s_width> %[1]s_word = 0;", s.name)
			w.say("if (%s) %s_word = %s;", inAny(s.reads), s.name, w.read(s))
		}
	}
	for i := range w.o.stores {
		s := &w.o.stores[i]
		w.say("ap_uint<%d * %d> %s_units = 0;", w.f.PE, s.elem.Width, s.name)
	}
	for i := range w.o.phases {
		w.phase(i)
	}
	w.arrivals()
	for i := range w.o.stores {
		w.keep(&w.o.stores[i])
	}
	w.say("")
	if w.steps {
		w.say("const bool finished = at.finished();")
	}
	w.say("at.next();")
	if w.steps {
		w.say("if (finished) at.follow(ends.read() == 1); // it comes with the last word of the step")
	}
	w.say("place = at;")
	w.say("}")
}

// inAny returns the C++ condition under which the iteration is in one of the phases.
func inAny(phases []int) string {
	var list []string
	for _, q := range phases {
		list = append(list, fmt.Sprintf("at.in(%d)", q))
	}
	return strings.Join(list, " || ")
}

// sums writes the read of the vector, and the sums of the dots.
func (w *writer) sums() {
	if w.o.dots == 0 {
		w.say("(void)acc;")
		return
	}
	w.say("// The vector that the dots multiply, and their sums.")
	w.say("ap_uint<vector_width> vector = 0;")
	var phases []int
	for i := range w.o.stores {
		if s := &w.o.stores[i]; s.vector {
			w.say("if (%s) vector = %s;", inAny(s.reads), w.read(s))
			phases = append(phases, s.reads...)
		}
	}
	w.say("if (%s) hlsgen::rnn_sums(at, acc, vector, weights);", inAny(phases))
}

// read returns a C++ expression for a word of a store. In the first time step of a frame it is the initial state.
func (w *writer) read(s *store) string {
	words := w.o.elements(s) / s.word(w.f)
	row, at := "int(at.at)", "int(at.word)"
	if s.vector {
		row = fmt.Sprintf("int(at.turn) * %d + int(at.from)", words)
		at = fmt.Sprintf("int(at.cell) * %d + int(at.from)", words)
	}
	if s.halves == 2 {
		row = fmt.Sprintf("int(at.half) * %d + %s", w.o.turns*words, row)
	}
	memory := fmt.Sprintf("%s[%s]", s.name, row)
	if s.state < 0 || w.o.arrives(s) {
		return memory
	}
	table, ok := w.o.start(s, w.f)
	if !ok {
		return fmt.Sprintf("at.first() ? ap_uint<%s_width>(0) : %s", s.name, memory)
	}
	if len(table.Rows) == 1 {
		at = "0"
	}
	return fmt.Sprintf("at.first() ? hlsgen::rnn_word<%s_t, %[1]s_start_t, %[1]s_start_per_limb, %[2]d>"+
		"(%[1]s_start[%[3]s]) : %[4]s", s.name, s.word(w.f), at, memory)
}

// phase writes the values of a phase, and the writes of its outputs.
func (w *writer) phase(i int) {
	w.say("")
	w.say("// Phase %d.", i)
	w.say("if (at.ends(%d)) {", i)
	if i == 0 {
		w.say("const ap_uint<%s_width> x = %[1]s.read();", numbered("in", 0, len(w.o.in)))
		if !w.usesInput() {
			w.say("(void)x;")
		}
	}
	for n, r := range w.o.P.Outputs {
		if r.Phase == i {
			w.say("ap_uint<%s_width> %[1]s_word = 0;", numbered("out", n, len(w.o.out)))
		}
	}
	w.say("phase%d_loop: for (int pe = 0; pe < %d; pe++) {", i, w.f.PE)
	w.say("#pragma HLS UNROLL")
	p := &w.o.phases[i]
	for k := range p.values {
		if v := &p.values[k]; v.built() {
			w.value(i, v)
		}
	}
	for n := range w.o.stores {
		if s := &w.o.stores[n]; s.writer.Phase == i {
			w.say("hlsgen::put(%s_units, pe, %[1]s_t(%s));", s.name, w.name(i, s.writer.Value))
		}
	}
	for n, r := range w.o.P.Outputs {
		if r.Phase == i {
			w.say("hlsgen::put(%s_word, pe, %[1]s_t(%s));", numbered("out", n, len(w.o.out)), w.name(i, r.Value))
		}
	}
	w.say("}")
	for n, r := range w.o.P.Outputs {
		if r.Phase == i {
			w.say("if (at.goes_out()) %s.write(%[1]s_word);", numbered("out", n, len(w.o.out)))
		}
	}
	w.say("}")
}

// usesInput reports whether the written C++ uses the input word x, which it reads in any case. Values that are constant
// or that no output needs do not count.
func (w *writer) usesInput() bool {
	for _, v := range w.o.phases[0].values {
		if v.built() && v.Op == OpInput {
			return true
		}
	}
	return false
}

// name returns the C++ variable of value k in phase i, or the constant if the value is one.
func (w *writer) name(i, k int) string {
	v := &w.o.phases[i].values[k]
	if v.constant() {
		return constant(v.all.Lo)
	}
	return v.name
}

// value writes the C++ declaration of the value v of phase i, which must be built.
func (w *writer) value(i int, v *value) {
	of := func(a int) string { return w.name(i, v.Of[a]) }
	var text string
	switch v.Op {
	case OpLinear:
		w.linear(i, v)
		return
	case OpInput:
		text = fmt.Sprintf("hlsgen::number(hlsgen::get<%s_t>(x, pe * %d + %d))", numbered("in", 0, len(w.o.in)),
			w.o.lanes, v.At)
	case OpDot:
		text = fmt.Sprintf("acc[pe * dots + %d]", w.o.lane(i, v.At))
	case OpState, OpEarlierPhaseValue:
		name := fmt.Sprintf("state%d", v.At)
		if v.Op == OpEarlierPhaseValue {
			name = fmt.Sprintf("v%d_%d_kept", v.Phase, v.At)
		}
		text = fmt.Sprintf("hlsgen::get<%s_t>(%[1]s_word, pe)", name)
	case OpProduct:
		text = fmt.Sprintf("hlsgen::rnn_product<use_dsp>(%s, %s)", of(0), of(1))
	case OpStepFunction:
		pe := "pe"
		if v.steps.shared() && !v.steps.form(w.f.PE).HasTablesPerLane() {
			pe = "0"
		}
		tables := ""
		for _, t := range w.tables {
			if strings.HasPrefix(t.Name, v.name+"_") {
				tables += ", " + t.Name
			}
		}
		text = fmt.Sprintf("hlsgen::apply_steps<%s_function>(%s, %s, %s%s)", v.name, of(0), v.steps.row(), pe, tables)
	case OpRequant:
		text = fmt.Sprintf("hlsgen::requantiser<%s_requant, use_dsp>::of<%[1]s_t>(%s, at.cell)", v.name, of(0))
	}
	w.say("const %s_t %[1]s = %s;", v.name, text)
}

// lane returns the lane of the multipliers that computes a dot in phase i.
func (g *program) lane(i, dot int) int {
	for lane, d := range g.phases[i].dots {
		if d == dot {
			return lane
		}
	}
	return 0
}

// linear writes the linear value v of phase i term by term. Intermediate sums may wrap around at the value's width; the
// total fits in it.
func (w *writer) linear(i int, v *value) {
	terms := w.o.terms(i, v)
	if !w.o.adds(i, v) {
		w.say("const %s_t %[1]s = %s;", v.name, w.name(i, v.Of[terms[0]]))
		return
	}
	start := "0"
	if !v.bias.is(0) {
		start = w.parameter(&v.bias)
	}
	w.say("%s_t %[1]s = %s;", v.name, start)
	for _, a := range terms {
		p, x := &v.factors[a], w.name(i, v.Of[a])
		switch {
		case p.same && layer.IsShiftFactor(p.value):
			sign, shift := "+", bits.TrailingZeros64(uint64(p.value))
			if p.value < 0 {
				sign = "-"
			}
			if shift > 0 {
				x = fmt.Sprintf("(%s_t(%s) << %d)", v.name, x, shift)
			}
			w.say("%s %s= %s;", v.name, sign, x)
		default:
			w.say("%s += hlsgen::rnn_product<use_dsp>(%s, %s);", v.name, w.parameter(p), x)
		}
	}
}

// parameter returns the C++ expression for the number that p has for the current unit.
func (w *writer) parameter(p *parameter) string {
	if p.same {
		return constant(p.value)
	}
	pe := "0"
	if p.row() == byWord {
		pe = "pe"
	}
	return fmt.Sprintf("hlsgen::element<%s_t, %[1]s_per_limb>(%[1]s[%s], %s)", p.name, p.row(), pe)
}

// arrivals writes the reads of the states that come from inputs.
func (w *writer) arrivals() {
	for i, s := range w.o.P.Starts {
		in := numbered("in", 1+i, len(w.o.in))
		w.say("if (%s) {", w.arrival(i))
		w.say("const ap_uint<%s_width> units = %[1]s.read();", in)
		none := true
		for k := range w.o.stores {
			if store := &w.o.stores[k]; store.state == s {
				w.say("%s_units = hlsgen::recode<%[1]s_t, %s_t>(units);", store.name, in)
				none = false
			}
		}
		if none {
			w.say("(void)units;")
		}
		w.say("}")
	}
}

// keep writes the C++ statement that stores a word of units, under the condition that the iteration computes or
// receives one.
func (w *writer) keep(s *store) {
	when := fmt.Sprintf("at.ends(%d)", s.writer.Phase)
	if w.o.arrives(s) {
		when += fmt.Sprintf(" || at.arrives(%d)", w.o.turns*w.o.elements(s)/w.f.PE)
	}
	row := "int(at.at)"
	if s.vector {
		row = "int(at.to)"
	}
	if s.halves == 2 {
		row = fmt.Sprintf("int(at.written()) * %d + %s", w.o.turns*w.o.elements(s)/s.word(w.f), row)
	}
	w.say("")
	if !s.vector {
		w.say("if (%s) %s[%s] = %[2]s_units;", when, s.name, row)
		return
	}
	w.say("if (%s) {", when)
	w.say("hlsgen::rnn_gather(%s_newest, %[1]s_units);", s.name)
	w.say("if (at.full()) %s[%s] = %[1]s_newest;", s.name, row)
	w.say("}")
}

// numbered returns the name of port k out of n, spelled as in the C++ templates.
func numbered(name string, k, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s%d", name, k)
}

// constant returns a C++ constant of as few bits as v takes. The least int64 has no literal, so it is written
// as a difference.
func constant(v int64) string {
	if v == math.MinInt64 {
		return fmt.Sprintf("hlsgen::rnn_constant<%dLL - 1>()", v+1)
	}
	return fmt.Sprintf("hlsgen::rnn_constant<%dLL>()", v)
}
