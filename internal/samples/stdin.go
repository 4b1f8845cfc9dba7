package samples

import (
	"errors"
	"io"

	"hlsgen/internal/npy"
)

// StandardStreamPath is the path that means standard input or standard output.
const StandardStreamPath = "-"

// A StdinArray is an .npy array that arrives on standard input.
type StdinArray struct {
	From  io.Reader
	array *npy.ArrayReader // nil until its header is read
}

// OpenArray reads the header of the array and returns the array. Later calls return the same array. It returns an error
// if a or a.From is nil.
func (a *StdinArray) OpenArray() (*npy.ArrayReader, error) {
	if a == nil || a.From == nil {
		return nil, errors.New("there is no standard input")
	}
	var err error
	if a.array == nil {
		a.array, err = npy.NewOneTimeReader(a.From, "standard input")
	}
	return a.array, err
}
