package vivado

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/boards"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/suggest"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/mover"
)

// A System connects an accelerator to the memory of its host. It has a mover per stream, one for each layer whose
// weights come with every frame, and one if weights are loaded at run time.
type System struct {
	Top    string // name of the accelerator and of its IP
	Board  boards.Board
	Clock  PLLClock
	Hash   string // hash of host.json
	Movers []Mover

	ILA       []string               // streams that a logic analyser watches; WatchStreams sets them
	Registers *templates.RegisterMap // the accelerator's registers, or nil
	Base      uint64                 // address of these registers for the PS; 0 on a card
}

// A Mover moves frames between the memory and one AXI4-Stream of the accelerator.
type Mover struct {
	mover.Config
	Name   string // name of its cell or compute unit: read_s_axis_0, write_m_axis_0
	Stream string // name of the accelerator's stream
	Port   string // the memory port, or the bank
	Passes int    // for weights that come with every frame: how often a frame reads them; else 0
	// Base is the address of its registers for the PS. It is 0 on a card, whose linker assigns addresses.
	Base uint64
}

// MoverRegisterRangeBytes is the size of the address range of a mover's registers in bytes.
const MoverRegisterRangeBytes = 0x10000

// maxMovers is the most cells with registers that one SmartConnect connects to the PS (PG247): movers, and the
// accelerator if it has registers.
const maxMovers = 16

// A NoSystemError says why no bitstream can be built for a design.
type NoSystemError struct{ Reason string }

// Error returns the reason.
func (e *NoSystemError) Error() string { return e.Reason }

// AXIStreamName returns the name that the AXI4-Stream has at the mover itself.
func (m Mover) AXIStreamName() string {
	if m.Writes {
		return "s_axis"
	}
	return "m_axis"
}

// KernelName returns the name of the mover's kernel on a card. Each stream has its own kernel, because kernels differ
// in parameters.
func (m Mover) KernelName() string { return "hlsgen_" + m.Name }

// NewSystem returns the system of a design. The error is a *NoSystemError if the board has neither a known PS nor a
// platform, or the PS cannot make the clock. So it is if the design is fed from inside the FPGA, has no driver, or has
// too many movers for one SmartConnect. All other errors have other types.
func NewSystem(d *dataflow.Design, opt templates.Options) (*System, error) {
	board := d.Target.Board
	if board.PS == boards.PSNone && board.Platform == "" {
		return nil, &NoSystemError{fmt.Sprintf("nothing is known of a processor beside the logic of %s", board.Name)}
	}
	if d.Target.IO == dataflow.HostIOStream {
		return nil, &NoSystemError{"a design that is fed from inside the FPGA has no movers"}
	}
	face, err := templates.IPInterfaceOf(d, opt)
	if err != nil {
		return nil, err
	}
	host, err := deploy.HostFileOf(d, face)
	if err != nil {
		if none, ok := err.(*deploy.NoDriverError); ok {
			return nil, &NoSystemError{none.Reason}
		}
		return nil, err
	}
	s := &System{Top: face.Top, Board: board, Hash: host.Hash, Registers: host.Registers}
	if board.PS != boards.PSNone {
		var ok bool
		if s.Clock, ok = FastestPLClock(board, d.Target.ClockMHz); !ok {
			return nil, &NoSystemError{fmt.Sprintf("no dividers of the PS give %g MHz or less", d.Target.ClockMHz)}
		}
	} else {
		s.Clock = PLLClock{Asked: d.Target.ClockMHz}
	}
	for k, send := range host.Send {
		if err := s.add(face.In[k], false, send.HostStream, k); err != nil {
			return nil, err
		}
	}
	for k, receive := range host.Receive {
		if err := s.add(face.Out[k], true, receive.HostStream, k); err != nil {
			return nil, err
		}
	}
	for k, p := range templates.WeightPortsOf(d) {
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
		if board.PS != boards.PSNone {
			behind := processors[board.PS].window.Base + uint64(len(s.Movers))*MoverRegisterRangeBytes
			s.Base = (behind + s.span() - 1) / s.span() * s.span()
		}
	}
	if len(s.Movers) > most {
		return nil, &NoSystemError{fmt.Sprintf("%d streams are more than the %d movers that one SmartConnect joins",
			len(s.Movers), most)}
	}
	return s, nil
}

// span returns the bytes of the address range of the accelerator's registers. There must be such registers.
func (s *System) span() uint64 { return max(MoverRegisterRangeBytes, uint64(s.Registers.Bytes)) }

