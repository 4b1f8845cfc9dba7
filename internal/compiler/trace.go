package compiler

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// traceName makes a file name of a tensor's name: other characters than letters, digits, '-', '_' and '.' become %XX.
func traceName(tensor string) string {
	var b strings.Builder
	for i := range len(tensor) {
		c := tensor[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' &&
			i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > 180 {
		return b.String()[:180]
	}
	return b.String()
}

// traceStreams writes, per tensor of the model that a stream carries, NAME.npy with the integers of all samples and
// NAME.scale.npy and NAME.bias.npy with what makes reals of them: real = scale*integer + bias. All have the tensor's
// shape.
func traceStreams(dir string, im *frontend.Imported, streams []tensors) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, t := range im.Carried() {
		codes := &npy.Array{DType: "int64", Shape: append([]int{len(streams)}, t.Shape...)}
		for _, frame := range streams {
			for _, v := range t.Integers(frame[t.Stream].Data) {
				codes.Data = append(codes.Data, float64(v))
			}
		}
		scale := &npy.Array{DType: "float64", Shape: t.Shape, Data: t.Scale}
		bias := &npy.Array{DType: "float64", Shape: t.Shape, Data: t.Bias}
		name := filepath.Join(dir, traceName(t.Name))
		for suffix, a := range map[string]*npy.Array{".npy": codes, ".scale.npy": scale, ".bias.npy": bias} {
			if err := traceArray(name+suffix, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// traceReference writes, per tensor of the model, NAME.npy with the values of all samples rounded to float64.
func traceReference(dir string, im *frontend.Imported, s *samples.Runs) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all := map[string]*npy.Array{}
	run := im.Tensors()
	for _, in := range s.In {
		tensors, err := run(in)
		if err != nil {
			return err
		}
		for name, t := range tensors {
			a := all[name]
			if a == nil {
				a = &npy.Array{DType: "float64", Shape: append([]int{len(s.In)}, t.Shape...)}
				all[name] = a
			}
			a.Data = append(a.Data, t.Data...)
		}
	}
	for name, a := range all {
		if err := traceArray(filepath.Join(dir, traceName(name)+".npy"), a); err != nil {
			return err
		}
	}
	return nil
}

func traceArray(path string, a *npy.Array) error {
	b, err := npy.Format(a)
	if err != nil {
		return err
	}
	return owned.WriteFile(path, b)
}
