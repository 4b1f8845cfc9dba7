// Package rtl spells circuits in SystemVerilog: a module per layer, the top that joins them, and a bench.
//
// The text uses only features that Verilator, Yosys 0.23 and Vivado all read. It has no ports or variables with two
// packed dimensions, no functions with user types, and no return. Every operand of an operation has the width of the
// result, so the language's rules about widths and signs do not matter.
//
// In come circuits (internal/circuit) and designs; out come files.
//
//	module.go     a circuit as a module: its ports, stages, registers
//	spell.go      operations; lookup.go, tables of bits; names.go, the names of values
//	parts.go      large circuits as several modules
//	load.go       loaded tables; external.go, weights that come with every frame
//	network.go    the top; lib/ has the modules that depend on no design; sequences.go, the ends of sequences
//	registers.go  the registers behind AXI4-Lite, such as counters; registers/ has their modules
//	wrapper.go    tops around the network: one that checks packets, one for Vivado's IP packager
//	uart.go       a top with a UART at both ends of the network
//	family.go     the programs that make a bitstream, and the Makefile
//	netlist.go    the network as a netlist of Yosys' cells
//	bench.go      a bench for Verilator, with its C++ in bench/; verilator.go and units.go compile and run it,
//	              events.go reads its output
package rtl

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/circuit"
	"hlsgen/templates"
)

// GenerateLayerFiles returns the SystemVerilog files of a layer: its module, and the tables that it reads. The layer's
// name must be an identifier, as the circuit's names are. about is a comment.
func GenerateLayerFiles(name, about string, m *circuit.Module) templates.ProjectFiles {
	return layer(name, about, m, nil)
}

// layer returns the files of GenerateLayerFiles for a module with further outputs. These say in which clocks the module
// waits at the ports named in waits.
func layer(name, about string, m *circuit.Module, waits []string) templates.ProjectFiles {
	var files templates.ProjectFiles
	var text strings.Builder
	var functions []*circuit.Module
	m = parted(m, partBits)
	collect(m, &functions)
	for _, f := range functions {
		s := speller{m: f, module: name + "_" + f.Name, prefix: name + "_"}
		s.function(&text)
		files = append(files, templates.GeneratedFile{Path: "rtl/layers/" + s.module + ".sv",
			Data: []byte(text.String())})
		text.Reset()
	}
	s := speller{m: m, module: name, prefix: name + "_", waits: waits}
	fmt.Fprintf(&text, "// %s: %s\n", name, about)
	s.layer(&text)
	files = append(files, templates.GeneratedFile{Path: "rtl/layers/" + name + ".sv", Data: []byte(text.String())})
	for _, of := range append(functions, m) {
		for _, t := range of.Memories {
			if t.Data != nil {
				files = append(files, templates.GeneratedFile{Path: s.table(t), Data: contents(t)})
			}
		}
	}
	return files
}

// collect appends all functions that a circuit calls to the list, each before its callers.
func collect(m *circuit.Module, list *[]*circuit.Module) {
	for _, c := range m.Calls {
		if !slices.Contains(*list, c.Function) {
			collect(c.Function, list)
			*list = append(*list, c.Function)
		}
	}
}

// contents returns the text of a table for $readmemh, one row per line.
func contents(t circuit.RowMemory) []byte {
	var text []byte
	elem, rows := t.Data()
	for _, row := range rows {
		text = append(templates.AppendHexWord(text, elem, row), '\n')
	}
	return text
}

// A speller writes the module of a circuit in SystemVerilog.
type speller struct {
	m      *circuit.Module
	module string
	prefix string // begins the names of functions and files
	waits  []string
	names  []string
	inline []bool             // by node: its name is an expression, which needs no declaration
	shown  [][]circuit.NodeID // by stage: the declared nodes
	partly map[string]bool    // declarations of values with bits that nobody reads
	open   map[string]bool    // calls of functions with results that nobody reads
	tables []table            // tables of lookups that need macros
	body
	readers
}

// table returns the path of the file with a table's contents, relative to the project.
func (s *speller) table(t circuit.RowMemory) string {
	return "rtl/tables/" + s.prefix + t.Name + ".mem"
}

