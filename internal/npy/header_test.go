package npy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// file returns an .npy file of a version, with the given number of zeros behind its header.
func file(version, header string, zeros int) []byte {
	length := []byte{byte(len(header)), byte(len(header) >> 8)}
	if version[0] != 1 {
		length = append(length, 0, 0)
	}
	return fmt.Appendf(nil, "\x93NUMPY%s%s%s%s", version, length, header, make([]byte, zeros))
}

// TestHeaders checks which headers are accepted: only those that numpy accepts.
func TestHeaders(t *testing.T) {
	t.Parallel()
	const rest = "'fortran_order': False, 'shape': (2,), "
	for _, c := range []struct {
		version, header string
		shape           []int // nil if numpy rejects the header
	}{
		{"\x01\x00", "{'descr': '<f4', " + rest + "}\n", []int{2}},
		{"\x02\x00", "{'descr': '<f4', " + rest + "}   \n", []int{2}},
		{"\x03\x00", " {\"descr\":'f4',\n" + rest + "}", []int{2}},
		{"\x01\x00", "{'descr': '=f4', 'fortran_order': False, 'shape': ()}", []int{}},
		{"\x01\x00", "{'shape': ( 2 , 1 ), 'descr': '|f4', 'fortran_order': True}", []int{2, 1}},
		{"\x01\x01", "{'descr': '<f4', " + rest + "}", nil},
		{"\x00\x00", "{'descr': '<f4', " + rest + "}", nil},
		{"\x04\x00", "{'descr': '<f4', " + rest + "}", nil},
		{"\x03\x00", "{'descr': '<f4', " + rest + "}\xff", nil},
		{"\x01\x00", "'descr': '<f4', " + rest, nil},
		{"\x01\x00", "{'descr': '<f4', " + rest, nil},
		{"\x01\x00", "{'descr': '<f4', " + rest + "} and more", nil},
		{"\x01\x00", "{'descr': '<f4', " + rest + "'more': 'f4'}", nil},
		{"\x01\x00", "{'descr': '<f4' " + rest + "}", nil},
		{"\x01\x00", "{'descr': '<f4', 'shape': (2,)}", nil},
		{"\x01\x00", "{descr: '<f4', " + rest + "}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': 'False', 'shape': (2,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': 2}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': '(2,)'}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,1)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (02,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", nil},
		{"\x01\x00", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3)}", nil}, // the file has only two elements
		{"\x01\x00", "{'descr': (2,), " + rest + "}", nil},
		{"\x01\x00", "{'descr': '<f3', " + rest + "}", nil},
		{"\x01\x00", "{'descr': '|O', " + rest + "}", nil},
		{"\x01\x00", "{'descr': '<f4', " + rest + "}" + strings.Repeat(" ", 10000), nil},
	} {
		a, err := ParseNPY(file(c.version, c.header, 8))
		if (err == nil) != (c.shape != nil) || err == nil && !slices.Equal(a.Shape, c.shape) {
			t.Errorf("version %q, %.80q: %v, %v", c.version, c.header, a, err)
		}
	}
	truth := append(file("\x01\x00", "{'descr': '|b1', "+rest+"}", 0), 2, 0)
	if a, err := ParseNPY(truth); err != nil || !slices.Equal(a.Data, []float64{1, 0}) {
		t.Errorf("a truth that is 2: %v, %v", a, err)
	}
}
