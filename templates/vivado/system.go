package vivado

import (
	"fmt"
	"strconv"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/mover"
)

// A System is what joins an accelerator to the memory of its host: a mover per stream, one for each layer whose
// weights come with every frame, and one for weights that are streamed once.
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
	mover.Config
	Name   string // of its cell, and of its compute unit: read_s_axis_0, write_m_axis_0
	Stream string // the accelerator's
	Port   string // the memory port, or the bank
	Passes int    // of one of weights that come with every frame: how often a frame takes all of them; else 0
	// of its registers, where the PS sees them; 0 on a card, whose linker gives them out
	Base uint64
}

// Range is how much of the address space a mover's registers have.
const Range = 0x10000

// maxMovers is how many one SmartConnect joins to the PS (PG247).
const maxMovers = 16

// A None error says why there is no way to a bitstream.
type None struct{ Reason string }

func (e *None) Error() string { return e.Reason }

// Axis is the name of the mover's own AXI4-Stream.
func (m Mover) Axis() string {
	if m.Writes {
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
		if err := s.add(face.In[k], false, send.Stream, k); err != nil {
			return nil, err
		}
	}
	for k, receive := range host.Receive {
		if err := s.add(face.Out[k], true, receive.Stream, k); err != nil {
			return nil, err
		}
	}
	for k, p := range templates.WeightPorts(d) {
		if err := s.again(p, len(host.Send)+k); err != nil {
			return nil, err
		}
	}
	if s.Registers != nil && s.Registers.Loader != "" {
		if err := s.loader(); err != nil {
			return nil, err
		}
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

// add is the mover of a stream, the k-th of its direction, with a memory port and an address. The port's words are
// those of the longest sequence; the host counts those of a step.
func (s *System) add(p templates.AXIPort, writes bool, host deploy.Stream, k int) error {
	m := s.mover(p.Name, writes, k)
	bits, beats := s.bus()
	hash, err := strconv.ParseUint(s.Hash, 16, 64)
	if err != nil {
		return fmt.Errorf("hash of the host: %w", err)
	}
	m.Config, err = mover.Of(p, writes, bits, beats, p.Port.Words/host.Words, hash)
	s.Movers = append(s.Movers, m)
	return err
}

// again is the mover of weights that come with every frame, the k-th that reads: it has a memory port of its own.
func (s *System) again(p templates.WeightPort, k int) error {
	if k >= len(s.Board.MemoryPorts) {
		return fmt.Errorf("%d streams from memory, %s has %d ports", k+1, s.Board.Name, len(s.Board.MemoryPorts))
	}
	m := s.mover(p.Axis, false, k)
	m.Passes = p.Passes
	bits, beats := s.bus()
	hash, err := strconv.ParseUint(s.Hash, 16, 64)
	if err != nil {
		return fmt.Errorf("hash of the host: %w", err)
	}
	m.Config, err = mover.Again(p, bits, beats, hash)
	s.Movers = append(s.Movers, m)
	return err
}

// loader is the mover that fills tables, behind all others. It has the first input's memory port, because nothing else
// moves meanwhile.
func (s *System) loader() error {
	m := s.mover(s.Registers.Loader, false, 0)
	bits, beats := s.bus()
	hash, err := strconv.ParseUint(s.Hash, 16, 64)
	if err != nil {
		return fmt.Errorf("hash of the host: %w", err)
	}
	m.Config = mover.Loader(bits, beats, hash)
	s.Movers = append(s.Movers, m)
	return nil
}

// mover is the next one, with its place but not its parameters.
func (s *System) mover(stream string, writes bool, k int) Mover {
	m := Mover{Name: "read_" + stream, Stream: stream, Port: s.Board.MemoryPorts[k%len(s.Board.MemoryPorts)]}
	if writes {
		m.Name = "write_" + stream
	}
	if s.Board.PS != boards.NoPS {
		m.Base = processors[s.Board.PS].window.Base + uint64(len(s.Movers))*Range
	}
	return m
}

// bus is that of the memory: its bits, and the beats of a burst at most.
func (s *System) bus() (bits, beats int) {
	return s.Board.HostPortBits, s.Board.BurstBeats()
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
