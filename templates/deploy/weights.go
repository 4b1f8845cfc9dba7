package deploy

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// weightsFileName is the name of the file beside host.json with weights that are loaded at run time.
const weightsFileName = "weights.bin"

// weightsMagic is the beginning of a file of weights. Its last byte is the version of the format.
const weightsMagic = "HLSGENW\x01"

// WeightsFile describes in host.json the file of weights that belongs to it. A driver loads it before it sends
// anything.
type WeightsFile struct {
	File     string                  `json:"file"`
	Words    int                     `json:"words"` // words of 32 bits that fill tables, at the beginning of the file
	Hash     string                  `json:"hash"`  // hash of the file
	External []StreamedWeightsLayout `json:"external,omitempty"`
}

// StreamedWeightsLayout are weights that come from memory with every frame, through their own stream.
type StreamedWeightsLayout struct {
	Port   string `json:"port"`
	Layer  string `json:"layer"`
	At     int    `json:"at"`     // number of their first word in the file
	Bytes  int    `json:"bytes"`  // bytes of one pass; in the file, rounded up to words of 32 bits
	Copies int    `json:"copies"` // number of copies in memory, one after the other
	Passes int    `json:"passes"` // number of times that a frame reads all of them
}

// WeightsToLoad holds weights to be loaded at run time. Words fill the tables, in their order. External has the weights
// that streams need with every frame, one copy each. Design is the hash of the design on the device, or empty for the
// design that is generated.
type WeightsToLoad struct {
	Words    []uint32
	External [][]byte
	Design   string
}

// externalOf returns the streams of weights that a design reads with every frame. It leaves their places in the file
// open.
func externalOf(d *dataflow.Design) (list []StreamedWeightsLayout) {
	for _, p := range templates.WeightPortsOf(d) {
		list = append(list, StreamedWeightsLayout{Port: p.Axis, Layer: p.Name, Bytes: p.Port.FrameBytes(),
			Copies: p.Copies,
			Passes: p.Passes})
	}
	return list
}

// words returns all words of a file of weights: those that fill tables, then those that come with every frame. It sets
// the places of the latter in h.Weights. It returns an error if their numbers do not fit.
func (h *HostFile) words(l *WeightsToLoad) (all []uint32, err error) {
	all = slices.Clone(l.Words)
	if h.Weights == nil {
		return all, nil
	}
	if len(l.External) != len(h.Weights.External) {
		return nil, fmt.Errorf("%d streams of weights, %s has %d", len(l.External), h.Top, len(h.Weights.External))
	}
	for k, data := range l.External {
		e := &h.Weights.External[k]
		if e.At = len(all); len(data) != e.Bytes {
			return nil, fmt.Errorf("%d bytes for %s, which takes %d", len(data), e.Port, e.Bytes)
		}
		for at := 0; at < len(data); at += 4 {
			var word [4]byte
			copy(word[:], data[at:])
			all = append(all, binary.LittleEndian.Uint32(word[:]))
		}
	}
	return all, nil
}

// A weightsView holds what weights.hpp.tpl needs: the words of a file of weights, and where they are loaded.
type weightsView struct {
	Design, Offset, Words, Count, Loader string
	External                             []externalView
}

// An externalView holds a StreamedWeightsLayout as text for C++.
type externalView struct{ Port, At, Bytes, Copies, Passes string }

// loaded sets h.Weights for the weights in l, and returns the file of weights and a header for C++. It returns an
// error if the design has no such weights, or other ones.
func (h *HostFile) loaded(l *WeightsToLoad) (files templates.ProjectFiles, err error) {
	window, tables := h.Registers.FindWindow(templates.WeightsWindowName)
	if !tables && len(l.External) == 0 {
		return nil, fmt.Errorf("%s has no weights that are loaded", h.Top)
	}
	all, err := h.words(l)
	if err != nil {
		return nil, err
	}
	file, err := h.weigh(l, all)
	if err != nil {
		return nil, err
	}
	var words strings.Builder
	for i, w := range all {
		end := ", "
		if i%8 == 7 || i == len(all)-1 {
			end = ",\n"
		}
		fmt.Fprintf(&words, "0x%08x%s", w, end)
	}
	v := weightsView{Design: h.Hash, Words: words.String(), Count: strconv.Itoa(len(l.Words))}
	if tables {
		v.Offset, v.Loader = strconv.Itoa(window.Offset), h.Registers.Loader
	}
	for _, e := range h.Weights.External {
		v.External = append(v.External, externalView{e.Port, strconv.Itoa(e.At), strconv.Itoa(e.Bytes),
			strconv.Itoa(e.Copies), strconv.Itoa(e.Passes)})
	}
	header, err := templates.RenderTemplate(sources, "weights.hpp.tpl", v)
	if err != nil {
		return nil, err
	}
	return templates.ProjectFiles{{Path: "deploy/host/" + weightsFileName, Data: file},
		{Path: "deploy/host/weights.hpp", Data: header}}, nil
}

// weigh returns the file of weights, and sets h.Weights and h.Hash. It has the magic, the design's hash, and the hash
// of host.json without the file's name and hash. Then come the number of words, 0, the words, and a hash of all that.
// Numbers are little-endian.
func (h *HostFile) weigh(l *WeightsToLoad, words []uint32) ([]byte, error) {
	if l.Design != "" {
		h.Hash = l.Design
	}
	text, err := h.text()
	if err != nil {
		return nil, err
	}
	file := []byte(weightsMagic)
	for _, hash := range []string{h.Hash, sum(text)} {
		if file, err = appendHash(file, hash); err != nil {
			return nil, err
		}
	}
	file = binary.LittleEndian.AppendUint32(file, uint32(len(words)))
	file = binary.LittleEndian.AppendUint32(file, 0)
	for _, w := range words {
		file = binary.LittleEndian.AppendUint32(file, w)
	}
	if file, err = appendHash(file, sum(file)); err != nil {
		return nil, err
	}
	if h.Weights == nil {
		h.Weights = new(WeightsFile)
	}
	h.Weights.File, h.Weights.Words, h.Weights.Hash = weightsFileName, len(l.Words), sum(file)
	return file, nil
}

// appendHash appends a hash, given as 16 hexadecimal digits, as a little-endian number. Any other text is an error.
func appendHash(to []byte, hash string) ([]byte, error) {
	number, err := hex.DecodeString(hash)
	if err != nil || len(number) != 8 {
		return nil, fmt.Errorf("%q is no hash", hash)
	}
	return binary.LittleEndian.AppendUint64(to, binary.BigEndian.Uint64(number)), nil
}

// GenerateFilesWithWeights returns the files of the folder deploy for a design with loaded weights. The error is a
// *NoDriverError if the design can have no driver. It is also an error if the design loads no weights, or l does not
// fit it. system is what is around the accelerator, or nil.
func GenerateFilesWithWeights(d *dataflow.Design, opt templates.Options, system *HostSystem,
	l WeightsToLoad) (templates.ProjectFiles, error) {
	return files(d, opt, false, system, &l)
}

// DesignHashOf returns the hash of a design, which is in its host.json and in a register. The error is a *NoDriverError
// if the design can have no driver.
func DesignHashOf(d *dataflow.Design, opt templates.Options) (string, error) {
	face, err := templates.IPInterfaceOf(d, opt)
	if err != nil {
		return "", err
	}
	h, err := HostFileOf(d, face)
	if err != nil {
		return "", err
	}
	return h.Hash, nil
}
