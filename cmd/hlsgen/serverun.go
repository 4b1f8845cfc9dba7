package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hlsgen/internal/requests"
	"hlsgen/internal/simulate"
)

// reserved lists the options that requests may not have: they speak of a terminal or of files of settings, or the
// server sets them.
var reserved = []string{"json", "config", "help", "quiet", "verbose", "log-format", "on-interrupt", "output"}

// outputs is the option of simulate whose arrays come back as they are, without a file.
const outputs = "output"

// aside lists the options of simulate that do not matter to how a model is imported, or that simulate.Warm tells apart.
var aside = []string{"input", "labels", "lengths", "compare", "engine", "trace", "trace-vcd", "timeline", "strict"}

// command runs the command of the request, as its command line would.
func (j *job) command(ctx context.Context, progress func(phase string, done, total int)) (*requests.Answer, error) {
	r := j.request
	args := []string{r.Call, "--json"}
	for _, name := range slices.Sorted(maps.Keys(r.Options)) {
		texts, err := textsOf(name, r.Options[name])
		if err != nil {
			return nil, err
		}
		args = append(args, texts...)
	}
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	for _, option := range slices.Sorted(maps.Keys(files)) {
		args = append(args, "--"+option+"="+files[option])
	}
	taken := map[string]string{}
	for option, name := range r.Take {
		if option != outputs {
			taken[option] = filepath.Join(j.dir, "take", name)
		}
	}
	for _, option := range slices.Sorted(maps.Keys(taken)) {
		args = append(args, "--"+option+"="+taken[option])
	}
	if len(taken) > 0 {
		if err := os.MkdirAll(filepath.Join(j.dir, "take"), 0o700); err != nil {
			return nil, err
		}
	}
	var stdout bytes.Buffer
	var arrays []*arrayBuffer
	w := world{env: j.env, plain: true, dir: j.folder(), stdout: &stdout, stderr: io.Discard, watch: progress}
	if _, asked := r.Take[outputs]; asked {
		w.take = func(name string) io.WriterAt {
			arrays = append(arrays, &arrayBuffer{name: name})
			return arrays[len(arrays)-1]
		}
	}
	if r.Call == "simulate" {
		w.warm = j.warm(files)
	}
	args = append(args, "--")
	if j.model.path != "" && len(r.Arguments) == 0 {
		args = append(args, j.model.path)
	}
	a := &requests.Answer{Exit: run(ctx, append(args, r.Arguments...), w)}
	var text bytes.Buffer
	if err := json.Compact(&text, stdout.Bytes()); err == nil {
		a.Result = text.Bytes()
	}
	if a.Exit != exitOK && a.Exit != exitMismatch {
		return a, nil
	}
	for _, x := range arrays {
		a.Parts = append(a.Parts, requests.Part{Option: outputs, Name: x.name, Bytes: int64(len(x.b))})
		a.Bodies = append(a.Bodies, bytes.NewReader(x.b))
	}
	for _, option := range slices.Sorted(maps.Keys(taken)) {
		b, err := os.ReadFile(taken[option])
		if err != nil {
			continue // the command wrote none: it does so only of what there is
		}
		a.Parts = append(a.Parts, requests.Part{Option: option, Name: r.Take[option], Bytes: int64(len(b))})
		a.Bodies = append(a.Bodies, bytes.NewReader(b))
	}
	return a, nil
}

// textsOf returns an option of a request as words of a command line.
func textsOf(name string, value any) (words []string, err error) {
	if slices.Contains(reserved, name) || strings.ContainsAny(name, "= ") || name == "" {
		return nil, &requests.Error{Message: fmt.Sprintf("the option %q is not for requests", name),
			Hint: "leave it out: answers have what it asks for"}
	}
	list, several := value.([]any)
	if !several {
		list = []any{value}
	}
	for _, v := range list {
		switch v := v.(type) {
		case nil:
		case string:
			words = append(words, "--"+name+"="+v)
		case bool, json.Number:
			words = append(words, fmt.Sprintf("--%s=%v", name, v))
		default:
			return nil, &requests.Error{Message: fmt.Sprintf("the option %q is no text, number, truth value or list",
				name), Hint: "give what the command line takes"}
		}
	}
	return words, nil
}

// files returns the files of the request's parts, by option. Parts of one option, each with a name, become an archive
// of arrays.
func (j *job) files() (map[string]string, error) {
	byOption := map[string][]int{}
	for i, p := range j.request.Parts {
		byOption[p.Option] = append(byOption[p.Option], i)
	}
	files := map[string]string{}
	for option, parts := range byOption {
		if len(parts) == 1 && j.request.Parts[parts[0]].Name == "" {
			files[option] = j.part(parts[0])
			continue
		}
		path := filepath.Join(j.dir, option+".npz")
		if err := j.pack(path, parts); err != nil {
			return nil, err
		}
		files[option] = path
	}
	return files, nil
}

// pack writes parts to an archive, without compression.
func (j *job) pack(path string, parts []int) (err error) {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	z := zip.NewWriter(to)
	for _, i := range parts {
		w, err := z.CreateHeader(&zip.FileHeader{Name: j.request.Parts[i].Name + ".npy", Method: zip.Store})
		if err == nil {
			err = appendFile(w, j.part(i))
		}
		if err != nil {
			to.Close()
			return err
		}
	}
	if err := z.Close(); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}

// appendFile writes the bytes of a file.
func appendFile(to io.Writer, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}

// warm returns what earlier simulations made of the model with the same options. It is nil if other files than samples
// shape the model.
func (j *job) warm(files map[string]string) *simulate.Warm {
	for option := range files {
		if !slices.Contains(aside, option) {
			return nil
		}
	}
	of := maps.Clone(j.request.Options)
	maps.DeleteFunc(of, func(name string, _ any) bool { return slices.Contains(aside, name) })
	text, err := json.Marshal([]any{j.request.Folder, of})
	if err != nil {
		return nil
	}
	return j.model.warmed(string(text))
}

// An arrayBuffer takes the bytes of an output.
type arrayBuffer struct {
	name string
	b    []byte
}

// WriteAt implements io.WriterAt.
func (a *arrayBuffer) WriteAt(b []byte, at int64) (int, error) {
	if grow := int(at) + len(b) - len(a.b); grow > 0 {
		a.b = append(a.b, make([]byte, grow)...)
	}
	return copy(a.b[at:], b), nil
}
