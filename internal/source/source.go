// Package source opens the model of a command: it reads the file, quantises the model on request, and imports it.
//
//	source.go     a model as bytes, and the embedded example
//	convert.go    ConvertModelFile writes a model in another dialect
//	ways.go       names flags with which a model maps
//	onhost.go     names flags with which more of a model maps
//	import.go     ImportModel calls the front end
//	quantise.go   records the values that samples produce in a model
//	quantised.go  compares the outputs before and after quantisation
//	open.go       ReadAndQuantiseModel reads a model, and quantises it on request
//	variants.go   quantises a model by several recipes
//	least.go      searches for the fewest bits
package source

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/frontend"
	"hlsgen/frontend/onnxio"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/examples"
	"hlsgen/internal/folder"
	"hlsgen/internal/npy"
	"hlsgen/internal/options"
	"hlsgen/internal/safefile"
)

// A ModelSource holds a model as bytes, including tensors that the file keeps in other files. It may come with samples
// and labels.
type ModelSource struct {
	Name    string // of the file, without folder and extension; or the name of the example
	File    string // base name, for diagnostics
	ONNX    []byte // nil once a build has imported it
	Example bool
	Inputs  *npy.Array // samples along the first axis; may be nil
	Labels  *npy.Array // class per sample, -1: none; may be nil
	sum     string     // the model's hash, after ONNX is set to nil
	read    *read      // the model, if it is already imported; may be nil

	transforms int              // number of fixed transforms that quantisation left to the host
	lookups    int              // number of products of ones and zeros that quantisation left to the host on request
	shapes     map[string][]int // shapes of the samples of quantisation; they bind axes that the model leaves open
}

// SHA256 returns the model's SHA-256 in hexadecimal digits. If the model keeps tensors in other files, the hash covers
// the file with these tensors included.
func (s *ModelSource) SHA256() string {
	if s.ONNX == nil && s.sum != "" {
		return s.sum
	}
	sum := sha256.Sum256(s.ONNX)
	return hex.EncodeToString(sum[:])
}

// ReadModelFile reads the model at path. An empty path means the embedded example. It returns nil after adding an error
// to d.
func ReadModelFile(path string, d *diag.List) *ModelSource {
	if path == "" {
		return example()
	}
	base := filepath.Base(path)
	s := &ModelSource{Name: folder.FileStemOf(path), File: base}
	unreadable := func(err error) *ModelSource {
		d.AddError(diag.FileUnreadable, base, err.Error(), "give the path of an .onnx file")
		return nil
	}
	if s.Name == "" {
		d.AddError(diag.FileUnreadable, base,
			"a model is called as its file is, without the extension: nothing is left "+
				"of this name", "give the file a name, such as model.onnx")
		return nil
	}
	f, err := safefile.OpenRegularFile(path, onnxio.MaxFileBytes)
	if base == "-" && errors.Is(err, fs.ErrNotExist) {
		d.AddError(diag.FileUnreadable, base, "a model is read from a file, not from standard input",
			"give its path; what it keeps in other files is looked for beside it")
		return nil
	}
	if err != nil {
		return unreadable(err)
	}
	defer f.Close()
	if f.Size > 0 && !onnxio.LooksLikeONNXFile(base, f, f.Size, d) {
		return nil
	}
	b, err := f.ReadAll()
	if err != nil {
		return unreadable(err)
	}
	if s.ONNX = b; !streamed(path) {
		s.ONNX = onnxio.InlineExternalData(base, b, safefile.FolderFS(filepath.Dir(path)), d)
	}
	if s.ONNX == nil {
		return nil
	}
	return s
}

// streamed reports whether a path names an open stream of the process, such as its standard input. Such a path has no
// folder with other files.
func streamed(path string) bool {
	full, err := filepath.Abs(path)
	return err == nil && (strings.HasPrefix(full, "/dev/") || strings.HasPrefix(full, "/proc/"))
}

// example returns the embedded example, with its samples and labels.
func example() *ModelSource {
	read := func(file string) []byte {
		b, err := examples.EmbeddedFiles.ReadFile(examples.DigitsName + "/" + file)
		if err != nil {
			panic(err)
		}
		return b
	}
	array := func(file string) *npy.Array {
		a, err := npy.ParseNPY(read(file))
		if err != nil {
			panic(err)
		}
		return a
	}
	return &ModelSource{Name: examples.DigitsName, File: "model.onnx", ONNX: read("model.onnx"), Example: true,
		Inputs: array("inputs.npy"), Labels: array("labels.npy")}
}

// CommandWords returns the first words of the command with the given name on the model, to be run in the model's
// folder. A nil source means the example, which a command takes if it names no model.
func (s *ModelSource) CommandWords(name string) []string {
	words := []string{"hlsgen", name}
	switch {
	case s == nil || s.Example: // "./" keeps a command from taking the name for a flag
	case strings.HasPrefix(s.File, "-"): // no command takes it for a flag
		words = append(words, "./"+s.File)
	default:
		words = append(words, s.File)
	}
	return words
}

// A read keeps the model that was imported during quantisation, with its diagnostics, so that it is not imported twice.
type read struct {
	*frontend.ImportedModel
	told diag.List
}

// ReusableImport returns the model that quantisation has imported, with the diagnostics of the import. The model is
// nil if there is none, or if importing it for data of these shapes would give another one.
func (s *ModelSource) ReusableImport(shapes map[string][]int) (*frontend.ImportedModel, []diag.Diag) {
	if s.read == nil || !s.read.fits(shapes) {
		return nil, nil
	}
	return s.read.ImportedModel, s.read.told.Diags
}

// fits reports whether importing for data of these shapes gives the same model. The number of samples in the data does
// not matter.
func (r *read) fits(shapes map[string][]int) bool {
	return r.Model != nil && !slices.ContainsFunc(r.Model.In, func(in dataflow.RealTensorInfo) bool {
		s, ok := shapes[in.Name]
		if !ok {
			s = shapes[""]
		}
		n := len(in.Shape)
		return n == 0 || len(s) != n || !slices.Equal(s[1:], in.Shape[1:]) || s[0] != in.Shape[0] && in.Shape[0] != 1
	})
}

// again reads the model that the options name once more. It returns nil if that fails.
func again(o options.Source) *ModelSource { return ReadModelFile(o.Model, new(diag.List)) }
