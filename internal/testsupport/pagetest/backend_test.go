package pagetest

import (
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestBackend adds the back end of docs/adding-a-back-end.md to a copy of the module, in which the tests of back ends
// must pass. In the full tier the tests about the module's form must pass, too.
func TestBackend(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := CopyModule(t)
	if folder, rows := m.AddPage("adding-a-back-end.md"); folder != "internal/backend/words" || rows != 1 {
		t.Fatalf("the page has a folder %q and %d rows, want internal/backend/words and one", folder, rows)
	}
	m.Go("test", "./internal/backend/...")
	if tier.Full() {
		m.Go("test", "-short", "./internal/arch", "./docs")
	}
}
