package pagetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

// TestFamily adds the device family of testdata/family to a copy of the module: a Go file, a JSON file and a row. In
// the full tier the example is built for its board, with the family's memories and tools.
func TestFamily(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	m := CopyModule(t)
	for name, place := range map[string]string{"example4.go": "boards/family/example4/",
		"example4-kit.json": "boards/"} {
		data, err := os.ReadFile("testdata/family/" + name)
		if err != nil {
			t.Fatal(err)
		}
		m.AddFile(place+name, data)
	}
	m.AddRow("boards/family.go", "\texample4.Family(),\n", "hlsgen/boards/family/example4")
	m.Go("test", "-run", "TestFamilyRows", "./boards")
	if !tier.Full() {
		return
	}
	out := filepath.Join(m.Dir, "out")
	said := m.Go("run", "./cmd/hlsgen", "build", "--board", "example4-kit", "--interval", "4000", "--no-csim",
		"--verify", "1", "--out", out)
	if !strings.Contains(said, "MEM8K") {
		t.Errorf("the build says nothing of the family's memory:\n%s", said)
	}
	for file, wants := range map[string][]string{
		"rtl/Makefile": {"synth_example4 -top", "route4 --device ex12 --package qn88", "pack4 $< $@",
			"what the network takes of an Example 4", "build/$(UART).img: build/$(UART).placed"},
		"rtl/uart/pins.txt": {"# Pins of example4-kit (EX4-12-QN88)", "clk = 4\n", "led = 37\n"},
	} {
		data, err := os.ReadFile(filepath.Join(out, file))
		for _, want := range wants {
			if err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%s has no %q: %v", file, want, err)
			}
		}
	}
}
