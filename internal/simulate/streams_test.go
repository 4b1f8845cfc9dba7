package simulate_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/engines"
	"hlsgen/internal/examples"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/samples"
	"hlsgen/internal/simulate"
	"hlsgen/internal/testsupport/samplefiles"
	"hlsgen/internal/testsupport/simtest"
)

// many is the samples of a file, again and again, more than go into some parts.
func many(t *testing.T, path string, runs int) *npy.Array {
	t.Helper()
	of := samplefiles.Read(t, path)
	a := &npy.Array{DType: of.DType, Shape: slices.Clone(of.Shape)}
	a.Shape[0] = runs
	for a.Data = slices.Clone(of.Data); len(a.Data) < a.ElementCount(); a.Data = append(a.Data, of.Data...) {
	}
	a.Data = a.Data[:a.ElementCount()]
	return a
}

// formatted is an array of rows in NumPy's format, in the order of bytes or of elements that its type and fortran say.
func formatted(t *testing.T, a *npy.Array, descr string, fortran bool) []byte {
	t.Helper()
	b, err := npy.EncodeNPYHeader(a.DType, a.Shape)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("'<f4'"), []byte("'"+descr+"'"), 1)
	data := a.Data
	if rows, columns := a.Shape[0], len(a.Data)/a.Shape[0]; fortran {
		b = bytes.Replace(b, []byte("False"), []byte("True "), 1)
		data = make([]float64, len(a.Data))
		for i, v := range a.Data {
			data[i%columns*rows+i/columns] = v
		}
	}
	for _, v := range data {
		switch descr {
		case ">f4":
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
		case "<f8":
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		default:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
		}
	}
	return b
}

