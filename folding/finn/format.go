package finn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/dataflow"
)

// Format writes the design's folds as a folding file that ReadFile reads back to the same folds; with depths also the words
// of every FIFO, so that the whole design comes back. A layer is written with the freedoms it has; width converters are not
// written, for they follow from the other layers.
func Format(design *dataflow.Design, withDepths bool) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"Defaults\": {}")
	for i, n := range design.Model.Graph.Nodes {
		var lines []string
		folds := slices.Collect(n.Op.Folds())
		for _, f := range fields {
			v := f.value(design.Folds[i])
			if slices.Equal(f.values(folds), []int{f.none}) || v == int(dataflow.NoMemory) {
				continue
			}
			if f.name == "PE" && finnOf(n.Op.Kind()).ParallelWindow {
				lines = append(lines, fmt.Sprintf("    \"parallel_window\": %d", min(1, v-1)))
				continue
			}
			text := f.text(v)
			if f.none != 1 {
				text = `"` + text + `"`
			}
			lines = append(lines, fmt.Sprintf("    %q: %s", f.name, text))
		}
		if withDepths && !isDerived(n.Name) {
			dep := depthsOf(design, i)
			lines = append(lines, `    "inFIFODepths": `+numbers(dep.in), `    "outFIFODepths": `+numbers(dep.out))
		}
		if len(lines) == 0 {
			continue
		}
		name, err := json.Marshal(n.Name)
		if err != nil {
			panic(err) // a string always encodes
		}
		fmt.Fprintf(&b, ",\n  %s: {\n%s\n  }", name, strings.Join(lines, ",\n"))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

func numbers(list []int) string {
	return strings.ReplaceAll(fmt.Sprint(list), " ", ", ")
}
