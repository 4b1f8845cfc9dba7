// Package mover has the data movers of the host's port in SystemVerilog. hlsgen_read moves frames from memory to a
// stream, and hlsgen_write from a stream to memory. They depend on no design; a Config holds the parameters of a
// mover.
//
//	mover.go                  the files, and a Config
//	hlsgen_read.sv            memory to stream: AXI4 reads, AXI4-Stream out
//	hlsgen_write.sv           stream to memory: AXI4-Stream in, AXI4 writes
//	hlsgen_mover_control.sv   their registers, and the interrupt
//	hlsgen_mover_table.sv     lengths of frames, which hlsgen_read reads from memory
//	hlsgen_mover_gearbox.sv   words of one width to words of another
//
// The host writes the data's address, the number of frames and, for sequences, the address of a table with the steps
// of each sequence. Then it starts the mover, and waits for its interrupt or polls. Data must begin at a multiple of
// the bus' width, and a table at a multiple of 64 bytes. The error register reports refused settings, errors from the
// memory, and a TLAST at a wrong place. A mover that writes takes lengths from TLAST; it only checks whether there is
// a table.
//
// The bench in testdata runs both movers in Verilator, with models of the memory, the host and the stream, and a
// monitor that checks the rules of AXI4. Planted faults show that it detects violations.
//
// In come a port and the memory at its other end; out come the source files and the parameters of a mover.
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

// sources holds the SystemVerilog of the movers.
//
//go:embed *.sv
var sources embed.FS

// The names of the two movers' modules: from memory to a stream, and from a stream to memory.
const (
	ReaderModuleName = "hlsgen_read"
	WriterModuleName = "hlsgen_write"
)

// shared lists the modules that the movers use and that the library of the RTL back end defines.
var shared = []string{"hlsgen_last", "hlsgen_stream"}

