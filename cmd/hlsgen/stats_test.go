package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hlsgen/internal/npy"
	"hlsgen/internal/testsupport/models"
)

// TestStatsStates checks that the states of layers are those of the codes that Brevitas computed.
func TestStatsStates(t *testing.T) {
	t.Parallel()
	m := models.Find(t, "jets-qap-w6a6-s80")
	var got struct {
		Layers []struct {
			States struct {
				Tensor     string  `json:"tensor"`
				Distinct   int     `json:"distinct"`
				Entropy    float64 `json:"entropy_bits"`
				Efficiency float64 `json:"efficiency"`
			} `json:"states"`
		} `json:"layers"`
		Samples    int     `json:"samples"`
		Efficiency float64 `json:"neural_efficiency"`
	}
	codes, x, dir := m.Recorded(t).Codes, m.Array(t, "inputs.npy"), t.TempDir()
	n := codes[0].Data.Shape[0] // codes are recorded of the first samples
	x.Data, x.Shape[0] = x.Data[:len(x.Data)/x.Shape[0]*n], n
	file, err := npy.EncodeNPY(x)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "x.npy"), string(file))
	said := say(dir, nil, "stats", m.Path("model.onnx"), "--data", "x.npy", "--json")
	if err := json.Unmarshal([]byte(said.stdout), &got); err != nil || said.code != exitOK {
		t.Fatal(err, said)
	}
	found, product := 0, 1.0
	for _, c := range codes {
		for _, l := range got.Layers {
			if l.States.Tensor != c.Tensor {
				continue
			}
			found++
			seen := map[string]int{}
			wide := len(c.Data.Data) / c.Data.Shape[0]
			for i := range c.Data.Shape[0] {
				state := ""
				for _, v := range c.Data.Data[i*wide : (i+1)*wide] {
					if v > 0 {
						state += "1"
					} else {
						state += "0"
					}
				}
				seen[state]++
			}
			if c.Data.Shape[0] != got.Samples || len(seen) != l.States.Distinct {
				t.Errorf("%s: %d samples, %d states; want %d and %d", c.Tensor, got.Samples, l.States.Distinct,
					c.Data.Shape[0], len(seen))
			}
			bits := 0.0
			for _, n := range seen {
				p := float64(n) / float64(c.Data.Shape[0])
				bits -= p * math.Log2(p)
			}
			if bits != l.States.Entropy || bits/float64(wide) != l.States.Efficiency {
				t.Errorf("%s: entropy %v, efficiency %v; want %v bits of %d", c.Tensor, l.States.Entropy,
					l.States.Efficiency, bits, wide)
			}
		}
	}
	for _, l := range got.Layers {
		product *= l.States.Efficiency
	}
	if want := math.Pow(product, 0.25); found != 3 || math.Abs(got.Efficiency/want-1) > 1e-12 {
		t.Errorf("%d layers found; efficiency %v, want %v", found, got.Efficiency, want)
	}
}

// TestStatsOfUnmapped checks that a model without hardware is counted, too, and that the host's nodes are named.
func TestStatsOfUnmapped(t *testing.T) {
	t.Parallel()
	m := models.Find(t, "bilstm-onnxnode-h16-w4")
	got := say(t.TempDir(), nil, "stats", m.Path("model.onnx"))
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, says := range []string{"cannot be built", "not mapped", "times 8 steps"} {
		expect(t, "stats", got.stdout, says)
	}
	host := say(t.TempDir(), nil, "stats", models.Find(t, "bilstm-scan-h32-w4a8").Path("model.onnx"))
	if expect(t, "stats", host.stdout, "RNN_0"); strings.Contains(host.stdout, "host ") {
		t.Errorf("nothing of it is on the host:\n%s", host.stdout)
	}
}

// TestStatsPlot checks that the file name decides the form of the picture, and that no other file is written.
func TestStatsPlot(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]string{"b.svg": "<?xml", "b.PNG": "\x89PNG"} {
		dir := filesIn(t, nil)
		before, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := say(dir, nil, "stats", iris, "--plot", name)
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || got.code != exitOK || !bytes.HasPrefix(b, []byte(begins)) {
			t.Errorf("%s: %v, %+v, %.20q", name, err, got, b)
		}
		if after, err := os.ReadDir(dir); err != nil || len(after) != len(before)+1 {
			t.Errorf("%s: %v, %v", name, after, err)
		}
	}
	for _, c := range []struct{ args, says string }{
		{"stats " + iris + " --plot b.pdf", "--plot"},
		{"stats " + iris + " --data none.npy", "file-unreadable"},
		{"stats none.onnx", "file-unreadable"},
	} {
		got := say(t.TempDir(), nil, strings.Fields(c.args)...)
		if got.code == exitOK || got.stdout != "" {
			t.Errorf("%s: %+v", c.args, got)
		}
		expect(t, c.args, got.stderr, c.says)
	}
}
