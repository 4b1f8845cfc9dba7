package vivado

import (
	"fmt"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
)

// A System is what joins an accelerator to the memory of its host: a mover per stream.
type System struct {
	Top    string // of the accelerator, its IP's name
	Board  boards.Board
	Clock  Clock
	Hash   string // of host.json
	Movers []Mover

	Registers *templates.Registers // of the accelerator itself; nil where it has none
	Base      uint64               // of these, where the PS sees them; 0 on a card
}

// A Mover is one between the memory and an AXI4-Stream of the accelerator.
type Mover struct {
	Name        string // of its cell, and of its compute unit: read_s_axis_0, write_m_axis_0
	Write       bool   // from the stream to the memory
	Stream      string // the accelerator's
	StreamBytes int    // of a word of the stream
	FrameBytes  int    // of a frame, or of a step of a sequence
	DataBits    int    // of a word of the memory port
	MaxBeats    int    // of a burst
	Outstanding int    // bursts
	Steps       int    // of a frame that is written, where frames differ in length; 0: they do not
	Port        string // the memory port, or the bank
	// of its registers, where the PS sees them; 0 on a card, whose linker gives them out
	Base uint64
	Hash string
}

// Range is how much of the address space a mover's registers have.
const Range = 0x10000

// maxMovers is how many one SmartConnect joins to the PS (PG247).
const maxMovers = 16

// Bursts are of at most so many bytes, and so many of them are on their way: enough to cover the latency of the memory,
// and little to hold.
const (
	burst       = 1024
	outstanding = 4
)

// cardBits is the width of a memory port of a card: what UG1393 recommends for DDR4 and HBM.
const cardBits = 512

// A None error says why there is no way to a bitstream.
type None struct{ Reason string }

func (e *None) Error() string { return e.Reason }

// IP is the name of the mover's IP.
func (m Mover) IP() string {
	if m.Write {
		return "hlsgen_write"
	}
	return "hlsgen_read"
}

// Axis is the name of the mover's own AXI4-Stream.
func (m Mover) Axis() string {
	if m.Write {
		return "s_axis"
	}
	return "m_axis"
}

// KernelName is the mover as a kernel: its parameters are its own, so that no two streams share one.
func (m Mover) KernelName() string { return "hlsgen_" + m.Name }

// Of is the system of a design. The error is a *None where the board has neither a known PS nor a platform, or the
// accelerator has no driver.
func Of(d *dataflow.Design, opt templates.Options) (*System, error) {
	board := d.Target.Board
	if board.PS == boards.NoPS && board.Platform == "" {
		return nil, &None{fmt.Sprintf("nothing is known of a processor beside the logic of %s", board.Name)}
	}
	if d.Target.IO == dataflow.FromStream {
		return nil, &None{"a design that is fed from inside the FPGA has no movers"}
	}
	face, err := templates.InterfaceOf(d, opt)
	if err != nil {
		return nil, err
	}
	host, err := deploy.HostOf(d, face)
	if err != nil {
		if none, ok := err.(*deploy.None); ok {
			return nil, &None{none.Reason}
		}
		return nil, err
	}
	s := &System{Top: face.Top, Board: board, Hash: host.Hash, Registers: host.Registers}
	if board.PS != boards.NoPS {
		var ok bool
		if s.Clock, ok = PLClock(board.PS, d.Target.ClockMHz); !ok {
			return nil, &None{fmt.Sprintf("no dividers of the PS give %g MHz or less", d.Target.ClockMHz)}
		}
	} else {
		s.Clock = Clock{Asked: d.Target.ClockMHz}
	}
	for k, send := range host.Send {
		s.add(Mover{Name: "read_" + send.Port, Stream: send.Port, StreamBytes: send.Bytes,
			FrameBytes: send.Bytes * send.Words}, k)
	}
	for k, receive := range host.Receive {
		m := Mover{Name: "write_" + receive.Port, Write: true, Stream: receive.Port, StreamBytes: receive.Bytes,
			FrameBytes: receive.Bytes * receive.Words}
		if whole := face.Out[k].Port.Words; whole > receive.Words {
			m.Steps = whole / receive.Words
		}
		s.add(m, k)
	}
	most := maxMovers
	if s.Registers != nil {
		most--
		if board.PS != boards.NoPS {
			behind := processors[board.PS].window.Base + uint64(len(s.Movers))*Range
			s.Base = (behind + s.span() - 1) / s.span() * s.span()
		}
	}
	if len(s.Movers) > most {
		return nil, &None{fmt.Sprintf("%d streams are more than the %d movers that one SmartConnect joins",
			len(s.Movers), most)}
	}
	return s, nil
}

// span is how much of the address space the accelerator's registers have.
func (s *System) span() uint64 { return max(Range, uint64(s.Registers.Bytes)) }

// add gives the k-th mover of its direction a memory port and an address.
func (s *System) add(m Mover, k int) {
	m.Port = s.Board.MemoryPorts[k%len(s.Board.MemoryPorts)]
	m.DataBits, m.MaxBeats, m.Outstanding, m.Hash = s.Board.HostPortBits, 256, outstanding, s.Hash
	if s.Board.PS == boards.NoPS {
		m.DataBits = cardBits
	} else {
		m.Base = processors[s.Board.PS].window.Base + uint64(len(s.Movers))*Range
	}
	if s.Board.PS == boards.Zynq7000 {
		m.MaxBeats = 16 // AXI3
	}
	m.MaxBeats = min(m.MaxBeats, 8*burst/m.DataBits)
	s.Movers = append(s.Movers, m)
}

// A Window is a piece of the address space of the PS.
type Window struct {
	Name  string // the mover's
	Base  uint64
	Bytes uint64
}

// Map is where the PS sees the registers of the movers, and behind them those of the accelerator. It is what a driver
// may rely on; on a card it is empty.
func (s *System) Map() (list []Window) {
	for _, m := range s.Movers {
		if m.Base != 0 {
			list = append(list, Window{m.Name, m.Base, Range})
		}
	}
	if s.Base != 0 {
		list = append(list, Window{"accelerator", s.Base, s.span()})
	}
	return list
}