// packed is an archive with one array.
func packed(t *testing.T, name string, array []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.WriteNPZOfNPYFiles(&b, map[string]io.Reader{name: bytes.NewReader(array)}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestStreams simulates samples from files of every form, and in every form of output: always the same bytes, those of
// the samples one by one.
func TestStreams(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	const runs = 40_000
	x := many(t, filepath.Join(dir, "inputs.npy"), runs)
	once := filepath.Join(t.TempDir(), "once.npy")
	o := onIris(dir, engines.EngineEval)
	o.Output = once
	simtest.RunClean(t, o)
	y := many(t, once, runs)
	plain, want := formatted(t, x, "<f4", false), formatted(t, y, "<f4", false)
	name := onnxInput(t, o.Model)
	for _, c := range []struct {
		name, file string
		data       []byte
		held       bool
	}{
		{"float32", "x.npy", plain, false},
		{"float32, Fortran order", "x.npy", formatted(t, x, "<f4", true), false},
		{"float32, big-endian", "x.npy", formatted(t, x, ">f4", false), false},
		{"float64", "x.npy", formatted(t, x, "<f8", false), false},
		{"compressed", "x.npz", packed(t, name, plain), false},
		{"compressed, Fortran order", "x.npz", packed(t, name, formatted(t, x, "<f4", true)), true},
		{"standard input", samples.StandardStreamPath, plain, false},
		{"standard input, Fortran order", samples.StandardStreamPath, formatted(t, x, "<f4", true), true},
	} {
		o, out := onIris(dir, engines.EngineFast), filepath.Join(t.TempDir(), "y.npy")
		if o.Data = samples.StandardStreamPath; c.file != samples.StandardStreamPath {
			o.Data = samplefiles.WriteFile(t, c.file, c.data)
		}
		var stdout bytes.Buffer
		o.Stdout = &stdout
		for _, o.Output = range []string{out, samples.StandardStreamPath} {
			o.Stdin = &samples.StdinArray{From: bytes.NewReader(c.data)}
			var d diag.List
			r, err := simulate.Run(t.Context(), o, &d)
			if err != nil || r == nil || len(d.Diags) > 0 != c.held || c.held &&
				d.Diags[0].Code != diag.SamplesHeldInMemory {
				t.Fatal(c.name, err, d.Diags)
			}
			if r.Samples != runs || len(r.Outputs[0].Data) != len(y.Data) {
				t.Errorf("%s: %d samples, %d numbers", c.name, r.Samples, len(r.Outputs[0].Data))
			}
		}
		if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) || !bytes.Equal(stdout.Bytes(), want) {
			t.Errorf("%s gives other bytes, or on standard output: %v", c.name, err)
		}
	}
	o = onIris(dir, engines.EngineFast)
	classes := &npy.Array{DType: "int64", Shape: []int{runs}}
	right := 0
	for i := range runs {
		classes.Data = append(classes.Data, float64(i%3))
		if slices.Index(y.Data[3*i:3*i+3], slices.Max(y.Data[3*i:3*i+3])) == i%3 {
			right++
		}
	}
	o.Data, o.LabelsFile = samplefiles.WriteFile(t, "x.npy", plain), samplefiles.Write(t, classes)
	if a := simtest.RunClean(t, o).Accuracy; a.Right != right || a.Samples != runs {
		t.Errorf("%+v, want %d right", a, right)
	}
	// Of engine eval, parts have 64 samples.
	const few = 300
	x, y = many(t, filepath.Join(dir, "inputs.npy"), few), many(t, once, few)
	o = onIris(dir, engines.EngineEval)
	o.Data = samplefiles.WriteFile(t, "x.npy", formatted(t, x, "<f4", false))
	o.Compare = samplefiles.WriteFile(t, "y.npz", packed(t, "y", formatted(t, y, "<f4", true)))
	o.MaxShown = 4
	if r := simtest.RunClean(t, o); r.Compare.Equal != few || len(r.Outputs[0].Data) != 4 {
		t.Errorf("%+v, %d numbers", r.Compare, len(r.Outputs[0].Data))
	}
}

// onnxInput is the name of a model's only input.
func onnxInput(t *testing.T, path string) string {
	t.Helper()
	var d diag.List
	c, err := check.Run(t.Context(), check.Options{Source: options.Source{Model: path}}, &d)
	samplefiles.WantClean(t, &d, err)
	return c.Imported.Model.In[0].Name
}

// broken returns a reader of a part of a file, and then an error.
func broken(data []byte, err error) io.Reader {
	return io.MultiReader(bytes.NewReader(data), readerOf(func([]byte) (int, error) { return 0, err }))
}

type readerOf func([]byte) (int, error)

func (f readerOf) Read(b []byte) (int, error) { return f(b) }

// TestStreamsBreak holds what is said where samples end too early, where one is none, and where nobody takes the
// outputs: nothing is left behind.
func TestStreamsBreak(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(samplefiles.Examples(t), examples.IrisName)
	x := many(t, filepath.Join(dir, "inputs.npy"), 40_000)
	plain := formatted(t, x, "<f4", false)
	none := slices.Clone(x.Data)
	none[4*30_000+1] = math.NaN()
	nan := formatted(t, &npy.Array{DType: x.DType, Shape: x.Shape, Data: none}, "<f4", false)
	begins := len(plain) - 16*40_000
	gone := errors.New("nobody reads")
	for _, c := range []struct {
		name   string
		stdin  io.Reader
		stdout io.Writer
		said   string
		err    error
	}{
		{"cut off", bytes.NewReader(plain[:begins+16*25_000+5]), nil,
			"standard input: the file is cut off, at sample 25000", nil},
		{"cut off in the header", bytes.NewReader(plain[:50]), nil, "standard input: the file is cut off", nil},
		{"no number", bytes.NewReader(nan), nil, "sample 30000: ", nil},
		{"an error", broken(plain[:begins+16*20_000], context.Canceled), nil, "", context.Canceled},
		{"no reader", bytes.NewReader(plain), writerOf(func([]byte) (int, error) { return 0, gone }), "", gone},
	} {
		o, to := onIris(dir, engines.EngineFast), t.TempDir()
		o.Data, o.Output, o.Stdin = samples.StandardStreamPath, filepath.Join(to, "y.npy"),
			&samples.StdinArray{From: c.stdin}
		if c.stdout != nil {
			o.Output, o.Stdout = samples.StandardStreamPath, c.stdout
		}
		var d diag.List
		r, err := simulate.Run(t.Context(), o, &d)
		said := ""
		for _, x := range d.Diags {
			said += x.Msg
		}
		if r != nil || !errors.Is(err, c.err) || !strings.Contains(said, c.said) || (c.said == "") != (said == "") {
			t.Errorf("%s: %v, %q", c.name, err, said)
		}
		if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %v, %v", c.name, left, err)
		}
	}
}

type writerOf func([]byte) (int, error)

func (f writerOf) Write(b []byte) (int, error) { return f(b) }
