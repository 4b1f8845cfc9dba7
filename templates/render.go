package templates

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/flosch/pongo2/v6"
)

// sources holds the templates of the generated files.
//
//go:embed *.tpl
var sources embed.FS

// compiled parses every template once. In pongo2, filters and HTML escaping are global settings, so they are made
// here before any template is parsed.
var compiled = sync.OnceValues(func() (map[string]*pongo2.Template, error) {
	pongo2.SetAutoescape(false)
	if err := pongo2.RegisterFilter("req", require); err != nil {
		return nil, err
	}
	names, err := fs.Glob(sources, "*.tpl")
	if err != nil {
		return nil, err
	}
	all := map[string]*pongo2.Template{}
	for _, name := range names {
		text, err := sources.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if all[name], err = pongo2.FromBytes(text); err != nil {
			return nil, fmt.Errorf("template %s: %w", name, err)
		}
	}
	return all, nil
})

// require is the filter |req, which returns an error for a name without a value. Every value in a template must pass
// it, because pongo2 prints nothing for an unknown name.
func require(in, _ *pongo2.Value) (*pongo2.Value, *pongo2.Error) {
	if in.IsNil() {
		return nil, &pongo2.Error{Sender: "filter:req", OrigError: errors.New("there is no such value")}
	}
	return in, nil
}

// RenderTemplate returns the text of the template called name of the given files, filled with the view. The template
// accesses the view by the name v. A value that it passes through the filter |req must exist, or there is an error.
func RenderTemplate(files fs.FS, name string, view any) ([]byte, error) {
	if _, err := compiled(); err != nil { // sets pongo2's global settings
		return nil, err
	}
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	t, err := pongo2.FromBytes(text)
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return fill(t, name, view)
}

// A written is a file that is to be made from a template and its view.
type written struct {
	path, template string
	view           any
}

// render adds the files of the list, made from their templates.
func (f *ProjectFiles) render(list []written) error {
	for _, w := range list {
		text, err := render(w.template, w.view)
		if err != nil {
			return err
		}
		f.add(w.path, text)
	}
	return nil
}

// render returns the text of a template of this package, which accesses the view by the name v.
func render(name string, view any) (text []byte, err error) {
	all, err := compiled()
	if err != nil {
		return nil, err
	}
	t, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("no template %s", name)
	}
	return fill(t, name, view)
}

// fill returns the text of a template with the view. name is the template's name, for errors.
func fill(t *pongo2.Template, name string, view any) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			text, err = nil, fmt.Errorf("template %s: %v", name, r)
		}
	}()
	var b bytes.Buffer
	if err := t.ExecuteWriterUnbuffered(pongo2.Context{"v": view}, &b); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	return b.Bytes(), nil
}
