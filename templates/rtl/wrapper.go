package rtl

import (
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/templates"
)

// A wrapperView holds what wrapper.v.tpl and package.tcl.tpl need: a Verilog top around the network. Joins are the
// network's connections, and Checks the inputs whose packets are checked.
type wrapperView struct {
	Top, About, Part string
	Suffix           string // of the module's name, after Top
	Ports            []templates.TopModulePort
	Joins            []string
	Unused           string
	Checks           []checkView
	Wrong            string
}

// A checkView is an input whose packets are checked: each has at most Steps steps of Words words. Steps is 1 if a
// packet is a frame.
type checkView struct{ Axis, Words, Steps string }

// wrappers returns the files of the Verilog tops around the network. In the top that checks packets, every input has
// TLAST.
func (n *Network) wrappers() (templates.ProjectFiles, error) {
	shared := templates.TopModulePortsOf(n.face, n.design, false)
	checked := wrapperView{Top: n.Top, Suffix: "checked", Ports: templates.TopModulePortsOf(n.face, n.design, true),
		About: "the network, and an error flag: a packet has come that is too short or too long. A reset clears it."}
	checked.Ports[len(checked.Ports)-1].Decl += ","
	checked.Ports = append(checked.Ports, templates.TopModulePort{Name: "error", Decl: "output wire error"})
	ip := wrapperView{Top: n.Top, Suffix: "ip", Ports: shared, Part: n.design.Target.Board.Part,
		About: "the network for Vivado's IP packager, which takes no SystemVerilog at the top."}
	for _, p := range shared {
		join := "." + p.Name + "(" + p.Name + ")"
		checked.Joins, ip.Joins = append(checked.Joins, join), append(ip.Joins, join)
	}
	var wrong, unused []string
	for _, p := range n.face.In {
		c := checkView{Axis: p.Name, Words: strconv.Itoa(p.Port.Words), Steps: "1"}
		if n.timed(p.Stream) {
			c.Words = strconv.Itoa(n.one.PortOfStream(p.Stream).Words)
			c.Steps = strconv.Itoa(n.design.Model.Lengths.Max)
		} else {
			unused = append(unused, p.Name+"_TKEEP", p.Name+"_TSTRB")
		}
		checked.Checks, wrong = append(checked.Checks, c), append(wrong, p.Name+"_wrong")
	}
	checked.Wrong, checked.Unused = strings.Join(wrong, " | "), strings.Join(unused, ", ")
	files, err := n.wrapper(checked, "rtl/"+n.Top+"_checked.v", "wrapper.v.tpl")
	if b := n.design.Target.Board; err != nil || b.Family != boards.FamilyAMD || b.Part == "" {
		return files, err
	}
	for _, f := range [][2]string{{"rtl/ip/" + n.Top + "_ip.v", "wrapper.v.tpl"},
		{"rtl/ip/package.tcl", "package.tcl.tpl"}} {
		more, err := n.wrapper(ip, f[0], f[1])
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// wrapper returns the file at path, made from a template of a Verilog top and v.
func (n *Network) wrapper(v wrapperView, path, template string) (templates.ProjectFiles, error) {
	text, err := templates.RenderTemplate(texts, template, v)
	return templates.ProjectFiles{{Path: path, Data: text}}, err
}
