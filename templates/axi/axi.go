// Package axi writes a simulation of an accelerator behind its data movers. Verilator compiles the SystemVerilog of
// both into a library that drivers use like a device. Its memory answers late.
//
//	axi.go         the files
//	axi.sv.tpl     the accelerator connected to a mover per stream
//	lib.cpp.tpl    the library: the memory, the host that writes registers, the bytes of frames
//	Makefile.tpl   compiles it
//
// In comes a System of package vivado, out come the files of its simulation.
package axi

import (
	"embed"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/mover"
	"hlsgen/templates/rtl"
	"hlsgen/templates/vivado"
)

// sources holds the templates of the files.
//
//go:embed *.tpl
var sources embed.FS

// A moverView holds what the templates need of one data mover, with all numbers as text.
type moverView struct {
	Name, IP, Stream, TDATA string // TDATA is the highest bit of the stream's word
	Write, Packets          bool   // Packets says that the accelerator's stream has TLAST
	Params                  []mover.ModuleParameter
	High, Strobe, Bytes     string // of the memory's word: highest bit, highest strobe, bytes
	FrameBytes              string
}

// A weightsView names a mover of weights by its number among the movers, and the accelerator's stream that it feeds.
type weightsView struct{ Number, Stream string }

// A view holds what the templates need: the accelerator's top, its movers and its registers.
type view struct {
	Top       string
	Movers    []moverView
	Verilator string // its flags

	Registers []templates.TopModulePort // ports of the accelerator's slave; Decl is as in a top
	Frames    string                    // number of movers that carry frames
	Weights   []weightsView             // the movers after these, for weights that come with every frame
	Loader    string                    // number of the mover that loads tables, or empty
}

// GenerateSimulationFiles returns the files of the folder rtl/axi, which simulate the design d behind the data movers
// of the system s.
func GenerateSimulationFiles(s *vivado.System, d *dataflow.Design) (templates.ProjectFiles, error) {
	v := view{Top: s.Top, Verilator: strings.Join(rtl.VerilatorFlags(), " ")}
	if s.Registers != nil {
		for _, p := range s.Registers.TopModulePorts() {
			decl := strings.Replace(p.Decl, " "+p.Name, " accelerator_"+p.Name, 1)
			v.Registers = append(v.Registers, templates.TopModulePort{Name: p.Name, Decl: decl})
		}
	}
	l, inputs := d.Model.Lengths, 0
	for _, m := range s.Movers {
		n := moverView{Name: m.Name, IP: m.ModuleName(), Stream: m.Stream, TDATA: strconv.Itoa(8*m.StreamBytes - 1),
			Write: m.Writes, Params: m.ModuleParameters(), High: strconv.Itoa(m.DataBits - 1),
			Strobe: strconv.Itoa(m.DataBits/8 - 1), FrameBytes: strconv.Itoa(m.FrameBytes),
			Bytes: strconv.Itoa(m.DataBits / 8)}
		loads := s.Registers != nil && m.Stream == s.Registers.Loader
		n.Packets = m.Writes || loads
		if !n.Packets && m.Passes == 0 {
			n.Packets = l != nil && l.In[inputs] >= 0
			inputs++
		}
		switch v.Movers = append(v.Movers, n); {
		case loads:
			v.Loader = strconv.Itoa(len(v.Movers) - 1)
		case m.Passes > 0:
			v.Weights = append(v.Weights, weightsView{strconv.Itoa(len(v.Movers) - 1), m.Stream})
		default:
			v.Frames = strconv.Itoa(len(v.Movers))
		}
	}
	var files templates.ProjectFiles
	for _, f := range []string{s.Top + "_axi.sv", "lib.cpp", "Makefile"} {
		name := f + ".tpl"
		if strings.HasSuffix(f, ".sv") {
			name = "axi.sv.tpl"
		}
		text, err := templates.RenderTemplate(sources, name, v)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/axi/" + f, Data: text})
	}
	return files, nil
}
