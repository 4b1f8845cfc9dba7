package rtl

import (
	"strings"

	"hlsgen/boards"
	"hlsgen/boards/family"
)

// A makeView holds what Makefile.tpl needs.
type makeView struct {
	Top, Synth, About      string
	Optimise, Verilate     string // options of g++ for the bench, and of Verilator
	Verilator              string // flags of Verilator that are always the same
	AMD, UART              bool
	Models, Define         string // model of the cells with which the netlist is simulated; empty if there is none
	Clock, Baud            string
	Recorded, Results      string
	Pins                   string // file of the pins
	Placed, Image          string // endings of files
	Route, Pack, CellLines string
}

// makefile returns the data for the Makefile, for a bench of that many frames.
func (n *Network) makefile(frames int) makeView {
	v := makeView{Top: n.Top, Synth: "synth_xilinx -flatten", About: "a 7-series device", AMD: true, UART: n.uart()}
	v.Optimise, v.Verilate, v.Verilator = "-Os", "-O3", strings.Join(VerilatorFlags(), " ")
	if interval, _ := n.design.BottleneckInterval(); frames*interval <= briefly {
		v.Optimise, v.Verilate = "-O0", "-O0"
	}
	if v.UART {
		u := n.uartView()
		v.Clock, v.Baud, v.Recorded, v.Results = u.Clock, u.Baud, u.Recorded, u.Results
	}
	if f := n.design.Target.Board.Family.Row(); f != nil {
		v.addTools(f, n.design.Target.Board, n.uartView().Target)
	}
	return v
}

// addTools adds the programs of a family.
func (v *makeView) addTools(f *family.DeviceFamily, b boards.Board, mhz string) {
	t, d := &f.Tools, b.NextpnrDevice()
	v.AMD, v.About, v.Synth = false, f.About, t.Synth
	if t.BlockRAM {
		v.Models, v.Define = t.Models[0], t.Define
	}
	device := strings.NewReplacer("{DEVICE}", d.Name, "{PACKAGE}", d.Package, "{SPEED}", d.Speed, "{MHZ}", mhz)
	v.Pins, v.Placed, v.Image, v.CellLines = t.Pins, t.Placed, t.Image, t.Cells
	v.Route, v.Pack = device.Replace(t.Route), t.Pack
}
