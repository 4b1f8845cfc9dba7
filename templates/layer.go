package templates

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/hlslib"
	"hlsgen/internal/dataflow"
)

// A Layer is a named C++ instance of a kernel, with the words on its streams.
type Layer struct {
	Name     string   // an identifier, from which the names of config struct, tables and wrapper function are made
	Origin   []string // the ONNX nodes that it computes, for a comment
	Instance dataflow.KernelInstance
	In, Out  []dataflow.Port

	// Steps says that the layer takes sequences of any length: words and instance are those of a step. If the
	// instance reads ends, a further stream says after which step a sequence ends.
	Steps bool

	Calls []int // by recorded frame: the calls of the function, one per iteration
}

// A layersView holds what layers.hpp.tpl and layers.cpp.tpl need. Each of its layers is what layer.hpp.tpl and
// layer.cpp.tpl need.
type layersView struct {
	Layers  []layerView
	Kernels []string // header files of the layers' kernels, below include/hlsgen
}

// A layerView is one layer with everything spelled in C++.
type layerView struct {
	Name   string
	Origin string       // ONNX nodes; may be empty
	Header string       // the kernel's header, below include/hlsgen
	Seen   string       // the kernel's header if the config struct uses it, else empty
	Tables []string     // files below tables
	Alike  string       // an earlier layer with the same config, or empty
	Config []configView // members of the config struct
	Code   []string     // further lines of the config struct
	Bind   []string     // pragmas of the tables, without "#pragma HLS"
	Params string       // parameters of the wrapper: "hls::stream<ap_uint<8>>& in, ..."
	Func   string       // the kernel
	Args   string       // arguments of the kernel: "in, out, MVAU_0_weights"
}

// A configView is one line of a config struct; Pad aligns its comment.
type configView struct{ Decl, Pad, Doc string }

// viewLayers returns the layers spelled in C++, and their tables as files below hls/tables. A malformed layer is an
// error.
func viewLayers(layers []Layer) (v layersView, tables ProjectFiles, err error) {
	seen, alike := map[string]bool{}, map[string]string{}
	for _, l := range layers {
		view, files, err := l.view()
		if err != nil {
			return layersView{}, nil, fmt.Errorf("layer %s: %w", l.Name, err)
		}
		if seen[l.Name] {
			return layersView{}, nil, fmt.Errorf("two layers are called %s", l.Name)
		}
		seen[l.Name] = true
		if l.Instance.Alike {
			form := fmt.Sprint(view.Func, view.Config, view.Code)
			if view.Alike = alike[form]; view.Alike == "" {
				alike[form] = l.Name
			}
		}
		v.Layers = append(v.Layers, view)
		tables = append(tables, files...)
		if !slices.Contains(v.Kernels, l.Instance.Header) {
			v.Kernels = append(v.Kernels, l.Instance.Header)
		}
	}
	slices.Sort(v.Kernels)
	return v, tables, nil
}

