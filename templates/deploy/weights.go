package deploy

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

// WeightsName is the file of weights beside host.json.
const WeightsName = "weights.bin"

// weightsMagic begins a file of weights; its last byte is the version of the form.
const weightsMagic = "HLSGENW\x01"

// Weights says in host.json which file of weights belongs to it: a driver loads it before it sends anything.
type Weights struct {
	File  string `json:"file"`
	Words int    `json:"words"` // of 32 bits
	Hash  string `json:"hash"`  // of the file
}

// A Load is what is loaded into tables, in the order in which they take it, and the hash of the design that has them;
// empty for the design's own.
type Load struct {
	Words  []uint32
	Design string
}

// loaded gives a host.json its weights, and is their file: the magic, the hash of the design, that of host.json without
// its weights, the number of words, 0, the words, and the hash of all that. Numbers are little-endian, so that the
// words are those of the registers.
func (h *Host) loaded(l *Load) ([]byte, error) {
	if l.Design != "" {
		h.Hash = l.Design
	}
	text, err := h.Format()
	if err != nil {
		return nil, err
	}
	file := []byte(weightsMagic)
	for _, hash := range []string{h.Hash, sum(text)} {
		if file, err = appendHash(file, hash); err != nil {
			return nil, err
		}
	}
	file = binary.LittleEndian.AppendUint32(file, uint32(len(l.Words)))
	file = binary.LittleEndian.AppendUint32(file, 0)
	for _, w := range l.Words {
		file = binary.LittleEndian.AppendUint32(file, w)
	}
	if file, err = appendHash(file, sum(file)); err != nil {
		return nil, err
	}
	h.Weights = &Weights{WeightsName, len(l.Words), sum(file)}
	return file, nil
}

// appendHash adds the number that a hash is.
func appendHash(to []byte, hash string) ([]byte, error) {
	number, err := hex.DecodeString(hash)
	if err != nil || len(number) != 8 {
		return nil, fmt.Errorf("%q is no hash", hash)
	}
	return binary.LittleEndian.AppendUint64(to, binary.BigEndian.Uint64(number)), nil
}

// Loaded are the files of the folder deploy of a design whose weights are loaded. The error is a *None where it can have
// no driver.
func Loaded(d *dataflow.Design, opt templates.Options, l Load) (templates.Files, error) {
	return files(d, opt, false, &l)
}

// HashOf is the hash of a design that has a driver.
func HashOf(d *dataflow.Design, opt templates.Options) (string, error) {
	face, err := templates.InterfaceOf(d, opt)
	if err != nil {
		return "", err
	}
	h, err := HostOf(d, face)
	if err != nil {
		return "", err
	}
	return h.Hash, nil
}
