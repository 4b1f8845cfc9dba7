// Package vivado writes what leads from the IP of an accelerator to a bitstream: for a Zynq a block design with the PS
// and a mover per stream, for a card behind PCI Express kernels and how they are linked.
//
//	vivado.go              the files
//	system.go              the design: movers, their addresses, which port of the memory each has
//	block.go               the same as cells, wires and links of a block design
//	clock.go               the clock that the PS's dividers give
//	alveo.go               the same as kernels
//	block_design.tcl.tpl   makes the block design and its bitstream
//	package.tcl.tpl        packs the movers as IPs
//	package_xo.tcl.tpl     packs movers and accelerator as kernels
//	mover.v.tpl            the top of a mover's IP, in Verilog, as Vivado wants it
//	kernel.xml.tpl         what XRT has to know of a kernel
//	link.cfg.tpl           how v++ links them
//	Makefile.tpl           runs all that
//
// Texts run under tclsh in tests, where testdata/vivado.tcl is Vivado and testdata/table.tcl says what that knows, with
// a source for each row; from the calls comes a graph, which is checked.
//
// In comes a Design, out come Files and a table of addresses. It sees templates, deploy, mover, boards and dataflow.
package vivado

import (
	"embed"
	"fmt"

	"hlsgen/boards"
	"hlsgen/templates"
	"hlsgen/templates/mover"
)

//go:embed *.tpl
var sources embed.FS

// A Flow is what makes the accelerator's IP.
type Flow string

// The flows: Vitis HLS layer by layer, and SystemVerilog.
const (
	HLS Flow = "hls"
	RTL Flow = "rtl"
)

// Folder is what the Makefile makes files in. A bitstream takes long, so that it stays when a project is made again.
const Folder = "vivado/build"

// ip is where the flow's own Makefile puts the IP, from the folder vivado.
func (f Flow) ip(top string) string {
	if f == RTL {
		return "../rtl/build/ip/" + top
	}
	return "../hls/build.ip/" + top + "_ip"
}

// made is what the IP is made of, as patterns of make.
func (f Flow) made() string {
	if f == RTL {
		return "../rtl/*.sv ../rtl/layers/* ../rtl/lib/* ../rtl/tables/* ../rtl/ip/*"
	}
	return "../hls/*.hpp ../hls/layers/* ../hls/tables/* ../hls/ip/* ../hls/rtl/*"
}

// A makeView is what the Makefile's template shows.
type makeView struct {
	*System
	Flows []flowView
	Card  bool
}

// A flowView is a flow with the IP that it makes, and of what.
type flowView struct{ Flow, IP, Made string }

// Files are the files of the folder vivado, for an accelerator whose IP any of the flows makes; the first is taken
// where nobody says which.
func (s *System) Files(flows ...Flow) (templates.Files, error) {
	flow := flows[0]
	var files templates.Files
	for _, f := range mover.Files() {
		files = append(files, templates.File{Path: "vivado/ip/" + f.Path, Data: f.Data})
	}
	add := func(path, template string, view any) error {
		text, err := templates.Render(sources, template, view)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, templates.File{Path: "vivado/" + path, Data: text})
		return nil
	}
	card := s.Board.PS == boards.NoPS
	view := makeView{System: s, Card: card}
	for _, f := range flows {
		view.Flows = append(view.Flows, flowView{string(f), f.ip(s.Top), f.made()})
	}
	if err := add("Makefile", "Makefile.tpl", view); err != nil {
		return nil, err
	}
	if !card {
		if err := add("block_design.tcl", "block_design.tcl.tpl", s.block(flow)); err != nil {
			return nil, err
		}
		for _, top := range tops() {
			if err := add("ip/"+top.Name+".v", "mover.v.tpl", top); err != nil {
				return nil, err
			}
		}
		return files, add("ip/package.tcl", "package.tcl.tpl", s)
	}
	if err := add("link.cfg", "link.cfg.tpl", s.card(flow)); err != nil {
		return nil, err
	}
	if err := add("package_xo.tcl", "package_xo.tcl.tpl", s.card(flow)); err != nil {
		return nil, err
	}
	for _, k := range s.kernels() {
		if err := add("kernels/"+k.Name+".xml", "kernel.xml.tpl", k); err != nil {
			return nil, err
		}
	}
	for _, m := range s.Movers {
		if err := add("kernels/"+m.KernelName()+".v", "mover.v.tpl", top(m.KernelName(), m.Config)); err != nil {
			return nil, err
		}
	}
	return files, nil
}
