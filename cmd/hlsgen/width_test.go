package main

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

// TestWidth checks that no screen of a design has a line wider than a terminal.
func TestWidth(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, map[string]string{"a-board-with-a-long-name-of-its-own.json": strings.Replace(truthBoard, `"own"`,
		`"a-board-with-a-long-name-of-its-own"`, 1)})
	for _, list := range []string{"layers", "boards", "passes", "explain", "examples"} {
		withinWidth(t, say(dir, nil, list))
	}
	cnn := models.Find(t, "digits-cnn-w4a4")
	for file, to := range map[string]string{"model.onnx": "cnn.onnx", "inputs.npy": "cnn.npy"} {
		write(t, filepath.Join(dir, to), string(cnn.Read(t, file)))
	}
	for i, model := range []string{"", iris, "cnn.onnx"} {
		if i == 0 && !tier.Long() {
			continue
		}
		input := "--input " + strings.TrimSuffix(model, ".onnx") + ".npy"
		switch i {
		case 0:
			input = ""
		case 1:
			input = "--input " + irisInputs
		}
		out := "--out " + string(rune('a'+i))
		for name, args := range map[string]string{
			"check":          "check",
			"build":          "build --board pynq-z1 --no-csim --verify 1 --fps 2000 " + out + "1",
			"explain":        "build --board ./a-board-with-a-long-name-of-its-own.json --no-csim --verify 1 --interval 20000 --explain " + out + "2",
			"pareto":         "build --board zcu104 --pareto --points 4 --fps 3000",
			"pareto least":   "build --board pynq-z1 --pareto --points 4 --least dsp --fps 3000",
			"simulate":       "simulate " + input,
			"simulate cycle": "simulate --engine cycle --board kv260 --interval 30000 " + input,
			"sweep":          "sweep --board zcu104,pynq-z1,./a-board-with-a-long-name-of-its-own.json --memory auto,ultra --max-use 0.9,lut=0.5,dsp=0.6 --fps 1500,1e12 " + out + "3",
			"bounds":         "sweep --board zcu104,./a-board-with-a-long-name-of-its-own.json --memory auto,distributed --max-use guideline --max-use lut=0.5,ff=0.4,dsp=0.6 --bound " + out + "4",
			"asked bounds":   "sweep --board zcu104,./a-board-with-a-long-name-of-its-own.json --max-use guideline --max-use lut=0.5,ff=0.4,dsp=0.6 --bound --interval 30000,40000 --least lut " + out + "5",
		} {
			t.Run(strings.TrimPrefix(model+"/"+name, "/"), func(t *testing.T) {
				t.Parallel()
				args := strings.Fields(args)
				if model != "" {
					args = append(args, model)
				}
				withinWidth(t, say(dir, nil, args...))
			})
		}
	}
}

// withinWidth wants a screen without a line that is too wide.
func withinWidth(t *testing.T, got said) {
	t.Helper()
	if got.code != exitOK || len(got.stdout) < 100 {
		t.Fatalf("%+v", got)
	}
	for line := range strings.Lines(got.stdout) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > lineWidth {
			t.Errorf("%d letters: %s", n, line)
		}
	}
}
