// Package deploy writes the files with which a program uses the accelerator. They are host.json, which describes how
// samples become words and words become results, and a driver that reads it. The generated C++ becomes a library that
// replaces the device.
//
//	deploy.go        the files
//	host.go          host.json for a design; json.go, its text
//	accelerator.py   the driver, which is the same for every design
//	accelerator.hpp  the same in C++; _xrt and _bare connect to a card, and to a board without an operating system
//	ends.go          host.json as ONNX: pre.onnx and post.onnx; onnx.go, the operators that they use
//	weights.go       the weights that are loaded into its tables; weights.hpp.tpl, the header for C++
//	counters.go      for a design with counters: counters.json, counters.py, counters.hpp
//	tables.go        host.json as C++
//	host.hpp.tpl     the text of these tables
//	lib.cpp.tpl      the library
//
// In comes a Design, out come the files for its host.
package deploy

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/templates"
)

//go:embed accelerator.py accelerator*.hpp lib.cpp.tpl host.hpp.tpl counters.py counters.hpp.tpl
//go:embed weights.hpp.tpl
var sources embed.FS

// A libView holds what lib.cpp.tpl needs: the accelerator's name, hash and streams.
type libView struct {
	Top, Hash, Calls, Args, Outputs string
	Ports, In, Out                  []portView
}

// A portView describes a stream of the library: its name, its C++ type, its width in bits and its number.
type portView struct{ Name, Kind, TDATA, Number string }

// GenerateFiles returns the files of the folder deploy. If hls is set, it adds hls/lib.cpp, the library that runs the
// generated C++. system is what is around the accelerator, or nil. The error is a *NoDriverError if the design can have
// no driver.
func GenerateFiles(d *dataflow.Design, opt templates.Options, hls bool, system *HostSystem) (templates.ProjectFiles,
	error) {
	return files(d, opt, hls, system, nil)
}

// files returns the files of the folder deploy. If load is not nil, they include its weights.
func files(d *dataflow.Design, opt templates.Options, hls bool, system *HostSystem,
	load *WeightsToLoad) (files templates.ProjectFiles, err error) {
	face, err := templates.IPInterfaceOf(d, opt)
	if err != nil {
		return nil, err
	}
	h, err := HostFileOf(d, face)
	if err != nil {
		return nil, err
	}
	if load != nil {
		weights, err := h.loaded(load)
		if err != nil {
			return nil, err
		}
		files = append(files, weights...)
	}
	h.System = system
	text, err := h.encodeJSON()
	if err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: "deploy/host/host.json", Data: text})
	for _, end := range []struct {
		name string
		text func() ([]byte, error)
	}{{"pre", h.preprocessingONNX}, {"post", h.postprocessingONNX}} {
		if text, err = end.text(); err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "deploy/host/" + end.name + ".onnx", Data: text})
	}
	for _, name := range []string{"accelerator.py", "accelerator.hpp", "accelerator_xrt.hpp", "accelerator_bare.hpp"} {
		driver, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, templates.GeneratedFile{Path: "deploy/" + name, Data: driver})
	}
	if text, err = templates.RenderTemplate(sources, "host.hpp.tpl", h.tables()); err != nil {
		return nil, err
	}
	files = append(files, templates.GeneratedFile{Path: "deploy/host/host.hpp", Data: text})
	if !hls {
		return files, nil
	}
	if text, err = templates.RenderTemplate(sources, "lib.cpp.tpl", lib(d, face, h.Hash)); err != nil {
		return nil, err
	}
	return append(files, templates.GeneratedFile{Path: "hls/lib.cpp", Data: text}), nil
}

// PythonDriver returns the text of accelerator.py, which is the same for every design.
func PythonDriver() ([]byte, error) { return sources.ReadFile("accelerator.py") }

// lib returns the data for lib.cpp.tpl, for a design with the interface face and the given hash.
func lib(d *dataflow.Design, face templates.IPInterface, hash string) libView {
	v := libView{Top: face.Top, Hash: hash, Outputs: strconv.Itoa(len(face.Out))}
	calls := 0
	for i := range d.Model.Graph.Nodes {
		calls += 2 * d.LoopOfNode(i).IterationsPerFrame()
	}
	var args []string
	add := func(to *[]portView, p templates.AXIStreamPort, k int, kind string) {
		view := portView{p.Name, fmt.Sprintf("hls::stream<%s>", fmt.Sprintf(kind, p.TDATA)), strconv.Itoa(p.TDATA),
			strconv.Itoa(k)}
		*to, v.Ports, args = append(*to, view), append(v.Ports, view), append(args, p.Name)
		calls += 2 * p.Port.Words
	}
	for k, p := range face.In {
		kind := "ap_uint<%d>"
		if l := d.Model.Lengths; l != nil && l.In[k] >= 0 {
			kind = "ap_axiu<%d, 0, 0, 0>"
		}
		add(&v.In, p, k, kind)
	}
	for k, p := range face.Out {
		add(&v.Out, p, k, "ap_axiu<%d, 0, 0, 0>")
	}
	v.Args, v.Calls = strings.Join(args, ", "), strconv.Itoa(calls)
	return v
}

// sum returns a hash of the text as 16 hexadecimal digits.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:8])
}
