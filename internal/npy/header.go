package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The header of an .npy file is a Python dictionary with three keys. numpy rejects any other header, and so does
// this package.

// maxHeader limits the length of a header in bytes, as NumPy does.
const maxHeader = 10000

// header reads the header of an array, and subtracts its length from size, the number of available bytes. It returns
// the array without data, and its format.
func header(r io.Reader, size *int64) (*Array, format, error) {
	var start [12]byte
	n, err := io.ReadFull(r, start[:10])
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, format{}, err
	case n < 10 || string(start[:6]) != "\x93NUMPY":
		return nil, format{}, fmt.Errorf("not an .npy file")
	}
	length := int64(binary.LittleEndian.Uint16(start[8:]))
	*size -= 10
	switch version := start[6]; {
	case start[7] != 0 || version < 1 || version > 3:
		return nil, format{}, fmt.Errorf("format version %d.%d is unknown", version, start[7])
	case version > 1:
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, format{}, cutOff(err)
		}
		length = int64(binary.LittleEndian.Uint32(start[8:]))
		*size -= 2
	}
	if *size -= length; *size < 0 || length > maxHeader {
		return nil, format{}, fmt.Errorf("the header is cut off, or has more than %d bytes", maxHeader)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, format{}, cutOff(err)
	}
	if start[6] == 3 && !utf8.Valid(text) {
		return nil, format{}, fmt.Errorf("the header is not UTF-8 text")
	}
	return understood(string(text))
}

// understood parses the text of a header. It returns the array without data, and its format.
func understood(text string) (*Array, format, error) {
	entries, ok := dictionary(text)
	descr, fortran, shape := entries["descr"], entries["fortran_order"], entries["shape"]
	if !ok || len(entries) != 3 || len(descr) < 2 || fortran != "True" && fortran != "False" || shape == "" {
		return nil, format{}, fmt.Errorf(
			"header %.80q is not understood (objects, text and structured types are not supported)", text)
	}
	descr = descr[1 : len(descr)-1]
	order, code := byte('='), descr
	if descr != "" && strings.IndexByte("<>|=", descr[0]) >= 0 {
		order, code = descr[0], descr[1:]
	}
	t, ok := dtypes[code]
	if !ok {
		return nil, format{}, fmt.Errorf("data type %q is not supported", descr)
	}
	f := format{code: code, size: t.size, order: binary.LittleEndian, fortran: fortran == "True"}
	if order == '>' {
		f.order = binary.BigEndian
	}
	a := &Array{DType: t.name}
	if a.Shape, ok = tuple(shape); !ok {
		return nil, format{}, fmt.Errorf("the shape %.80q is no tuple of at most %d sizes", shape, maxRank)
	}
	return a, f, nil
}

// dictionary parses a Python dictionary from names to strings, truth values or tuples. Values stay as written. ok is
// false if the text is anything else.
func dictionary(text string) (entries map[string]string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "{")
	entries = map[string]string{}
	for ok {
		var key, value string
		rest = skipped(rest)
		if after, end := strings.CutPrefix(rest, "}"); end {
			return entries, skipped(after) == ""
		}
		if key, rest, ok = quoted(rest); !ok {
			break
		}
		if rest, ok = strings.CutPrefix(skipped(rest), ":"); !ok {
			break
		}
		if value, rest, ok = written(skipped(rest)); !ok {
			break
		}
		key = key[1 : len(key)-1]
		if _, twice := entries[key]; twice {
			break
		}
		entries[key] = value
		after, more := strings.CutPrefix(skipped(rest), ",")
		if !more && !strings.HasPrefix(after, "}") {
			break
		}
		rest = after
	}
	return nil, false
}

// skipped returns text without leading white space.
func skipped(text string) string { return strings.TrimLeft(text, " \t\r\n\f") }

// quoted splits text into the string at its beginning, with its quotes, and the rest. ok is false if there is no plain
// string.
func quoted(text string) (s, rest string, ok bool) {
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", text, false
	}
	end := strings.IndexByte(text[1:], text[0])
	if end < 0 || strings.ContainsAny(text[1:end+1], "\\\r\n") {
		return "", text, false
	}
	return text[:end+2], text[end+2:], true
}

// written splits text into the string, truth value or tuple at its beginning, as written, and the rest. ok is false if
// there is none.
func written(text string) (value, rest string, ok bool) {
	for _, truth := range []string{"True", "False"} {
		if rest, ok := strings.CutPrefix(text, truth); ok {
			return truth, rest, true
		}
	}
	if strings.HasPrefix(text, "(") {
		end := strings.IndexByte(text, ')')
		return text[:end+1], text[end+1:], end > 0
	}
	return quoted(text)
}

// tuple parses a Python tuple of sizes, at most maxRank of them. A tuple with one size must end in a comma. ok is false
// if the text is anything else.
func tuple(text string) (shape []int, ok bool) {
	inside, ok := strings.CutPrefix(text, "(")
	if !ok {
		return nil, false
	}
	parts := strings.Split(strings.TrimSuffix(inside, ")"), ",")
	last := len(parts) - 1
	if skipped(parts[last]) == "" {
		parts = parts[:last]
	} else if last == 0 {
		return nil, false
	}
	for _, part := range parts {
		part = strings.Trim(part, " \t\r\n\f")
		d, err := strconv.ParseUint(part, 10, 63)
		if err != nil || part[0] == '0' && strings.Trim(part, "0") != "" || len(shape) == maxRank {
			return nil, false
		}
		shape = append(shape, int(d))
	}
	return shape, true
}
