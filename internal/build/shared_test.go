package build_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hlsgen/internal/build"
	"hlsgen/internal/check"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/tier"
)

// imported are the shared models that tests have imported, each once.
var imported sync.Map

// sharedModel imports a shared model; the test is skipped where these are not there.
func sharedModel(t testing.TB, name string) *dataflow.Model {
	t.Helper()
	shared := tier.NeedsShared(t)
	once, _ := imported.LoadOrStore(name, sync.OnceValues(func() (*dataflow.Model, error) {
		o := build.Options{Source: options.Source{Model: filepath.Join(shared, "models", filepath.FromSlash(name),
			"model.onnx")}}
		if strings.HasPrefix(name, "finnl/") {
			o.Model, o.Dims = filepath.Join(filepath.Dir(o.Model), "scan.onnx"), map[string]int{"T": 520}
		}
		var d diag.List
		c, err := check.Run(context.Background(), check.Options{Source: o.Source, AccBits: o.AccBits}, &d)
		if err != nil || d.HasErrors() || c.Imported.Model == nil {
			return nil, fmt.Errorf("%s: %v %v", name, err, d.Diags)
		}
		return c.Imported.Model, nil
	}))
	m, err := once.(func() (*dataflow.Model, error))()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
