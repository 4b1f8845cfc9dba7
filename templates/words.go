package templates

import (
	"fmt"
	"slices"
	"strconv"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
)

// bits is a row of elements as words of 64 bits, with element 0 in the lowest bits of word 0.
type bits []uint64

// pack returns elements of type t side by side without gaps, in the memory of into. The error names an element that t
// does not hold.
func pack(into bits, t num.Type, elems []int64) (bits, error) {
	n := (len(elems)*t.Width + 63) / 64
	into = append(into[:0], make([]uint64, n)...)
	plain, all, mask := t.Kind == num.KindInt || t.Kind == num.KindUInt, t.Range(), ^uint64(0)>>(64-t.Width)
	for i, v := range elems {
		code := uint64(v) & mask // the code of a plain integer
		switch {
		case plain && all.Contains(v):
		case t.Holds(v):
			code = t.EncodeBits(v)
		default:
			return nil, fmt.Errorf("element %d is %d, which %s does not hold", i, v, t)
		}
		at := i * t.Width
		into[at/64] |= code << (at % 64)
		if at%64+t.Width > 64 {
			into[at/64+1] |= code >> (64 - at%64)
		}
	}
	return into, nil
}

// unpack sets elems to the elements of type t that lie side by side in b, as pack puts them.
func unpack(b bits, t num.Type, elems []int64) {
	for i := range elems {
		at := i * t.Width
		code := b[at/64] >> (at % 64)
		if at%64+t.Width > 64 {
			code |= b[at/64+1] << (64 - at%64)
		}
		elems[i] = t.DecodeBits(code)
	}
}

// hexDigits holds the hexadecimal digits in order.
const hexDigits = "0123456789abcdef"

// appendHex appends a word of width bits to a text with all its hexadecimal digits, the highest first.
func appendHex(text []byte, b bits, width int) []byte {
	for d := (width+3)/4 - 1; d >= 0; d-- {
		text = append(text, hexDigits[b[d/16]>>(d%16*4)&15])
	}
	return text
}

// AppendHexWord appends a word of elements of type t to a text with all its hexadecimal digits, the highest first.
// Element 0 is in the lowest bits. It panics if t does not hold an element.
func AppendHexWord(text []byte, t num.Type, elems []int64) []byte {
	text, err := appendWord(text, t, elems)
	if err != nil {
		panic("templates: " + err.Error())
	}
	return text
}

// appendWord does what AppendHexWord does, but returns an error that names an element that t does not hold.
func appendWord(text []byte, t num.Type, elems []int64) ([]byte, error) {
	const narrow = 60 // an element and three bits left over from the one before fit in 64 bits
	if t.Width > narrow || t.Kind != num.KindInt && t.Kind != num.KindUInt {
		word, err := pack(nil, t, elems)
		if err != nil {
			return nil, err
		}
		return appendHex(text, word, len(elems)*t.Width), nil
	}
	width, all, mask := t.Width, t.Range(), ^uint64(0)>>(64-t.Width)
	digits := (len(elems)*width + 3) / 4
	text = slices.Grow(text, digits)
	word := text[len(text) : len(text)+digits]
	rest, n := uint64(0), 0 // bits that do not yet fill a digit
	for i, v := range elems {
		if !all.Contains(v) {
			return nil, fmt.Errorf("element %d is %d, which %s does not hold", i, v, t)
		}
		rest |= uint64(v) & mask << n
		for n += width; n >= 4; n -= 4 {
			digits--
			word[digits] = hexDigits[rest&15]
			rest >>= 4
		}
	}
	if n > 0 {
		word[0] = hexDigits[rest]
	}
	return text[:len(text)+len(word)], nil
}

// parseHex returns the word of width bits that a text has in hexadecimal. It may have up to two digits more than that,
// the padding of an AXI stream, which must be zero. Any other text is an error.
func parseHex(s string, width int) (bits, error) {
	digits := (width + 3) / 4
	if len(s) < digits || len(s) > digits+2 {
		return nil, fmt.Errorf("word %q has not %d digits", s, digits)
	}
	b := make(bits, (4*len(s)+63)/64)
	for d := range len(s) {
		v, err := strconv.ParseUint(s[len(s)-1-d:len(s)-d], 16, 4)
		if err != nil {
			return nil, fmt.Errorf("word %q is not hexadecimal", s)
		}
		if v != 0 && v>>max(0, width-4*d) != 0 {
			return nil, fmt.Errorf("word %q is wider than %d bits", s, width)
		}
		b[d/16] |= v << (d % 16 * 4)
	}
	return b, nil
}

// FormatRecording returns the text of frames on a stream with the word format p: a word per line, in hexadecimal, frame
// after frame. The error names an element that does not fit.
func FormatRecording(p dataflow.Port, frames []dataflow.Tensor) ([]byte, error) {
	return new(recorder).text(p, frames, false)
}

// line returns the number of bytes in the line of a word.
func line(p dataflow.Port) int { return (p.Width()+3)/4 + 1 }

// A recorder writes the texts of frames. It reuses memory for a frame's elements.
type recorder struct{ room []int64 } // for a frame's elements

// text returns the text of frames on a stream: one word per line, frame after frame. If steps is true, a frame is any
// number of time steps with the port's words each.
func (r *recorder) text(p dataflow.Port, frames []dataflow.Tensor, steps bool) (text []byte, err error) {
	text = make([]byte, 0, len(frames)*p.Words*line(p))
	for f, t := range frames {
		size := p.Words * p.PerWord
		if len(t.Data) != size && (!steps || len(t.Data)%size != 0) {
			return nil, fmt.Errorf("frame %d has %d elements, the stream carries %d words of %d", f, len(t.Data),
				p.Words, p.PerWord)
		}
		if text, err = r.add(text, p, t); err != nil {
			return nil, fmt.Errorf("frame %d, %w", f, err)
		}
	}
	return text, nil
}

// add appends the words of a frame, or of some of its rows, to a text.
func (r *recorder) add(text []byte, p dataflow.Port, t dataflow.Tensor) ([]byte, error) {
	sent := t.Data
	if p.Tile > 0 {
		r.room = slices.Grow(r.room[:0], len(t.Data))
		sent = p.ToStreamOrderReusingMemory(r.room[:len(t.Data)], t)
	}
	for w := range len(sent) / p.PerWord {
		var err error
		if text, err = appendWord(text, p.Elem, sent[w*p.PerWord:(w+1)*p.PerWord]); err != nil {
			return nil, fmt.Errorf("word %d: %w", w, err)
		}
		text = append(text, '\n')
	}
	return text, nil
}
