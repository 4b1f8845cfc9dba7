package operatorlevel

import (
	"fmt"
	"math/bits"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// Header returns the C++ of a graph, as a header that takes the place of the instance's own: it has the same name and
// function. It spells products, sums, maxima and comparisons with operators of C++. For minifloats, requantisers and
// step functions it calls hlslib/core. The kind's own header reads sizes from a config; this one contains their values.
func (g *Graph) Header(i dataflow.KernelInstance) string {
	s := &speller{g: g, texts: map[ID]string{}, i: i}
	s.kernel()
	guard := "HLSGEN_" + strings.ToUpper(strings.TrimSuffix(i.Header, ".hpp")) + "_HPP"
	return fmt.Sprintf(`#ifndef %s
#define %s

#include <ap_int.h>
#include <hls_stream.h>

#include "core/mac.hpp"
#include "core/memory.hpp"

namespace hlsgen {

%s
} // namespace hlsgen

#endif
`, guard, guard, s.b.String())
}

// A speller spells a graph.
type speller struct {
	g     *Graph
	i     dataflow.KernelInstance
	b     strings.Builder
	depth int
	texts map[ID]string // expressions, of the row pe and the column i
}

// line writes a line of code.
func (s *speller) line(format string, args ...any) {
	fmt.Fprintf(&s.b, "%s%s\n", strings.Repeat("    ", s.depth), fmt.Sprintf(format, args...))
}

// pragma writes a pragma.
func (s *speller) pragma(format string, args ...any) {
	fmt.Fprintf(&s.b, "#pragma HLS %s\n", fmt.Sprintf(format, args...))
}

// loop writes a loop that is unrolled, and what body writes in it.
func (s *speller) loop(label, head string, body func()) {
	s.line("%s_loop: for (%s) {", label, head)
	s.pragma("UNROLL")
	s.depth++
	body()
	s.depth--
	s.line("}")
}

// elem returns the C++ of an element's type.
func elem(t num.Type) string {
	switch {
	case t.IsMinifloat():
		return fmt.Sprintf("minifloat<%d, %d, %t>", t.Width, t.Mantissa, t.Kind == num.KindFloat)
	case t.Kind == num.KindBipolar:
		return "bipolar"
	case t.IsSigned():
		return fmt.Sprintf("ap_int<%d>", t.Width)
	}
	return fmt.Sprintf("ap_uint<%d>", t.Width)
}

// number returns the C++ of the type that holds an operator's values.
func (o *Operator) number() string { return elem(num.NarrowestIntTypeFor(o.Range)) }

// counter returns the end of the names of the counter of the levels from to to together.
func counter(from, to int) string {
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d_%d", from, to)
}

// kernel writes the function.
func (s *speller) kernel() {
	var types, tables, names string
	for _, t := range s.i.Tables {
		types += ", class T_" + t.Name
		tables += fmt.Sprintf(", const T_%s& %s", t.Name, t.Name)
		if t.Name != "weights" {
			names += ", " + t.Name
		}
	}
	s.line("template <class C%s>", types)
	s.line("void %s(hls::stream<ap_uint<%d> >& in, hls::stream<ap_uint<%d> >& out%s) {", s.i.Func, s.g.In.Width(),
		s.g.Out.Width(), tables)
	s.pragma("INLINE")
	s.depth++
	counters := s.counters()
	for _, c := range counters {
		s.line("static ap_uint<%d> place%s; // 0 to %d", c.bits(), c.name, c.count-1)
		s.pragma("RESET variable=place%s", c.name)
		s.line("ap_uint<%d> at%s = place%s;", c.bits(), c.name, c.name)
	}
	s.statics()
	s.words()
	s.line("ap_uint<%d> y = 0;", s.g.Out.Width())
	s.loop("pe", fmt.Sprintf("int pe = 0; pe < %d; pe++", s.g.at(s.g.Result).Rows), func() { s.row(names) })
	s.line("%sout.write(y);", s.guard(s.g.Write))
	s.advance(counters, len(s.g.Trips)-1)
	for _, c := range counters {
		s.line("place%s = at%s;", c.name, c.name)
	}
	s.depth--
	s.line("}")
}

// A counterOf is a counter of some levels together.
type counterOf struct {
	name            string
	from, to, count int
}

// bits returns the bits of the counter.
func (c counterOf) bits() int { return bits.Len(uint(c.count - 1)) }

// counters lists the counters that the operators use, inner levels first.
func (s *speller) counters() (list []counterOf) {
	add := func(from, to int) {
		for from < to && s.g.Trips[from] == 1 {
			from++
		}
		for from < to && s.g.Trips[to] == 1 {
			to--
		}
		c := counterOf{counter(from, to), from, to, s.g.count(from, to)}
		for _, o := range list {
			if o == c {
				return
			}
		}
		if c.count > 1 {
			list = append(list, c)
		}
	}
	for level := len(s.g.Trips) - 1; level >= 0; level-- {
		add(level, level)
	}
	for i := range s.g.Operators {
		if o := &s.g.Operators[i]; o.Kind == Index {
			add(o.From, o.To)
		}
	}
	return list
}

// statics declares what an iteration keeps for later ones.
func (s *speller) statics() {
	for id := range s.g.Operators {
		switch o := &s.g.Operators[id]; o.Kind {
		case Keep:
			s.line("static ap_uint<%d> kept[%d];", s.g.In.Width(), o.Storage.Rows)
			s.pragma("RESET variable=kept off")
			s.line("bind_memory(kept, memory<C::vector_memory>());")
		case RunningSum:
			s.line("static %s before[%d];", o.number(), o.Rows)
			s.pragma("RESET variable=before off")
			s.pragma("ARRAY_PARTITION variable=before complete dim=1")
		case RunningGreatest:
			s.line("static %s before[%d];", elem(s.g.Out.Elem), o.Rows)
			s.pragma("RESET variable=before off")
			s.pragma("ARRAY_PARTITION variable=before complete dim=1")
		}
	}
}

// guard returns the head of a statement that is executed if a condition holds, or nothing if it always does.
func (s *speller) guard(condition ID) string {
	if text := s.text(condition); text != "1" {
		return "if (" + text + ") "
	}
	return ""
}

// words writes the reading of a word, and of what was kept.
func (s *speller) words() {
	reads := s.text(s.g.Read)
	if reads == "1" {
		s.line("if (in.empty()) return;")
		s.line("const ap_uint<%d> x = in.read();", s.g.In.Width())
		return
	}
	s.line("const bool reads = %s;", reads)
	s.line("if (reads && in.empty()) return;")
	s.line("ap_uint<%d> x;", s.g.In.Width())
	for i := range s.g.Operators {
		if o := &s.g.Operators[i]; o.Kind == Keep {
			s.line("if (reads) kept[%s] = x = in.read();", s.text(o.Args[2]))
			s.line("else x = kept[%s];", s.text(o.Args[2]))
		}
	}
}

// text returns the expression of an operator's value in row pe and column i.
func (s *speller) text(id ID) string {
	if text, ok := s.texts[id]; ok {
		return text
	}
	text := s.expression(s.g.at(id))
	s.texts[id] = text
	return text
}

// expression spells an operator that needs no statement of its own.
func (s *speller) expression(o *Operator) string {
	switch o.Kind {
	case Constant:
		return fmt.Sprint(o.Offset)
	case Index:
		return s.index(o.From, o.To)
	case First, Last:
		if s.g.count(o.From, o.To) == 1 {
			return "1"
		}
		at := 0
		if o.Kind == Last {
			at = s.g.count(o.From, o.To) - 1
		}
		return fmt.Sprintf("%s == %d", s.index(o.From, o.To), at)
	case Word:
		return fmt.Sprintf("get<%s >(x, %s)", elem(s.g.In.Elem), place(o))
	case Keep:
		return s.text(o.Args[0])
	case Row:
		return fmt.Sprintf("mac_read<C>(weights[%s], %s)", s.text(o.Args[0]), place(&Operator{Row: o.Cols, Column: 1,
			Rows: o.Rows, Cols: o.Cols}))
	case Product, Match:
		return fmt.Sprintf("mac_product<%s, %s, %t>::of(%s, %s)", elem(o.Factors[0]), elem(o.Factors[1]), o.DSP,
			s.text(o.Args[0]), s.text(o.Args[1]))
	case Requantise:
		return fmt.Sprintf("mac_summand<C>::of(%s)", s.text(o.Args[0]))
	case Affine:
		return fmt.Sprintf("%d * %s - %d", o.Factor, s.text(o.Args[0]), -o.Offset)
	}
	panic(fmt.Sprint("operatorlevel: no expression for kind ", o.Kind))
}

// index returns the expression of the index of some levels together.
func (s *speller) index(from, to int) string {
	if s.g.count(from, to) == 1 {
		return "0"
	}
	for from < to && s.g.Trips[from] == 1 {
		from++
	}
	for from < to && s.g.Trips[to] == 1 {
		to--
	}
	return "at" + counter(from, to)
}

// place returns the expression of an element's place in a word.
func place(o *Operator) string {
	var terms []string
	for _, t := range []struct {
		name        string
		step, count int
	}{{"pe", o.Row, o.Rows}, {"i", o.Column, o.Cols}} {
		switch {
		case t.step == 0 || t.count == 1:
		case t.step == 1:
			terms = append(terms, t.name)
		default:
			terms = append(terms, fmt.Sprintf("%s * %d", t.name, t.step))
		}
	}
	if len(terms) == 0 {
		return "0"
	}
	return strings.Join(terms, " + ")
}

// row writes what is computed for row pe. tables names the tables of step functions.
func (s *speller) row(tables string) {
	for id := range s.g.Operators {
		o := &s.g.Operators[id]
		switch o.Kind {
		case Sum:
			s.sum(ID(id), o)
		case Greatest:
			s.greatest(ID(id), o)
		case RunningSum, RunningGreatest:
			s.running(ID(id), o)
		case Steps:
			row := "0, 0"
			if !field[bool](s.i, "shared") {
				row = fmt.Sprintf("int(%s), pe", s.text(o.Args[1]))
			}
			s.texts[ID(id)] = fmt.Sprintf("apply_steps<C>(%s, %s%s)", s.text(o.Args[0]), row, tables)
		}
	}
	s.line("put(y, pe, %s(%s));", elem(s.g.Out.Elem), s.text(s.g.Result))
}

// sum writes the sum over all columns.
func (s *speller) sum(id ID, o *Operator) {
	term := s.text(o.Args[0])
	if s.g.at(o.Args[0]).Kind == Word {
		term = "number(" + term + ")"
	}
	if s.g.at(o.Args[0]).Cols == 1 {
		s.line("const %s sum = %s;", o.number(), term)
		s.texts[id] = "sum"
		return
	}
	s.line("%s sum = 0;", o.number())
	s.loop("sum", fmt.Sprintf("int i = 0; i < %d; i++", s.g.at(o.Args[0]).Cols), func() { s.line("sum += %s;", term) })
	s.texts[id] = "sum"
}

// greatest writes the maximum over all columns, by a tree.
func (s *speller) greatest(id ID, o *Operator) {
	t, n := elem(s.g.In.Elem), s.g.at(o.Args[0]).Cols
	if n == 1 {
		s.line("const %s peak = %s;", t, s.text(o.Args[0]))
		s.texts[id] = "peak"
		return
	}
	s.line("%s peak[%d];", t, n)
	s.pragma("ARRAY_PARTITION variable=peak complete dim=1")
	s.loop("get", fmt.Sprintf("int i = 0; i < %d; i++", n), func() { s.line("peak[i] = %s;", s.text(o.Args[0])) })
	s.loop("level", fmt.Sprintf("int step = 1; step < %d; step *= 2", n), func() {
		s.loop("join", fmt.Sprintf("int i = 0; i < %d - step; i += 2 * step", n), func() {
			s.line("if (exceeds(peak[i + step], peak[i])) peak[i] = peak[i + step];")
		})
	})
	s.texts[id] = "peak[0]"
}

// running writes what an iteration adds to the one before.
func (s *speller) running(id ID, o *Operator) {
	again := "!(" + s.text(o.Args[1]) + ")"
	if o.Kind == RunningSum {
		s.line("%s total = %s;", o.number(), s.text(o.Args[0]))
		s.line("if (%s) total += before[pe];", again)
	} else {
		s.line("%s total = %s;", elem(s.g.Out.Elem), s.text(o.Args[0]))
		s.line("if (%s && exceeds(before[pe], total)) total = before[pe];", again)
	}
	s.line("before[pe] = total;")
	s.texts[id] = "total"
}

// advance writes the position of the next iteration. A level counts when all levels within it begin again.
func (s *speller) advance(counters []counterOf, level int) {
	if level < 0 {
		return
	}
	own := false
	for _, c := range counters {
		if c.to != level {
			continue
		}
		if c.from < level {
			s.line("at%s = at%s == %d ? ap_uint<%d>(0) : ap_uint<%d>(at%s + 1);", c.name, c.name, c.count-1, c.bits(),
				c.bits(), c.name)
			continue
		}
		own = true
	}
	if !own {
		s.advance(counters, level-1)
		return
	}
	s.line("if (at%d != %d) {", level, s.g.Trips[level]-1)
	s.depth++
	s.line("at%d += 1;", level)
	s.depth--
	s.line("} else {")
	s.depth++
	s.line("at%d = 0;", level)
	s.advance(counters, level-1)
	s.depth--
	s.line("}")
}
