package layertest

import (
	"testing"

	"hlsgen/internal/testsupport/pagetest"
	"hlsgen/internal/testsupport/tier"
)

// TestPage adds the layer of docs/adding-a-layer.md. The page's blocks go into a copy of the module, in which the
// layer's tests must pass. In the full tier the tests that list layers, and those about the module's form, must pass,
// too, and in the long tier all tests.
func TestPage(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "g++")
	m := pagetest.CopyModule(t)
	folder, rows := m.AddPage("adding-a-layer.md")
	if folder == "" || rows != tables {
		t.Fatalf("the page has %d rows for tables and a folder %q, want %d and one", rows, folder, tables)
	}
	m.Go("test", "./"+folder)
	switch {
	case tier.Long():
		m.Go("test", "-short", "./...")
	case tier.Full():
		m.Go("test", "-short", "./hlslib", "./frontend/lower/choose", "./internal/arch", "./docs")
		m.Go("test", "-short", "-run", "TestLayers|TestGolden", "./cmd/hlsgen")
	}
}

// tables counts the tables of the repository to which a new layer adds a row.
const tables = 3
