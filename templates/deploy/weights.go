package deploy

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

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

// A weightsView is what weights.hpp.tpl shows.
type weightsView struct{ Design, Offset, Words, Count, Loader string }

// loaded gives a host.json its weights, and is the files that have them, and load them.
func (h *Host) loaded(l *Load) (files templates.Files, err error) {
	window, ok := h.Registers.Window(templates.Weights)
	if !ok {
		return nil, fmt.Errorf("%s has no weights that are loaded", h.Top)
	}
	file, err := h.weigh(l)
	if err != nil {
		return nil, err
	}
	var words strings.Builder
	for i, w := range l.Words {
		end := ", "
		if i%8 == 7 || i == len(l.Words)-1 {
			end = ",\n"
		}
		fmt.Fprintf(&words, "0x%08x%s", w, end)
	}
	header, err := templates.Render(sources, "weights.hpp.tpl", weightsView{h.Hash, strconv.Itoa(window.Offset),
		words.String(), strconv.Itoa(len(l.Words)), h.Registers.Loader})
	if err != nil {
		return nil, err
	}
	loader, err := sources.ReadFile("weights.py")
	return templates.Files{{Path: "deploy/host/" + WeightsName, Data: file},
		{Path: "deploy/host/weights.hpp", Data: header}, {Path: "deploy/weights.py", Data: loader}}, err
}

// begun is the end of what the driver looks at when it begins.
const begun = `                        % (path, self.device.hash, self.host["hash"]))
`

// loads is the driver, which loads weights when it begins.
func loads(driver []byte) []byte {
	if !bytes.Contains(driver, []byte(begun)) {
		panic("deploy: the driver begins otherwise")
	}
	return bytes.Replace(driver, []byte(begun), []byte(begun+"        import weights\n\n"+
		"        weights.load(self, host or os.path.join(here, \"host\", \"host.json\"))\n"), 1)
}

// weigh is a file of weights: the magic, the hash of the design, that of host.json without
// its weights, the number of words, 0, the words, and the hash of all that. Numbers are little-endian, so that the
// words are those of the registers.
func (h *Host) weigh(l *Load) ([]byte, error) {
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

// Loaded are the files of the folder deploy of a design whose weights are loaded. The error is a *None where it can
// have no driver.
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