// add appends the mover of the stream p, the k-th of those that write memory or of those that read it. The port's words
// are those of the longest sequence; the host's are those of a step. It returns an error if no mover can have the
// parameters.
func (s *System) add(p templates.AXIStreamPort, writes bool, host deploy.HostStream, k int) error {
	m := s.mover(p.Name, writes, k)
	bits, beats := s.bus()
	hash, err := strconv.ParseUint(s.Hash, 16, 64)
	if err != nil {
		return fmt.Errorf("hash of the host: %w", err)
	}
	m.Config, err = mover.ConfigForStream(p, writes, bits, beats, p.Port.Words/host.Words, hash)
	m.Reports = writes && s.Board.Platform != "" && bits >= mover.MinReportBits // pyxrt reads no registers
	s.Movers = append(s.Movers, m)
	return err
}

// again appends the mover of weights that come with every frame. It is the k-th mover that reads, and needs its own
// memory port; it returns an error if the board has too few.
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
	m.Config, err = mover.ConfigForWeights(p, bits, beats, hash)
	s.Movers = append(s.Movers, m)
	return err
}

// loader appends the mover that loads tables, as the last one. It shares the first input's memory port, because nothing
// else moves during the loading.
func (s *System) loader() error {
	m := s.mover(s.Registers.Loader, false, 0)
	bits, beats := s.bus()
	hash, err := strconv.ParseUint(s.Hash, 16, 64)
	if err != nil {
		return fmt.Errorf("hash of the host: %w", err)
	}
	m.Config = mover.ConfigForTableLoader(bits, beats, hash)
	s.Movers = append(s.Movers, m)
	return nil
}

// mover returns the next mover, for the accelerator's stream with the given name. It has the k-th memory port, starting
// over after the last, and an address, but no parameters yet.
func (s *System) mover(stream string, writes bool, k int) Mover {
	m := Mover{Name: "read_" + stream, Stream: stream, Port: s.Board.MemoryPorts[k%len(s.Board.MemoryPorts)]}
	if writes {
		m.Name = "write_" + stream
	}
	if s.Board.PS != boards.PSNone {
		m.Base = processors[s.Board.PS].window.Base + uint64(len(s.Movers))*MoverRegisterRangeBytes
	}
	return m
}

// bus returns the width in bits of the bus to the memory, and the most beats of a burst.
func (s *System) bus() (bits, beats int) {
	return s.Board.HostPortBits, s.Board.MaxBurstBeats()
}

// An AddressWindow is a range of the PS's address space: its name, its first address, and its size in bytes.
type AddressWindow struct {
	Name  string // the mover's name, or "accelerator"
	Base  uint64
	Bytes uint64
}

// RegisterAddressMap returns the addresses that the PS has for the registers of the movers, in their order, and of the
// accelerator as the last. Drivers may rely on them. On a card it returns nil.
func (s *System) RegisterAddressMap() (list []AddressWindow) {
	for _, m := range s.Movers {
		if m.Base != 0 {
			list = append(list, AddressWindow{m.Name, m.Base, MoverRegisterRangeBytes})
		}
	}
	if s.Base != 0 {
		list = append(list, AddressWindow{"accelerator", s.Base, s.span()})
	}
	return list
}

// maxWatched is the most streams that one System ILA watches (PG261).
const maxWatched = 16

// ILAStorage returns the bits that the logic analyser stores in a clock, which are data and handshake of the watched
// streams, and the number of clocks. On a card the linker chooses that number, and clocks is 0.
func (s *System) ILAStorage() (bits, clocks int) {
	const handshake = 3 // TVALID, TREADY and TLAST
	for _, m := range s.Movers {
		if slices.Contains(s.ILA, m.Stream) {
			bits += 8*m.StreamBytes + handshake
		}
	}
	if s.Board.Platform == "" {
		clocks = watchedWords
	}
	return bits, clocks
}

// An ILAError says why streams cannot be watched, and what to do.
type ILAError struct{ Reason, Hint string }

// Error returns the reason.
func (e *ILAError) Error() string { return e.Reason }

// WatchStreams adds a logic analyser (ILA) on the named AXI4-Streams of the accelerator. The error is an *ILAError if a
// name is none of them or stands twice, or if there are too many.
func (s *System) WatchStreams(names []string) error {
	var known []string
	for _, m := range s.Movers {
		known = append(known, m.Stream)
	}
	for i, name := range names {
		if !slices.Contains(known, name) {
			hint := "its streams are " + strings.Join(known, ", ")
			if near := suggest.NearestWord(name, known); near != "" {
				hint = "did you mean " + near + "? I" + hint[1:]
			}
			return &ILAError{fmt.Sprintf("the accelerator has no stream %.60q", name), hint}
		}
		if slices.Contains(names[:i], name) {
			return &ILAError{fmt.Sprintf("the stream %s is named twice", name), "name every stream once"}
		}
	}
	if len(names) > maxWatched {
		return &ILAError{fmt.Sprintf("%d streams are more than the %d that an ILA watches", len(names), maxWatched),
			"name fewer"}
	}
	s.ILA = names
	return nil
}
