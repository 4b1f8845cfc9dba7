// Package axi writes a simulation of an accelerator behind its data movers: the SystemVerilog of both in Verilator,
// with a memory that answers late, as a library that drivers take for a device.
//
//	axi.go         the files
//	axi.sv.tpl     the accelerator joined to a mover per stream
//	lib.cpp.tpl    the library: the memory, the host that writes registers, the bytes of frames
//	Makefile.tpl   builds it
//
// In comes a System of package vivado, out come Files. It sees templates, vivado, mover and dataflow.
package axi

import (
	"embed"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/mover"
	"hlsgen/templates/vivado"
)

//go:embed *.tpl
var sources embed.FS

// A moverView is a mover as templates show it.
type moverView struct {
	Name, IP, Stream, TDATA string // TDATA is the highest bit of the stream's word
	Write, Packets          bool   // Packets: the accelerator's stream has TLAST
	Params                  []mover.Parameter
	High, Strobe, Bytes     string // of the memory's word: the highest bit, the highest strobe, its bytes
	FrameBytes              string
}

// A weightsView is a mover of weights: by number, with the accelerator's stream.
type weightsView struct{ Number, Stream string }

type view struct {
	Top    string
	Movers []moverView

	Registers []templates.PortView // the accelerator's slave; Decl is as a port of the top
	Frames    string               // how many movers carry frames
	Weights   []weightsView        // the movers behind these, of weights that come with every frame
	Loader    string               // the number of the one that fills tables; empty where there is none
}

// Files are those of the folder rtl/axi, of the system of a design.
func Files(s *vivado.System, d *dataflow.Design) (templates.Files, error) {
	v := view{Top: s.Top}
	if s.Registers != nil {
		for _, p := range s.Registers.Ports() {
			decl := strings.Replace(p.Decl, " "+p.Name, " accelerator_"+p.Name, 1)
			v.Registers = append(v.Registers, templates.PortView{Name: p.Name, Decl: decl})
		}
	}
	l, inputs := d.Model.Lengths, 0
	for _, m := range s.Movers {
		n := moverView{Name: m.Name, IP: m.Module(), Stream: m.Stream, TDATA: strconv.Itoa(8*m.StreamBytes - 1),
			Write: m.Writes, Params: m.Parameters(), High: strconv.Itoa(m.DataBits - 1),
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
	var files templates.Files
	for _, f := range []string{s.Top + "_axi.sv", "lib.cpp", "Makefile"} {
		name := f + ".tpl"
		if strings.HasSuffix(f, ".sv") {
			name = "axi.sv.tpl"
		}
		text, err := templates.Render(sources, name, v)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.File{Path: "rtl/axi/" + f, Data: text})
	}
	return files, nil
}
