package finn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// An object is a JSON object with its keys in order. Values are *object, []any, string, json.Number, bool or nil.
type object struct {
	keys   []string
	values map[string]any
}

// The limits of a folding file.
const (
	maxFile  = 16 << 20 // bytes
	maxDepth = 8        // nested objects and arrays
)

// readObject reads the JSON object that is all of data. It returns an error for a repeated key, for text after the
// object and beyond the limits.
func readObject(data []byte) (*object, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d bytes", maxFile)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readValue(dec, 0)
	if err == nil {
		_, end := dec.Token()
		if end != io.EOF {
			err = fmt.Errorf("text after the JSON value")
		}
	}
	if err != nil {
		line := 1 + bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n"))
		return nil, fmt.Errorf("line %d: %w", line, err)
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("not a JSON object")
	}
	return o, nil
}

func readValue(dec *json.Decoder, depth int) (any, error) {
	t, err := dec.Token()
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			v, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := dec.Token()
		return list, err
	case json.Delim('{'):
		o := &object{values: map[string]any{}}
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name := k.(string) // the decoder accepts only strings as keys
			if _, twice := o.values[name]; twice {
				return nil, fmt.Errorf("key %q is given twice", name)
			}
			if o.values[name], err = readValue(dec, depth+1); err != nil {
				return nil, err
			}
			o.keys = append(o.keys, name)
		}
		_, err := dec.Token()
		return o, err
	}
	return t, nil
}
