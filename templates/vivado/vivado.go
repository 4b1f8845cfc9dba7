// Package vivado writes the scripts that make a bitstream of an accelerator's IP. For a Zynq it writes a block design
// with the PS (the processor) and a data mover per stream. For a card behind PCI Express it writes kernels and their
// linking.
//
//	vivado.go              the files
//	system.go              the design: movers, their addresses and memory ports
//	block.go               the design as cells, wires and links of a block design, and as an app for a Kria module
//	clock.go               the clock that the PS's dividers give
//	alveo.go               the design as kernels
//	block_design.tcl.tpl   makes the block design and its bitstream
//	power.tcl.tpl          reports what the design consumes
//	package.tcl.tpl        packs the movers as IPs, and what joins their interrupts
//	package_xo.tcl.tpl     packs movers and accelerator as kernels
//	mover.v.tpl            the top of a mover's IP, in Verilog, as Vivado requires
//	concat.v.tpl           joins interrupts
//	app.dts.tpl            overlay of the device tree for an app
//	shell.json.tpl         describes an app for xmutil
//	kernel.xml.tpl         describes a kernel for XRT
//	link.cfg.tpl           the connections for v++
//	Makefile.tpl           runs all of these
//
// Tests run the scripts under tclsh. There testdata/vivado.tcl replaces Vivado, and testdata/table.tcl lists the
// facts about Vivado, each with its source. The calls build a graph, which the tests check.
//
// In comes a Design, out come the files and a table of addresses.
package vivado

import (
	"embed"
	"errors"
	"fmt"

	"hlsgen/boards"
	"hlsgen/templates"
	"hlsgen/templates/mover"
)

// sources holds the templates of the scripts.
//
//go:embed *.tpl
var sources embed.FS

// An IPBackend is a way to make the accelerator's IP.
type IPBackend string

// The ways to make the IP: from C++ by Vitis HLS, process by process, or from SystemVerilog.
const (
	IPBackendHLS IPBackend = "hls"
	IPBackendRTL IPBackend = "rtl"
)

// ip returns the folder in which the flow's own Makefile puts the IP of the accelerator called top, relative to the
// folder vivado.
func (f IPBackend) ip(top string) string {
	if f == IPBackendRTL {
		return "../rtl/build/ip/" + top
	}
	return "../hls/build.ip/" + top + "_ip"
}

// made returns the files from which the flow makes the IP, as patterns for make.
func (f IPBackend) made() string {
	if f == IPBackendRTL {
		return "../rtl/*.sv ../rtl/layers/* ../rtl/shared/* ../rtl/tables/* ../rtl/ip/*"
	}
	return "../hls/*.hpp ../hls/layers/* ../hls/tables/* ../hls/ip/* ../hls/rtl/*"
}

// A makeView holds what the Makefile's template needs: the system, its flows, and whether the board is a card.
type makeView struct {
	*System
	Flows []flowView
	Card  bool
}

// A flowView names a flow, the folder of its IP, and the files from which the IP is made.
type flowView struct{ Flow, IP, Made string }

// A packageView holds what package.tcl.tpl needs: the system, and the IPs to pack.
type packageView struct {
	*System
	Cores []core
}

// A core is an IP to pack: its top module, which lies in a file of this name, its library and name, and a pattern of
// the files below the top.
type core struct{ Top, Library, Name, Files string }

// GenerateFiles returns the files of the folder vivado, for an accelerator whose IP any of the flows can make. There
// must be a flow; the first one is the default.
func (s *System) GenerateFiles(flows ...IPBackend) (templates.ProjectFiles, error) {
	flow := flows[0]
	var files templates.ProjectFiles
	for _, f := range mover.SourceFiles() {
		files = append(files, templates.GeneratedFile{Path: "vivado/ip/" + f.Path, Data: f.Data})
	}
	add := func(path, template string, view any) error {
		text, err := templates.RenderTemplate(sources, template, view)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, templates.GeneratedFile{Path: "vivado/" + path, Data: text})
		return nil
	}
	card := s.Board.PS == boards.PSNone
	view := makeView{System: s, Card: card}
	for _, f := range flows {
		view.Flows = append(view.Flows, flowView{string(f), f.ip(s.Top), f.made()})
	}
	if err := add("Makefile", "Makefile.tpl", view); err != nil {
		return nil, err
	}
	if !card {
		block := s.block(flow)
		if err := add("block_design.tcl", "block_design.tcl.tpl", block); err != nil {
			return nil, err
		}
		if err := add("power.tcl", "power.tcl.tpl", s); err != nil {
			return nil, err
		}
		view := packageView{System: s}
		for _, top := range s.tops() {
			if err := add("ip/"+top.Name+".v", "mover.v.tpl", top); err != nil {
				return nil, err
			}
			view.Cores = append(view.Cores, core{top.Name, "kernels", top.IP, "ip/*.sv"})
		}
		for _, c := range block.Concats {
			if err := add("ip/"+c.Name+".v", "concat.v.tpl", c); err != nil {
				return nil, err
			}
			view.Cores = append(view.Cores, core{c.Name, c.Library, concatName, ""})
		}
		if s.Board.Connections != "" {
			app := block.app()
			if err := errors.Join(add("app/"+s.Top+".dts", "app.dts.tpl", app),
				add("app/shell.json", "shell.json.tpl", app)); err != nil {
				return nil, err
			}
		}
		return files, add("ip/package.tcl", "package.tcl.tpl", view)
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

// A HandshakeNets names an instance of the accelerator in the block design, by the instances from the top on, and the
// nets that say of a stream whether there is a word, and whether there is room: formats with the stream's number.
type HandshakeNets struct {
	Path         []string
	Valid, Ready string
}

// HandshakeNetsOf returns the instance of the accelerator whose IP the flow makes.
func HandshakeNetsOf(flow IPBackend) HandshakeNets {
	at := HandshakeNets{Path: []string{"system_wrapper", "system_i", "accelerator", "inst"},
		Valid: "s%d_empty_n", Ready: "s%d_full_n"}
	if flow == IPBackendRTL {
		at.Path, at.Valid, at.Ready = append(at.Path, "network"), "s%d_valid", "s%d_room"
	}
	return at
}
