package rtltest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"hlsgen/templates"
)

// Patterns of a process's prototype and its arguments in C++, and of the arguments in its synthesis script.
var (
	prototype = regexp.MustCompile(`(?m)^void (\w+)\((.*)\);$`)
	argument  = regexp.MustCompile(`hls::stream<(ap_uint<(\d+)>|ap_axiu<(\d+), 0, 0, 0>)>& (\w+)`)
	script    = regexp.MustCompile(`(?m)^    (\w+) (axis|ap_fifo) \{`)
)

// An end is an argument of a process, as its C++ and its synthesis script describe it.
type end struct {
	name         string
	width        int
	writes, axis bool
	packet       bool
}

// ends returns the arguments of a process, from list, the parameters of its C++ function, and from its script.
func ends(files templates.ProjectFiles, name, list string) (all []end, err error) {
	mode := map[string]string{}
	for _, m := range script.FindAllSubmatch(files.ContentsOf("hls/ip/"+name+".tcl"), -1) {
		mode[string(m[1])] = string(m[2])
	}
	for _, m := range argument.FindAllStringSubmatch(list, -1) {
		e := end{name: m[4], writes: strings.HasPrefix(m[4], "out"), axis: mode[m[4]] == "axis", packet: m[3] != ""}
		if e.width, err = strconv.Atoi(m[2] + m[3]); err != nil || mode[e.name] == "" {
			return nil, fmt.Errorf("%s: argument %s, %v", name, e.name, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// standIns returns a stand-in module for every process of a project, and the C++ that they call.
func standIns(files templates.ProjectFiles) (list templates.ProjectFiles, err error) {
	cpp := "#include \"layers.cpp\"\n\n#include \"process.hpp\"\n\nextern \"C\" {\n"
	for _, m := range prototype.FindAllSubmatch(files.JoinProcessFiles(".hpp"), -1) {
		name := string(m[1])
		all, err := ends(files, name, string(m[2]))
		if err != nil {
			return nil, err
		}
		sv, c := standIn(name, all)
		cpp += c
		list = append(list, templates.GeneratedFile{Path: "hls/rtl/" + name + ".sv", Data: []byte(sv)})
	}
	return append(list, templates.GeneratedFile{Path: "hls/dpi.cpp", Data: []byte(cpp + "}\n")}), nil
}

// standIn returns a module, and the C++ function that it calls once per clock, half a clock before its ports are
// read.
func standIn(name string, all []end) (sv, cpp string) {
	reset, rst := "ap_rst", "ap_rst"
	var ports, imports, call, params, state, show, args, collect, busy, give []string
	add := func(list *[]string, format string, a ...any) { *list = append(*list, fmt.Sprintf(format, a...)) }
	port := func(e end, suffix string, width int, in bool) {
		direction, dpi, c := "output", "output", "svBitVecVal* "
		if in {
			direction, dpi, c = "input ", "input", "const svBitVecVal* "
		}
		add(&ports, "%s logic [%d:0] %s_%s", direction, width-1, e.name, suffix)
		add(&imports, "%s bit [%d:0] %s_%s", dpi, width-1, e.name, suffix)
		add(&call, "%s_%s", e.name, suffix)
		add(&params, "%s%s_%s", c, e.name, suffix)
	}
	for _, e := range all {
		word := fmt.Sprintf("ap_uint<%d>", e.width)
		if e.packet {
			word = fmt.Sprintf("ap_axiu<%d, 0, 0, 0>", e.width)
		}
		data, there, move := "dout", "empty_n", "read"
		if e.writes {
			data, there, move = "din", "full_n", "write"
		}
		if e.axis {
			reset, rst = "ap_rst_n", "!ap_rst_n"
			data, there, move = "TDATA", "TVALID", "TREADY"
		}
		if e.axis && e.writes {
			there, move = "TREADY", "TVALID"
		}
		port(e, data, e.width, !e.writes)
		port(e, there, 1, true)
		port(e, move, 1, false)
		if e.packet {
			port(e, "TKEEP", e.width/8, !e.writes)
			port(e, "TSTRB", e.width/8, !e.writes)
			port(e, "TLAST", 1, !e.writes)
		}
		add(&args, "%s.words", e.name)
		if e.writes {
			add(&state, "static writer<%s> %s;", word, e.name)
			add(&busy, "!%s.waits", e.name)
			add(&collect, "%s.collect();", e.name)
			value := e.name + ".word"
			if e.packet {
				value += ".data"
				add(&give, "bits_of<%d>(%s.word.keep, %[2]s_TKEEP);", e.width/8, e.name)
				add(&give, "bits_of<%d>(%s.word.strb, %[2]s_TSTRB);", e.width/8, e.name)
				add(&give, "%s_TLAST[0] = %[1]s.word.last == 1;", e.name)
			}
			add(&give, "bits_of<%d>(%s, %s_%s);", e.width, value, e.name, data)
			if e.axis { // TVALID must not wait for TREADY
				add(&give, "%s_TVALID[0] = %[1]s.waits;", e.name)
				add(&give, "%s.leaves(%[1]s_TREADY[0] & 1);", e.name)
			} else {
				add(&give, "%s_write[0] = %[1]s.leaves(%[1]s_full_n[0] & 1);", e.name)
			}
			continue
		}
		add(&state, "static reader<%s> %s;", word, e.name)
		value := fmt.Sprintf("word_of<%d>(%s_%s)", e.width, e.name, data)
		if e.packet {
			add(&show, "%s %s_word; %[2]s_word.data = %s; %[2]s_word.last = %[2]s_TLAST[0] & 1;", word, e.name, value)
			value = e.name + "_word"
		}
		add(&show, "%s.show(%s, %[1]s_%[3]s[0] & 1);", e.name, value, there)
		add(&give, "%s_%s[0] = %[1]s.taken();", e.name, move)
	}
	sv = fmt.Sprintf("module %s (\n    input logic ap_clk,\n    input logic %s,\n    %s\n);\n"+
		"    import \"DPI-C\" function void %[1]s_clock(%[4]s);\n"+
		"    always @(negedge ap_clk) if (!(%[5]s)) %[1]s_clock(%[6]s);\nendmodule\n", name, reset,
		strings.Join(ports, ",\n    "), strings.Join(imports, ", "), rst, strings.Join(call, ", "))
	if busy == nil {
		busy = []string{"true"}
	}
	cpp = fmt.Sprintf("void %s_clock(%s) {\n    %s\n    if (%s) {\n        %s\n        %[1]s(%[6]s);\n"+
		"        %[7]s\n    }\n    %[8]s\n}\n\n", name, strings.Join(params, ", "), strings.Join(state, "\n    "),
		strings.Join(busy, " && "), strings.Join(show, "\n        "), strings.Join(args, ", "),
		strings.Join(collect, "\n        "),
		strings.Join(give, "\n    "))
	return sv, cpp
}
