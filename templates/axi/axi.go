// Package axi writes a simulation of an accelerator behind its data movers: the SystemVerilog of both in Verilator,
// with a memory that answers late, as a library that drivers take for a device.
//
//	axi.go         the files
//	axi.sv.tpl     the accelerator joined to a mover per stream
//	lib.cpp.tpl    the library: the memory, the host that writes registers, the bytes of frames
//	Makefile.tpl   builds it
//
// In comes a System of package vivado, out come Files. It sees templates, vivado and dataflow.
package axi

import (
	"embed"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/vivado"
)

//go:embed *.tpl
var sources embed.FS

// A moverView is a mover as templates show it.
type moverView struct {
	Name, IP, Stream, TDATA                  string // TDATA is the highest bit of the stream's word
	Write, Packets                           bool   // Packets: the accelerator's stream has TLAST
	DataBits, High, Strobe                   string // of the memory's word: bits, the highest one, the highest strobe
	StreamBytes, MaxBeats, Outstanding, Last string // Last is STEPS of a mover that writes
	FrameBytes, Hash, Bytes, Number          string
}

type view struct {
	Top     string
	Movers  []moverView
	Readers []moverView
	Writers []moverView

	Registers []templates.PortView // the accelerator's slave; Decl is as a port of the top
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
	l := d.Model.Lengths
	for _, m := range s.Movers {
		n := moverView{Name: m.Name, IP: m.IP(), Stream: m.Stream, TDATA: strconv.Itoa(8*m.StreamBytes - 1),
			Write: m.Write, DataBits: strconv.Itoa(m.DataBits), High: strconv.Itoa(m.DataBits - 1),
			Strobe: strconv.Itoa(m.DataBits/8 - 1), StreamBytes: strconv.Itoa(m.StreamBytes),
			MaxBeats: strconv.Itoa(m.MaxBeats), Outstanding: strconv.Itoa(m.Outstanding), Last: strconv.Itoa(m.Steps),
			FrameBytes: strconv.Itoa(m.FrameBytes), Hash: m.Hash, Bytes: strconv.Itoa(m.DataBits / 8)}
		list := &v.Readers
		if m.Write {
			list = &v.Writers
		}
		n.Packets = m.Write || l != nil && l.In[len(v.Readers)] >= 0
		n.Number = strconv.Itoa(len(*list))
		*list, v.Movers = append(*list, n), append(v.Movers, n)
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