// layer writes the module of a layer.
func (s *speller) layer(w *strings.Builder) {
	m := s.m
	s.spell()
	ports := []string{"input  logic clk", "input  logic rst"}
	s.partly = map[string]bool{ports[0]: !clocked(m)}
	for _, p := range m.In {
		word := fmt.Sprintf("input  logic [%d:0] %s_word", p.Width-1, p.Name)
		s.partly[word] = p.Word != circuit.NoNode && !s.read(p.Word)
		ports = append(ports, word, "input  logic "+p.Name+"_valid", "output logic "+p.Name+"_read")
	}
	for _, p := range m.Out {
		ports = append(ports, fmt.Sprintf("output logic [%d:0] %s_word", p.Width-1, p.Name),
			"output logic "+p.Name+"_write", "input  logic "+p.Name+"_room", "output logic "+p.Name+"_claim")
	}
	if len(m.LoadableTables()) > 0 {
		ports = append(ports, loadPorts...)
	}
	var last []string
	assign := func(format string, a ...any) { last = append(last, "assign "+fmt.Sprintf(format, a...)+";") }
	ports = append(ports, waiting(s, assign)...)
	fires := []string{"!rst"}
	for _, p := range m.In {
		when := s.whole(p.When)
		fires = append(fires, either(when, p.Name+"_valid"))
		assign("%s_read = %s", p.Name, both("fire", when))
	}
	for _, p := range m.Out {
		when := s.whole(p.When)
		fires = append(fires, either(when, p.Name+"_room"))
		assign("%s_claim = %s", p.Name, both("fire", when))
		assign("%s_word = %s", p.Name, s.whole(p.Word))
		assign("%s_write = %s", p.Name, s.whole(p.Moves))
	}
	loads(s, assign)
	assign("fire = %s", strings.Join(slices.DeleteFunc(fires, func(f string) bool { return f == "" }), " && "))
	s.write(w, ports, last)
}

// waiting adds outputs that say in which clocks the layer waits, and returns their declarations. An input starves if an
// iteration must read a missing word. An output stalls if all words of the iteration are there, but there is no room
// for the word that it writes.
func waiting(s *speller, assign func(format string, a ...any)) (ports []string) {
	if len(s.waits) == 0 {
		return nil
	}
	there := []string{"!rst"}
	for _, p := range s.m.In {
		if e := either(s.whole(p.When), p.Name+"_valid"); e != "" {
			there = append(there, e)
		}
	}
	for _, p := range s.m.In {
		if slices.Contains(s.waits, p.Name) {
			ports = append(ports, "output logic "+p.Name+"_starved")
			assign("%s_starved = %s", p.Name, both("!rst & !"+p.Name+"_valid", s.whole(p.When)))
		}
	}
	for _, p := range s.m.Out {
		if slices.Contains(s.waits, p.Name) {
			ports = append(ports, "output logic "+p.Name+"_stalled")
			assign("%s_stalled = %s", p.Name,
				both(strings.Join(there, " & ")+" & !"+p.Name+"_room", s.whole(p.When)))
		}
	}
	return ports
}

// either returns the expression that a port is ready if the iteration moves a word at it, or "" if it never does.
func either(when, there string) string {
	switch when {
	case "1'd1":
		return there
	case "1'd0":
		return ""
	}
	return "(!" + when + " || " + there + ")"
}

// both returns the expression that a and b hold, neither of which is empty. It simplifies the result if b is a
// constant.
func both(a, b string) string {
	switch b {
	case "1'd1":
		return a
	case "1'd0":
		return b
	}
	return a + " & " + b
}

// function writes the module of a function.
func (s *speller) function(w *strings.Builder) {
	m := s.m
	s.spell()
	s.partly = map[string]bool{}
	var ports []string
	if clocked(m) {
		ports = append(ports, "input  logic clk")
	}
	for k, id := range m.Pins {
		n := m.Nodes[id]
		pin := fmt.Sprintf("input  logic %s[%d:0] x%d", sign(n.Signed), n.Width-1, k)
		s.partly[pin] = !s.read(id)
		ports = append(ports, pin)
	}
	var last []string
	for k, id := range m.Results {
		n := m.Nodes[id]
		ports = append(ports, fmt.Sprintf("output logic %s[%d:0] y%d", sign(n.Signed), n.Width-1, k))
		last = append(last, fmt.Sprintf("assign y%d = %s;", k, s.whole(id)))
	}
	fmt.Fprintf(w, "// %s gives its result after %d clocks.\n", s.module, m.Stages)
	s.write(w, ports, last)
}

