package rtl

import (
	"embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/boards/family"
	"hlsgen/templates"
)

// uartFiles holds the sources and templates of the UART top.
//
//go:embed uart/*
var uartFiles embed.FS

// baud is the default rate of the UART top in bits per second.
const baud = 115200

// A uartView holds what the UART top's templates need.
type uartView struct {
	Top, Board                  string
	Clock, Baud                 string // Hz
	In, Out                     string // names of AXI4-Streams
	InHigh, InBytes, InWords    string
	OutHigh, OutBytes, OutWords string
	Digits                      string // hexadecimal digits of an output word
	Recorded, Results           string // files with the frames of the bench
	Seconds                     string
	Pins                        []pinView
	MHz, Period                 string // of the board's oscillator
	PLL, Net                    string // the PLL that makes the clock, or empty, and the name of the clock
	Target                      string // MHz of the clock
	Part                        string
}

// A pinView is the name of a pin with its site on the device.
type pinView struct{ Name, Site string }

// uart reports whether the design has a UART top.
func (n *Network) uart() bool { return n.design.Model.HasUARTTop(n.design.Target) }

// uartView returns the data for the templates of the UART top.
func (n *Network) uartView() uartView {
	b, in, out := n.design.Target.Board, n.face.In[0], n.face.Out[0]
	v := uartView{Top: n.Top, Board: b.Name, Net: "clk", Baud: strconv.Itoa(baud),
		In: in.Name, InHigh: strconv.Itoa(in.TDATA - 1), InBytes: strconv.Itoa(in.TDATA / 8),
		InWords: strconv.Itoa(in.Port.Words),
		Out:     out.Name, OutHigh: strconv.Itoa(out.TDATA - 1), OutBytes: strconv.Itoa(out.TDATA / 8),
		OutWords: strconv.Itoa(out.Port.Words), Digits: strconv.Itoa((out.Port.Width() + 3) / 4),
		Recorded: fmt.Sprintf("T0_s%d.dat", in.Stream), Results: fmt.Sprintf("T0_s%d.dat", out.Stream),
		MHz: strconv.FormatFloat(b.ClockMHz, 'f', -1, 64), Period: strconv.FormatFloat(1000/b.ClockMHz, 'f', 3, 64),
		Part: b.Part}
	mhz := b.ClockMHz
	if made, pll := b.NearestClock(n.design.Target.ClockMHz); pll != "" {
		mhz, v.PLL, v.Net = made, pll, "clock"
	}
	v.Clock, v.Target = strconv.Itoa(int(math.Round(mhz*1e6))), strconv.FormatFloat(mhz, 'f', -1, 64)
	bits := 10 * (in.Port.Words*in.TDATA + out.Port.Words*out.TDATA + 32) / 8
	v.Seconds = strconv.FormatFloat(0.1+float64(bits)/baud+float64(n.most())/(mhz*1e6), 'f', 2, 64)
	for _, name := range boards.UARTTopPinNames {
		v.Pins = append(v.Pins, pinView{name, b.PinSite(name)})
	}
	return v
}

// most returns an upper bound for the clocks of a single frame in the network: the sum over all layers.
func (n *Network) most() (clocks int) {
	for i := range n.design.Model.Graph.Nodes {
		l := n.design.LoopOfNode(i)
		clocks += l.IterationsPerFrame() + l.Latency + 8
	}
	return clocks
}

// uartProject returns the UART top, with its simulation, the script that talks to it, and the constraints of its
// pins.
func (n *Network) uartProject() (templates.ProjectFiles, error) {
	var files templates.ProjectFiles
	names, err := uartFiles.ReadDir("uart")
	if err != nil {
		return nil, err
	}
	for _, e := range names {
		text, err := uartFiles.ReadFile("uart/" + e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/uart/" + e.Name(), Data: text})
	}
	v := n.uartView()
	for _, f := range []struct{ path, template string }{
		{"rtl/uart/" + n.Top + "_uart.sv", "uart.sv.tpl"},
		{"rtl/uart/talk.py", "talk.py.tpl"},
	} {
		text, err := templates.RenderTemplate(texts, f.template, v)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: f.path, Data: text})
	}
	if f := n.design.Target.Board.Family.Row(); f != nil {
		return append(files, templates.GeneratedFile{Path: "rtl/uart/" + f.Tools.Pins,
			Data: pinsText(&f.Tools, v)}), nil
	}
	for _, name := range []string{"pins.xdc", "vivado.tcl"} {
		text, err := templates.RenderTemplate(texts, name+".tpl", v)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "rtl/uart/" + name, Data: text})
	}
	return files, nil
}

// pinsText returns the file with the pins of the UART top, for a family's tools.
func pinsText(t *family.Tools, v uartView) []byte {
	text := "# Pins of " + v.Board + " (" + v.Part + ")\n" + strings.ReplaceAll(t.PinHead, "{MHZ}", v.MHz)
	for _, p := range v.Pins {
		text += strings.NewReplacer("{NAME}", p.Name, "{SITE}", p.Site).Replace(t.PinLine)
	}
	return []byte(text + t.PinTail)
}
