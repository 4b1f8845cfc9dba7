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

// A Detail is how much of a design a folding file has.
type Detail uint8

// The details, each with all of those before it.
const (
	OfFolds  Detail = iota // how layers are folded
	OfDepths               // the words of every FIFO
	OfWhole                // where every FIFO lies, which is else built in the best way
)

// Format writes a design as a folding file that ReadFile reads back to the same. A layer is written with the freedoms
// it has; width converters are not written, for they follow from the other layers.
func Format(design *dataflow.Design, how Detail) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"Defaults\": {}")
	for _, l := range layersOf(design, how >= OfDepths) {
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
		if how >= OfDepths && !isDerived(l.name) {
			dep := l.depths
			lines = append(lines, `    "inFIFODepths": `+numbers(dep.in), `    "outFIFODepths": `+numbers(dep.out))
			if how >= OfWhole {
				lines = append(lines, `    "inFIFOMemory": `+names(dep.inMemory),
					`    "outFIFOMemory": `+names(dep.outMemory))
			}
		}
		if len(lines) == 0 {
			continue
		}
		name, err := json.Marshal(l.name)
		if err != nil {
			panic(err) // a string always encodes
		}
		fmt.Fprintf(&b, ",\n  %s: {\n%s\n  }", name, strings.Join(lines, ",\n"))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// A laid is a layer of a design, however many nodes compute it.
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
			if i > 0 && nodes[i-1].Whole == w { // the last one's outputs are the layer's
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
