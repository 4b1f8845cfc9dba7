package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
)

// checksumKey begins the last entry of host.json, whose value is a hash of all bytes in front.
const checksumKey = `,"checksum":"`

// encodeJSON returns the text of host.json, with its checksum and a newline at the end. h.Checksum must be empty.
func (h *HostFile) encodeJSON() ([]byte, error) {
	text, err := h.text()
	if err != nil {
		return nil, err
	}
	text = text[:len(text)-1] // the closing brace comes last
	return append(text, checksumKey+sum(text)+"\"}\n"...), nil
}

// text returns the text of host.json without a checksum.
func (h *HostFile) text() ([]byte, error) {
	const more = 64 // bytes of the hash and of the checksum
	text := bytes.NewBuffer(make([]byte, 0, h.size+more))
	_, err := h.write(text)
	return text.Bytes(), err
}

// sign sets h.Hash to the hash of the text without it, which must be empty before. It also sets h.size.
func (h *HostFile) sign() (err error) {
	of := sha256.New()
	if h.size, err = h.write(of); err != nil {
		return err
	}
	h.Hash = hex.EncodeToString(of.Sum(nil)[:8])
	return nil
}

// An elements is a list of indices that write puts into the text of host.json under a key.
type elements struct {
	key string
	of  []int32
}

// write writes host.json and returns its length. Nearly all of it is lists of indices, which package json would hold in
// memory as text more than once. So json gets a placeholder for each, and write puts the lists in.
func (h *HostFile) write(to io.Writer) (n int, err error) {
	var lists []elements
	short := func(key string, of *[]int32) {
		if len(*of) > 0 {
			lists = append(lists, elements{key, *of})
			*of = []int32{math.MinInt32}
		}
	}
	s := *h
	s.Send, s.Results = slices.Clone(h.Send), slices.Clone(h.Results)
	for i := range s.Send {
		short("index", &s.Send[i].Index)
		short("which", &s.Send[i].Which)
	}
	for i := range s.Results {
		short("index", &s.Results[i].Index)
		short("which", &s.Results[i].Which)
	}
	text, err := json.Marshal(&s)
	for _, l := range lists {
		if err != nil {
			return n, err
		}
		key := `"` + l.key + `":` // unambiguous, because a quote in a string has a backslash
		before, rest, _ := bytes.Cut(text, []byte(key+"["+strconv.Itoa(math.MinInt32)+"]"))
		n += len(before) + len(key)
		if _, err = to.Write(append(slices.Clip(before), key...)); err == nil {
			var k int
			k, err = l.write(to)
			n += k
		}
		text = rest
	}
	if err == nil {
		_, err = to.Write(text)
	}
	return n + len(text), err
}

// write writes the list as JSON, and returns its length.
func (l elements) write(to io.Writer) (n int, err error) {
	const part = 1 << 16
	text := []byte{'['}
	for i, v := range l.of {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(v), 10)
		if len(text) >= part {
			if _, err = to.Write(text); err != nil {
				return n, err
			}
			n, text = n+len(text), text[:0]
		}
	}
	_, err = to.Write(append(text, ']'))
	return n + len(text) + 1, err
}
