package finn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
)

// A FileDetail says how much of a design a folding file contains.
type FileDetail uint8

// The details. Each includes those before it.
const (
	FileDetailFoldsOnly      FileDetail = iota // the layers' folds
	FileDetailFoldsAndDepths                   // the depth of every FIFO
	FileDetailWholeDesign                      // the memory of every FIFO; without it, hlsgen chooses the best memories
)

// FormatFoldingFile returns a folding file from which ParseFoldingFile gets the same design, in as much detail as how
// says. A layer has the attributes that it can choose. Width converters are left out, since they follow from the other
// layers.
func FormatFoldingFile(design *dataflow.Design, how FileDetail) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"Defaults\": {}")
	for _, l := range layersOf(design, how >= FileDetailFoldsAndDepths) {
		var lines []string
		folds := slices.Collect(l.op.Folds())
		for _, f := range fields {
			v := f.value(l.fold)
			if slices.Equal(f.values(folds), []int{f.none}) && v == f.none || v == int(dataflow.NoMemory) {
				continue
			}
			if f.name == "PE" && finnOf(l.op.Kind()).ParallelWindow {
				lines = append(lines, fmt.Sprintf("    \"parallel_window\": %d", min(1, v-1)))
				continue
			}
			text := f.text(v)
			if f.none != 1 {
				text = `"` + text + `"`
			}
			lines = append(lines, fmt.Sprintf("    %q: %s", f.name, text))
		}
		if how >= FileDetailFoldsAndDepths && !isDerived(l.name) {
			dep := l.depths
			lines = append(lines, `    "inFIFODepths": `+numbers(dep.in), `    "outFIFODepths": `+numbers(dep.out))
			if how >= FileDetailWholeDesign {
				lines = append(lines, `    "inFIFOMemory": `+names(dep.inMemory),
					`    "outFIFOMemory": `+names(dep.outMemory))
			}
		}
		if len(lines) == 0 {
			continue
		}
		name, err := json.Marshal(l.name)
		if err != nil {
			panic(err) // a string can always be encoded
		}
		fmt.Fprintf(&b, ",\n  %s: {\n%s\n  }", name, strings.Join(lines, ",\n"))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// A laid is a layer as a folding file states it: its name, fold and FIFOs. In a design, several nodes may compute it.
type laid struct {
	name   string
	op     dataflow.Op
	fold   dataflow.Fold
	depths depths
}

func layersOf(d *dataflow.Design, withDepths bool) (list []laid) {
	nodes := d.Model.Graph.Nodes
	for i, n := range nodes {
		l := laid{name: n.Name, op: n.Op, fold: d.Folds[i]}
		if withDepths {
			l.depths = depthsOf(d, i)
		}
		if w := n.Whole; w != nil {
			l = laid{w.Name, w.Op, w.Fold, l.depths}
			if i > 0 && nodes[i-1].Whole == w { // the outputs of the last node are the layer's
				last := &list[len(list)-1].depths
				last.out, last.outMemory = l.depths.out, l.depths.outMemory
				continue
			}
		}
		list = append(list, l)
	}
	return list
}

func numbers(list []int) string {
	return strings.ReplaceAll(fmt.Sprint(list), " ", ", ")
}

func names(list []dataflow.Memory) string {
	text := make([]string, len(list))
	for i, m := range list {
		text[i] = strconv.Quote(m.String())
	}
	return "[" + strings.Join(text, ", ") + "]"
}