// clocked reports whether the module of a circuit needs a clock.
func clocked(m *circuit.Module) bool {
	return len(m.States) > 0 || slices.ContainsFunc(m.Memories,
		func(a circuit.RowMemory) bool { return !a.IsConstant() }) ||
		slices.ContainsFunc(m.Nodes, func(n circuit.Node) bool {
			return n.Op == circuit.OpDelayOneClock || n.Op == circuit.OpReadMemoryClocked || n.Op == circuit.OpMultiply
		}) || slices.ContainsFunc(m.Calls, func(c circuit.FunctionCall) bool { return clocked(c.Function) })
}

// sign returns the keyword for a signed value with a blank, or "" for an unsigned one.
func sign(signed bool) string {
	if signed {
		return "signed "
	}
	return ""
}

// write writes the module with the given ports from the stages and clocks that were collected, and the lines last.
func (s *speller) write(w *strings.Builder, ports, last []string) {
	fmt.Fprintf(w, "%smodule %s (\n", definitions(s.tables), s.module)
	for i, p := range ports {
		comma := ","
		if i == len(ports)-1 {
			comma = ""
		}
		s.partly[p+comma] = s.partly[p]
		s.statement(w, p+comma)
	}
	w.WriteString(");\n")
	s.memories(w)
	for _, list := range s.shown {
		for _, id := range list {
			s.partly[s.declaration(id)] = !s.read(id)
		}
	}
	for _, r := range s.m.States {
		s.partly[s.declaration(r.Node)] = !s.read(r.Node)
		s.statement(w, s.declaration(r.Node))
	}
	for i := range max(len(s.stages), len(s.clocks)) {
		if i < len(s.stages) && len(s.stages[i]) > 0 {
			fmt.Fprintf(w, "\n    // Stage %d\n", i)
			for _, line := range s.stages[i] {
				s.statement(w, line)
			}
		}
		if i < len(s.clocks) && len(s.clocks[i]) > 0 {
			w.WriteString("    always_ff @(posedge clk) begin\n")
			for _, line := range s.clocks[i] {
				fmt.Fprintf(w, "        %s\n", line)
			}
			w.WriteString("    end\n")
		}
	}
	w.WriteByte('\n')
	for _, line := range last {
		fmt.Fprintf(w, "    %s\n", line)
	}
	w.WriteString("endmodule\n")
}

// statement writes a line. For a declaration of a value with unread bits, and for a call with unread results, it
// switches off Verilator's warning.
func (s *speller) statement(w *strings.Builder, line string) {
	warning := ""
	switch {
	case s.partly[line]:
		warning = "UNUSEDSIGNAL"
	case s.open[line]:
		warning = "PINCONNECTEMPTY"
	default:
		fmt.Fprintf(w, "    %s\n", line)
		return
	}
	fmt.Fprintf(w, "    /* verilator lint_off %s */\n    %s\n    /* verilator lint_on %[1]s */\n", warning, line)
}

// memories writes the declarations of tables and arrays.
func (s *speller) memories(w *strings.Builder) {
	for k, t := range s.m.Memories {
		if t.Rows == 1 && !t.Loaded { // a register
			fmt.Fprintf(w, "    logic [%d:0] %s;\n", t.Width-1, s.memory(k))
			continue
		}
		kind, style := "ram", string(t.Style)
		if t.IsConstant() {
			kind = "rom"
		}
		switch {
		case t.Style == circuit.RegisterArrayStyle:
			style = "registers"
			w.WriteString("    (* ram_style = \"registers\" *)\n")
		case kind == "rom" && t.Style == circuit.DistributedRAMStyle: // Yosys 0.23 has no such style for a table
			w.WriteString("`ifdef YOSYS\n    (* rom_style = \"logic\" *)\n`else\n" +
				"    (* rom_style = \"distributed\" *)\n`endif\n")
		default:
			fmt.Fprintf(w, "    (* %s_style = %q *)\n", kind, style)
		}
		fmt.Fprintf(w, "    logic [%d:0] %s[0:%d];\n", t.Width-1, s.memory(k), t.Rows-1)
		if t.Data != nil {
			fmt.Fprintf(w, "    initial $readmemh(%q, %s);\n", strings.TrimPrefix(s.table(t), "rtl/"), s.memory(k))
		}
	}
}

// memory returns the name of the module's memory number k.
func (s *speller) memory(k int) string { return s.m.Memories[k].Name }
