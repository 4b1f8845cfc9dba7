package compiler

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/internal/compiler/samples"
	"hlsgen/internal/npy"
	"hlsgen/internal/owned"
)

// traceName makes a file name of a tensor's name: other characters than letters, digits, '-', '_' and '.' become %XX.
// Of a long one it is the beginning and a hash.
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
		sum := sha256.Sum256([]byte(tensor))
		return b.String()[:160] + "-" + hex.EncodeToString(sum[:8])
	}
	return b.String()
}

// traced is what files are called that hold codes, and what makes reals of them.
var traced = [...]string{".npy", ".scale.npy", ".bias.npy"}

// traceStreams writes, per tensor of the model that a stream carries, NAME.npy with the integers of all samples and
// NAME.scale.npy and NAME.bias.npy with what makes reals of them: real = scale*integer + bias. All have the tensor's
// shape.
func traceStreams(dir *owned.Shared, im *frontend.Imported, streams []tensors) error {
	var names []string
	for _, t := range im.Carried() {
		for _, suffix := range traced {
			names = append(names, traceName(t.Name)+suffix)
		}
	}
	if err := dir.Admit(names...); err != nil {
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
		for i, a := range []*npy.Array{codes, scale, bias} {
			if err := traceArray(dir, traceName(t.Name)+traced[i], a); err != nil {
				return err
			}
		}
	}
	return nil
}

// traceReference writes, per tensor of the model, NAME.npy with the values of all samples rounded to float64.
func traceReference(dir *owned.Shared, im *frontend.Imported, s *samples.Runs) error {
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
	files := map[string]*npy.Array{}
	for name, a := range all {
		files[traceName(name)+".npy"] = a
	}
	names := slices.Sorted(maps.Keys(files))
	if err := dir.Admit(names...); err != nil {
		return err
	}
	for _, name := range names {
		if err := traceArray(dir, name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func traceArray(dir *owned.Shared, name string, a *npy.Array) error {
	b, err := npy.Format(a)
	if err != nil {
		return err
	}
	return dir.Write(name, b)
}
