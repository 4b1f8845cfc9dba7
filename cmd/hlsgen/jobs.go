package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"sync"

	"hlsgen/internal/requests"
	"hlsgen/internal/simulate"
)

// The calls that are no commands.
const (
	callLoad    = "load"    // reads a model, and gives it a number
	callUnload  = "unload"  // forgets a model
	callFrames  = "frames"  // runs the layers of a model on what a driver sends
	callLibrary = "library" // compiles the generated C++ of a build
)

// A server answers requests by running commands.
type server struct {
	world
	dir   string   // for the files of models and of requests
	calls []string // names of calls

	mu     sync.Mutex
	last   int64 // the number of the last folder
	loaded int64 // the number of the last model
	models map[int64]*servedModel
}

// A servedModel is a model that a client has loaded, and what earlier requests made of it.
type servedModel struct {
	path string // of its file in the server's folder; empty for the example
	mu   sync.Mutex
	warm map[string]*simulate.Warm // by the options that shape an import
}

// newServedModel returns a model whose file lies at path.
func newServedModel(path string) *servedModel {
	return &servedModel{path: path, warm: map[string]*simulate.Warm{}}
}

// maxWarmOptions limits the sets of options with which a model stays imported.
const maxWarmOptions = 8

// warmed returns what earlier simulations with options of this text made of the model.
func (m *servedModel) warmed(options string) *simulate.Warm {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.warm[options] == nil {
		if len(m.warm) >= maxWarmOptions {
			clear(m.warm)
		}
		m.warm[options] = &simulate.Warm{}
	}
	return m.warm[options]
}

// place returns the path of a new file or folder below the server's.
func (s *server) place(parts ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return filepath.Join(append([]string{s.dir, fmt.Sprint(s.last)}, parts...)...)
}

// A job answers a request. Its files lie in a folder of its own.
type job struct {
	*server
	request *requests.Request
	model   *servedModel
	dir     string
}

// folder returns the folder where relative paths of the request start.
func (j *job) folder() string { return cmp.Or(j.request.Folder, j.world.dir) }

// part returns the path of a part's file.
func (j *job) part(i int) string {
	p := j.request.Parts[i]
	if j.request.Call == callLoad && p.Name != "" {
		return filepath.Join(j.dir, p.Name)
	}
	return filepath.Join(j.dir, fmt.Sprint(i), p.Option+".npy")
}