// SourceFiles returns the source of both movers and of all modules that they use, without folders, sorted by name.
func SourceFiles() templates.ProjectFiles {
	names, err := sources.ReadDir(".")
	if err != nil {
		panic("mover: embedded files: " + err.Error())
	}
	var files templates.ProjectFiles
	for _, e := range names {
		text, err := sources.ReadFile(e.Name())
		if err != nil {
			panic("mover: embedded files: " + err.Error())
		}
		files = append(files, templates.GeneratedFile{Path: e.Name(), Data: text})
	}
	for _, name := range shared {
		files = append(files, templates.GeneratedFile{Path: name + ".sv",
			Data: rtl.LibraryModuleFiles().ContentsOf("rtl/shared/" + name +
				".sv")})
	}
	slices.SortFunc(files, func(a, b templates.GeneratedFile) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// A Config says whether a mover reads or writes memory, and holds the values of its module's parameters.
type Config struct {
	Writes      bool   // use hlsgen_write, else hlsgen_read
	DataBits    int    // width of the memory's bus
	StreamBytes int    // bytes of a stream word
	MaxBeats    int    // most beats of a burst
	Outstanding int    // most bursts at a time
	FrameBytes  int    // bytes of a frame, or of a step of a sequence
	Period      int    // for a reader: bytes after which the data repeat; 0 for never
	Steps       int    // most steps of a frame; 0 for no limit
	Hash        uint64 // hash of the design
	Reports     bool   // for a writer: a start with 0 frames writes the hash and the last error
}

// OutstandingBursts is the most bursts that a mover has under way at a time.
const OutstandingBursts = 4

// MinReportBits is the narrowest bus of a mover that reports: the report is one word.
const MinReportBits = 128

// maxBurstBeats is the largest number of beats in an AXI4 burst.
const maxBurstBeats = 256

// ConfigForStream returns the mover for a stream of the accelerator; writes says that it writes to memory. p counts the
// words of the longest sequence, which has the given steps; steps is 1 if all frames have one length. It returns an
// error if p's words are not whole steps, or if no mover can have one of the values.
func ConfigForStream(p templates.AXIStreamPort, writes bool, dataBits, beats, steps int, hash uint64) (Config, error) {
	c := Config{Writes: writes, DataBits: dataBits, StreamBytes: p.TDATA / 8, MaxBeats: beats,
		Outstanding: OutstandingBursts, Steps: steps, Hash: hash}
	if steps < 1 || p.Port.Words%steps != 0 {
		return Config{}, fmt.Errorf("mover of %s: %d words are not those of %d steps", p.Name, p.Port.Words, steps)
	}
	c.FrameBytes = c.StreamBytes * p.Port.Words / steps
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("mover of %s: %w", p.Name, err)
	}
	return c, nil
}

// ConfigForTableLoader returns the mover that loads tables at run time, without checking its arguments. The host
// describes them to it as one sequence, each word of which is a step.
func ConfigForTableLoader(dataBits, beats int, hash uint64) Config {
	return Config{DataBits: dataBits, StreamBytes: templates.TableLoadWordBytes, MaxBeats: beats,
		Outstanding: OutstandingBursts, FrameBytes: templates.TableLoadWordBytes, Hash: hash}
}

// ConfigForWeights returns the mover that repeats a layer's weights for every frame. Its bursts are at most mostBeats
// and 1 KiB. An error says which value no mover can have.
func ConfigForWeights(p templates.WeightPort, dataBits, mostBeats int, hash uint64) (Config, error) {
	c := Config{DataBits: dataBits, StreamBytes: p.Port.TDATABits() / 8, MaxBeats: mostBeats,
		Outstanding: OutstandingBursts, FrameBytes: p.Port.FrameBytes(), Hash: hash,
		Period: p.Port.FrameBytes() * p.Copies}
	if err := c.check(); err != nil {
		return Config{}, fmt.Errorf("mover of %s: %w", p.Axis, err)
	}
	c.MaxBeats = min(c.MaxBeats, 1024*8/c.DataBits)
	return c, nil
}

// check returns an error if no mover can have these parameters, which names the first bad value.
func (c Config) check() error {
	power := func(n, from, to int) bool { return n >= from && n <= to && bits.OnesCount(uint(n)) == 1 }
	switch {
	case !power(c.DataBits, 32, 512):
		return fmt.Errorf("its bus has %d bits, not 32, 64, 128, 256 or 512", c.DataBits)
	case !power(c.MaxBeats, 2, maxBurstBeats):
		return fmt.Errorf("bursts have up to %d beats, not a power of two from 2 to %d", c.MaxBeats, maxBurstBeats)
	case c.StreamBytes < 1 || c.FrameBytes < 1 || c.FrameBytes%c.StreamBytes != 0:
		return fmt.Errorf("frames of %d bytes are no words of %d", c.FrameBytes, c.StreamBytes)
	case c.Period%c.FrameBytes != 0 || c.Period%(c.DataBits/8) != 0:
		return fmt.Errorf("a period of %d bytes is no frames of %d, and no words of the bus", c.Period, c.FrameBytes)
	case c.Outstanding < 1 || c.Steps < 0:
		return fmt.Errorf("%d bursts at a time, %d steps", c.Outstanding, c.Steps)
	}
	return nil
}

// ModuleName returns the name of the mover's SystemVerilog module.
func (c Config) ModuleName() string {
	if c.Writes {
		return WriterModuleName
	}
	return ReaderModuleName
}

// A ModuleParameter is the name of a module's parameter, with its value in the notation of SystemVerilog.
type ModuleParameter struct{ Name, Value string }

// ModuleParameters returns the parameters of the mover's module, in the order of their declaration. It leaves out
// REPORTS where that has its default.
func (c Config) ModuleParameters() []ModuleParameter {
	list := []ModuleParameter{{"DATA_BITS", strconv.Itoa(c.DataBits)}, {"STREAM_BYTES", strconv.Itoa(c.StreamBytes)},
		{"MAX_BEATS", strconv.Itoa(c.MaxBeats)}, {"OUTSTANDING", strconv.Itoa(c.Outstanding)},
		{"FRAME_BYTES", strconv.Itoa(c.FrameBytes)}}
	if c.Writes {
		list = append(list, ModuleParameter{"STEPS", strconv.Itoa(c.Steps)})
	} else {
		list = append(list, ModuleParameter{"PERIOD", strconv.Itoa(c.Period)})
	}
	list = append(list, ModuleParameter{"HASH", fmt.Sprintf("64'h%016x", c.Hash)})
	if c.Writes && c.Reports {
		list = append(list, ModuleParameter{"REPORTS", "1'b1"})
	}
	return list
}
