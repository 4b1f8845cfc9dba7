package rtl

import (
	"fmt"

	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// loadPorts are the ports of a module with loaded tables: words come in, and words for later modules go on.
var loadPorts = []string{"input  logic load_begin", "input  logic load_write",
	fmt.Sprintf("input  logic [%d:0] load_word", circuit.TableLoadWordBits-1), "output logic on_begin",
	"output logic on_write",
	fmt.Sprintf("output logic [%d:0] on_word", circuit.TableLoadWordBits-1)}

// loads writes the loading of a module's tables, one after the other. Each table takes the words that it has room for,
// and passes on the words after these.
func loads(s *speller, assign func(format string, a ...any)) {
	from := "load"
	for k, t := range s.m.Memories {
		if !t.Loaded {
			continue
		}
		name := s.memory(k)
		high := addressBits(t.Rows) - 1
		s.line(0, fmt.Sprintf("logic %[1]s_begin, %[1]s_write, %[1]s_put;", name))
		s.line(0, fmt.Sprintf("logic [%d:0] %s_word;", circuit.TableLoadWordBits-1, name))
		s.line(0, fmt.Sprintf("logic [%d:0] %s_at;", high, name))
		s.line(0, fmt.Sprintf("logic [%d:0] %s_new;", t.Width-1, name))
		s.line(0, fmt.Sprintf("hlsgen_load #(.WIDTH(%d), .ROWS(%d)) %s_load (.clk(clk), .rst(rst), "+
			".begin_in(%s_begin), "+
			".write_in(%s_write), .word_in(%s_word), .begin_out(%s_begin), .write_out(%s_write), .word_out(%s_word), "+
			".put(%s_put), .at(%s_at), .row(%s_new));", t.Width, t.Rows, name, from, from, from, name, name, name, name,
			name, name))
		at := name + "_at"
		if t.Rows == 1 {
			at = "0"
			s.partly[fmt.Sprintf("logic [0:0] %s_at;", name)] = true
		}
		s.clock(0, fmt.Sprintf("if (%s_put) %s[%s] <= %s_new;", name, name, at, name))
		from = name
	}
	if from == "load" {
		return
	}
	for _, what := range []string{"begin", "write", "word"} {
		assign("on_%s = %s_%s", what, from, what)
	}
}

// A LoadedTable is a table of a network that is loaded at run time.
type LoadedTable struct {
	Layer, Name string
	memory      *circuit.RowMemory
}

// WordsToLoad returns the words of 32 bits that load the table's rows.
func (t LoadedTable) WordsToLoad() []uint32 {
	elem, rows := t.memory.Data()
	words := make([]uint32, 0, t.WordsToLoadCount())
	for _, row := range rows {
		at := len(words)
		words = append(words, make([]uint32, t.parts())...)
		for i, v := range row {
			code := elem.EncodeBits(v)
			for bit := range elem.Width {
				place := i*elem.Width + bit
				words[at+place/circuit.TableLoadWordBits] |= uint32(code>>bit&1) << (place % circuit.TableLoadWordBits)
			}
		}
	}
	return words
}

// WordsToLoadCount returns the number of words by which the table is loaded.
func (t LoadedTable) WordsToLoadCount() int { return t.memory.Rows * t.parts() }

// parts returns the number of words of 32 bits that a row of the table takes.
func (t LoadedTable) parts() int {
	return (t.memory.Width + circuit.TableLoadWordBits - 1) / circuit.TableLoadWordBits
}

// InitialContentsPath returns the path of the file with the initial contents of the table, in a project whose top has
// the given name.
func (t LoadedTable) InitialContentsPath(top string) string {
	return "rtl/tables/" + top + "_" + t.Layer + "_" + t.Name + ".mem"
}

// LoadedTables returns the network's tables that are loaded at run time, in loading order.
func (n *Network) LoadedTables() []LoadedTable { return n.loaded }

// LoadedTablesOf returns the tables that are loaded at run time, in loading order, for the network that New would make
// of a design. It does not generate the network's text.
func LoadedTablesOf(d *dataflow.Design) (list []LoadedTable) {
	for i, node := range d.Model.Graph.Nodes {
		if l, ok := node.Op.(dataflow.HasLoadableWeights); ok && l.Loads() {
			m := node.Op.(dataflow.HasCircuit).Circuit(d.Folds[i], d.Target)
			list = append(list, tables(node.Name, m)...)
		}
	}
	return list
}

// tables returns the tables of a layer that are loaded at run time. layer is its name and m its circuit.
func tables(layer string, m *circuit.Module) (list []LoadedTable) {
	for _, t := range m.LoadableTables() {
		list = append(list, LoadedTable{layer, t.Name, t})
	}
	return list
}

// load adds a layer to the chain along which tables are loaded, and returns the connections of its module to the chain.
func (v *topView) load(layer string) (connections []string) {
	from := "load"
	if n := len(v.Loads); n > 0 {
		from = "load_" + v.Loads[n-1]
	}
	v.Loads, v.Loaded = append(v.Loads, layer), "load_"+layer
	for _, what := range []string{"begin", "write", "word"} {
		connections = append(connections, fmt.Sprintf(".load_%s(%s_%s)", what, from, what))
	}
	for _, what := range []string{"begin", "write", "word"} {
		connections = append(connections, fmt.Sprintf(".on_%s(load_%s_%s)", what, layer, what))
	}
	return connections
}

// addressBits returns the width of an address among the given rows, at least one bit.
func addressBits(rows int) int {
	n := 1
	for 1<<n < rows {
		n++
	}
	return n
}

// loadLibrary returns the files of the module that loads tables.
func loadLibrary() templates.ProjectFiles {
	text, err := loadFiles.ReadFile("load/hlsgen_load.sv")
	if err != nil {
		panic("rtl: embedded files: " + err.Error())
	}
	return templates.ProjectFiles{{Path: "rtl/shared/hlsgen_load.sv", Data: text}}
}
