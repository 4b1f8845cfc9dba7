// Package mover has the data movers of the host's port in SystemVerilog: hlsgen_read moves frames from memory to a
// stream, hlsgen_write from a stream to memory. They depend on no design; a Config is the parameters of one.
//
//	mover.go                  the files, and a Config
//	hlsgen_read.sv            memory to stream: AXI4 reads, AXI4-Stream out
//	hlsgen_write.sv           stream to memory: AXI4-Stream in, AXI4 writes
//	hlsgen_mover_control.sv   their registers, and the interrupt
//	hlsgen_mover_table.sv     lengths of frames, which hlsgen_read reads from memory
//	hlsgen_mover_gearbox.sv   words of one width to words of another
//
// The host writes the data's address, the number of frames and, for sequences, the address of a table with the steps of
// each; then it starts the mover and waits for its interrupt, or polls. Data begin at a multiple of the bus' width, a
// table at one of 64 bytes; the error register says where something is refused, a memory responds with an error, or
// TLAST comes at a wrong place. A mover that writes takes lengths from TLAST: of the table it only looks whether there
// is one.
//
// The bench in testdata runs both in Verilator, with a model of the memory, of the host and of the stream, and a
// monitor that knows the rules of AXI4; planted faults show that it sees them.
//
// In come a port and the memory it is to be moved from or to; out come Files and parameters. It sees templates and its
// rtl (FIFOs).
package mover

import (
	"embed"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

//go:embed *.sv
var sources embed.FS

// Read and Write are the modules of the two movers.
const (
	Read  = "hlsgen_read"
	Write = "hlsgen_write"
)

// shared are the modules of the RTL back end's library that movers are made of.
var shared = []string{"hlsgen_last", "hlsgen_stream"}

// Files are the texts of both movers with all that they need, in one folder.
func Files() templates.Files {
	names, err := sources.ReadDir(".")
	if err != nil {
		panic("mover: embedded files: " + err.Error())
	}
	var files templates.Files
	for _, e := range names {
		text, err := sources.ReadFile(e.Name())
		if err != nil {
			panic("mover: embedded files: " + err.Error())
		}
		files = append(files, templates.File{Path: e.Name(), Data: text})
	}
	for _, name := range shared {
		files = append(files, templates.File{Path: name + ".sv", Data: rtl.Library().Get("rtl/lib/" + name + ".sv")})
	}
	slices.SortFunc(files, func(a, b templates.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// A Config is the parameters of a mover.
type Config struct {
	Writes      bool   // it is an hlsgen_write, else an hlsgen_read
	DataBits    int    // of the memory's bus
	StreamBytes int    // of a word of the stream
	MaxBeats    int    // of a burst
	Outstanding int    // bursts at a time
	FrameBytes  int    // of a frame, or of a step of a sequence
	Period      int    // of one that reads: bytes after which data begin again; 0 where they do not
	Steps       int    // most of them in a frame; 0 where nothing bounds them
	Hash        uint64 // what the design is known by
}

// AXI4 is the most beats of a burst.
const AXI4 = 256

// Of is the mover of an accelerator's stream. Its words are those of the longest sequence, of so many steps; where all
// frames have one length, that is one step.
func Of(p templates.AXIPort, writes bool, dataBits, beats, steps int, hash uint64) (Config, error) {
	c := Config{Writes: writes, DataBits: dataBits, StreamBytes: p.TDATA / 8, MaxBeats: beats, Outstanding: 4,
		Steps: steps, Hash: hash}
	if steps < 1 || p.Port.Words%steps != 0 {
		return Config{}, fmt.Errorf("mover of %s: %d words are not those of %d steps", p.Name, p.Port.Words, steps)
	}
	c.FrameBytes = c.StreamBytes * p.Port.Words / steps
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("mover of %s: %w", p.Name, err)
	}
	return c, nil
}

// Loader is the mover that fills tables: their words are one sequence, each word a step of it.
func Loader(dataBits, beats int, hash uint64) Config {
	return Config{DataBits: dataBits, StreamBytes: templates.LoadBytes, MaxBeats: beats,
		Outstanding: 4, FrameBytes: templates.LoadBytes, Hash: hash}
}

// Again is the mover of a stream of weights: a frame is all of them, and frame after frame is the same ones.
func Again(p templates.WeightPort, dataBits, mostBeats int, hash uint64) (Config, error) {
	c := Config{DataBits: dataBits, StreamBytes: p.Port.TDATA() / 8, MaxBeats: mostBeats, Outstanding: 4,
		FrameBytes: p.Port.Bytes(), Period: p.Port.Bytes() * p.Copies, Hash: hash}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("mover of %s: %w", p.Axis, err)
	}
	c.MaxBeats = min(c.MaxBeats, 1024*8/c.DataBits)
	return c, nil
}

// check reports what no mover can be.
func (c Config) check() error {
	power := func(n, from, to int) bool { return n >= from && n <= to && bits.OnesCount(uint(n)) == 1 }
	switch {
	case !power(c.DataBits, 32, 512):
		return fmt.Errorf("its bus has %d bits, not 32, 64, 128, 256 or 512", c.DataBits)
	case !power(c.MaxBeats, 2, AXI4):
		return fmt.Errorf("bursts have up to %d beats, not a power of two from 2 to %d", c.MaxBeats, AXI4)
	case c.StreamBytes < 1 || c.FrameBytes < 1 || c.FrameBytes%c.StreamBytes != 0:
		return fmt.Errorf("frames of %d bytes are no words of %d", c.FrameBytes, c.StreamBytes)
	case c.Period%c.FrameBytes != 0 || c.Period%(c.DataBits/8) != 0:
		return fmt.Errorf("a period of %d bytes is no frames of %d, and no words of the bus", c.Period, c.FrameBytes)
	case c.Outstanding < 1 || c.Steps < 0:
		return fmt.Errorf("%d bursts at a time, %d steps", c.Outstanding, c.Steps)
	}
	return nil
}

// Module is the name of the module.
func (c Config) Module() string {
	if c.Writes {
		return Write
	}
	return Read
}

// A Parameter is one of a module.
type Parameter struct{ Name, Value string }

// Parameters are those of the module, in its order; HASH is 64 bits as SystemVerilog writes them.
func (c Config) Parameters() []Parameter {
	list := []Parameter{{"DATA_BITS", strconv.Itoa(c.DataBits)}, {"STREAM_BYTES", strconv.Itoa(c.StreamBytes)},
		{"MAX_BEATS", strconv.Itoa(c.MaxBeats)}, {"OUTSTANDING", strconv.Itoa(c.Outstanding)},
		{"FRAME_BYTES", strconv.Itoa(c.FrameBytes)}}
	if c.Writes {
		list = append(list, Parameter{"STEPS", strconv.Itoa(c.Steps)})
	} else {
		list = append(list, Parameter{"PERIOD", strconv.Itoa(c.Period)})
	}
	return append(list, Parameter{"HASH", fmt.Sprintf("64'h%016x", c.Hash)})
}