// view returns the layer spelled in C++, and its tables as files.
func (l Layer) view() (v layerView, tables ProjectFiles, err error) {
	i := l.Instance
	if err := l.verify(); err != nil {
		return v, nil, err
	}
	v = layerView{Name: l.Name, Header: i.Header, Func: i.Func, Code: i.Code}
	if len(i.Code) > 0 {
		v.Seen = i.Header
	}
	config := members{names: map[string]bool{}}
	if len(l.Origin) > 0 {
		v.Origin = comment(strings.Join(l.Origin, ", "))
	}
	params, args := decls(l.ports())
	frame := "a frame"
	if l.Steps {
		frame = "a step"
	}
	for _, side := range []struct {
		name  string
		ports []dataflow.Port
	}{{"in", l.In}, {"out", l.Out}} {
		for k, p := range side.ports {
			name := numbered(side.name, k, len(side.ports))
			about := fmt.Sprintf("%s of %s %s", plural(p.Words, "word"), plural(p.PerWord, "element"), frame)
			for _, f := range []dataflow.ConfigField{{Name: name + "_t", Value: p.Elem}, {Name: name + "_per_word",
				Value: p.PerWord}, {Name: name + "_width", Value: p.Width()}} {
				if slices.Contains(i.Streams, f.Name) {
					config.add(f.Name, f.Value, about)
					about = ""
				}
			}
		}
	}
	for _, name := range i.Streams {
		if !config.names[name] {
			return v, nil, fmt.Errorf("no stream has a member %s", name)
		}
	}
	for _, t := range i.Tables {
		perLimb, count := dataflow.ChooseLimbLayout(len(t.Rows[0]), t.Elem.Width)
		if !t.Bare {
			config.add(t.Name+"_t", t.Elem, fmt.Sprintf("%s of %s", plural(len(t.Rows), "row"),
				plural(len(t.Rows[0]), "element")))
			config.add(t.Name+"_per_limb", perLimb, "")
		}
		name := l.Name + "_" + t.Name
		dim := 2
		if t.Banks > 0 {
			dim = 3
			v.Bind = append(v.Bind, fmt.Sprintf("ARRAY_PARTITION variable=%s dim=1 complete", name))
		}
		if count > 1 {
			v.Bind = append(v.Bind, fmt.Sprintf("ARRAY_RESHAPE variable=%s dim=%d complete", name, dim))
		}
		if s := i.StorageOf(t.Name); s.In != dataflow.NoMemory {
			v.Bind = append(v.Bind, fmt.Sprintf("BIND_STORAGE variable=%s %s", name, tableStorage(s.In)))
		}
		args = append(args, name)
		text, err := tableText(name, l.Name, t)
		if err != nil {
			return v, nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		tables.add("hls/tables/"+name+".hpp", text)
		v.Tables = append(v.Tables, name+".hpp")
	}
	for _, f := range i.Config {
		config.add(f.Name, f.Value, f.Doc)
	}
	for _, s := range i.Storage {
		if s.Written {
			config.add(s.Name+"_rows", max(1, s.Rows), "words of array "+s.Name+", their bits, and where they lie")
			config.add(s.Name+"_width", s.Width, "")
			config.add(s.Name+"_memory", s.In, "")
		}
	}
	v.Params, v.Args = strings.Join(params, ", "), strings.Join(args, ", ")
	v.Config, err = config.aligned()
	return v, tables, err
}

// verify returns an error if the C++ compiler or Vitis HLS would refuse the layer.
func (l Layer) verify() error {
	i := l.Instance
	for _, name := range []string{l.Name, i.Func} {
		if !IsIdentifier(name) {
			return fmt.Errorf("%q is not a C++ name", name)
		}
	}
	if name, ok := strings.CutSuffix(i.Header, ".hpp"); !ok || !IsIdentifier(name) {
		return fmt.Errorf("kernel header %q is not a name with .hpp", i.Header)
	}
	if len(l.In)+len(l.Out) == 0 {
		return errors.New("no streams")
	}
	for _, p := range slices.Concat(l.In, l.Out) {
		if p.PerWord < 1 || p.Words < 1 {
			return fmt.Errorf("a stream of %d words of %d elements", p.Words, p.PerWord)
		}
		if p.Width() > dataflow.MaxWordBits {
			return fmt.Errorf("a stream word of %d bits; Vitis HLS takes %d", p.Width(), dataflow.MaxWordBits)
		}
	}
	for _, t := range i.Tables {
		if len(t.Rows) == 0 || len(t.Rows[0]) == 0 {
			return fmt.Errorf("table %s is empty", t.Name)
		}
		if t.Elem.Width < 1 || t.Elem.Width > 64 {
			return fmt.Errorf("table %s has elements of %d bits", t.Name, t.Elem.Width)
		}
	}
	return l.verifyStorage()
}

// verifyStorage returns an error unless every table has a memory of its size, and no other memory is read only.
func (l Layer) verifyStorage() error {
	i := l.Instance
	for _, t := range i.Tables {
		s := i.StorageOf(t.Name)
		want := t.StorageForCostPart(s.Part)
		if want.In, want.Same = s.In, s.Same; s != want || t.Banks > 0 && len(t.Rows)%t.Banks != 0 {
			return fmt.Errorf("table %s is %dx%d, its storage is %v", t.Name, len(t.Rows), want.Width, s)
		}
	}
	tables := 0
	for _, s := range i.Storage {
		if err := s.Verify(); err != nil {
			return err
		}
		if !s.Written {
			tables++
		}
		if s.Written && s.Width > dataflow.MaxWordBits {
			return fmt.Errorf("%s has rows of %d bits; Vitis HLS takes %d", s.Name, s.Width, dataflow.MaxWordBits)
		}
	}
	if tables != len(i.Tables) {
		return fmt.Errorf("storage of %d tables, there are %d", tables, len(i.Tables))
	}
	return nil
}

// A members collects the lines of a config struct. err keeps the first defect.
type members struct {
	lines []configView
	names map[string]bool
	err   error
}

// add adds a constant to the config struct, with a comment.
func (m *members) add(name string, value any, doc string) {
	decl, err := cConstant(dataflow.ConfigField{Name: name, Value: value})
	switch {
	case m.err != nil:
	case err != nil:
		m.err = err
	case !IsIdentifier(name):
		m.err = fmt.Errorf("config field %q is not a C++ name", name)
	case m.names[name]:
		m.err = fmt.Errorf("two config fields are called %s", name)
	}
	m.names[name] = true
	m.lines = append(m.lines, configView{Decl: decl, Doc: comment(doc)})
}

// aligned returns the lines with their comments in one column, or the first defect.
func (m *members) aligned() ([]configView, error) {
	width := 0
	for _, l := range m.lines {
		if l.Doc != "" {
			width = max(width, len(l.Decl))
		}
	}
	for i, l := range m.lines {
		if l.Doc != "" {
			m.lines[i].Pad = strings.Repeat(" ", width-len(l.Decl))
		}
	}
	return m.lines, m.err
}

// numbered returns the name of port k of n. A single port has no number.
func numbered(name string, k, n int) string {
	if n == 1 {
		return name
	}
	return name + strconv.Itoa(k)
}

// widest returns the width of the widest ap_uint that the layers need, for streams, arrays, and config fields whose
// names end in _width. A kernel may declare variables with such a width.
func widest(layers []Layer) (int, error) {
	w := 64
	for _, l := range layers {
		for _, p := range slices.Concat(l.In, l.Out) {
			w = max(w, p.Width())
		}
		for _, s := range l.Instance.Storage {
			if s.Written {
				w = max(w, s.Width)
			}
		}
		for _, f := range l.Instance.Config {
			if n, ok := f.Value.(int); ok && strings.HasSuffix(f.Name, "_width") {
				if n > dataflow.MaxWordBits {
					return 0, fmt.Errorf("layer %s: %s is %d bits; Vitis HLS takes %d", l.Name, f.Name, n,
						dataflow.MaxWordBits)
				}
				w = max(w, n)
			}
		}
	}
	return w, nil
}

// library returns the headers of the named kernels, the headers that they share, and own, the headers of layers that
// are not in hlslib. A missing header is an error.
func library(kernels []string, own []hlslib.EmbeddedLibraryFile) (ProjectFiles, error) {
	var f ProjectFiles
	for _, h := range append(hlslib.HeadersForKernelFiles(kernels...), own...) {
		f.add("hls/"+h.Path, h.Text)
	}
	if err := f.sort(); err != nil {
		return nil, err
	}
	for _, k := range kernels {
		if f.ContentsOf("hls/include/hlsgen/"+k) == nil {
			return nil, fmt.Errorf("the kernel library has no %s", k)
		}
	}
	return f, nil
}
