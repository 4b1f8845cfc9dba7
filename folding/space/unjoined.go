package space

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
)

// UnjoinableStreamDiags returns a diagnostic for each stream between layers whose ends no width converter joins,
// whatever options the two layers have. The diagnostic names the layers, the reason and a remedy. It returns nothing if
// each two neighbours can be joined, even if not all of them at once.
func (s *FoldingSpace) UnjoinableStreamDiags() (told []diag.Diag) {
	for id := range s.Streams {
		if st := &s.Streams[id]; st.inner() && !s.joins(id, st.writer.forms, st.reader.forms) {
			told = append(told, s.unjoined(id))
		}
	}
	return told
}

// joins reports whether the stream can carry one of the forms in to one of the forms out, with a width converter if
// needed.
func (j *joints) joins(id int, in, out []form) bool {
	for _, a := range in {
		if slices.ContainsFunc(out, func(b form) bool { return j.convert(id, a, b).ok }) {
			return true
		}
	}
	return false
}

func (s *FoldingSpace) unjoined(id int) diag.Diag {
	st := &s.Streams[id]
	writer, reader := &s.Layers[st.writer.layer], &s.Layers[st.reader.layer]
	a, b := st.writer.forms[0], st.reader.forms[0]
	tiles := func(list []form) func(form) bool {
		return func(f form) bool { return slices.ContainsFunc(list, func(g form) bool { return f.tile == g.tile }) }
	}
	d := reader.NewLayerErrorDiag(diag.StreamWordTooWide, "", "")
	if !slices.ContainsFunc(st.writer.forms, tiles(st.reader.forms)) {
		d.Msg = fmt.Sprintf("%s gives %s, and %s takes %s: no width converter puts one order into the other",
			writer.Node.Name, a.order(), reader.Node.Name, b.order())
	} else {
		d.Msg = fmt.Sprintf("%s gives words of %d elements, and %s takes words of %d: between them a width converter "+
			"would need words of more than %d bits", writer.Node.Name, a.per, reader.Node.Name, b.per,
			dataflow.MaxWordBits)
	}
	var hints, fixed []string
	for _, e := range []struct {
		at, other *end
		l         *LayerFoldOptions
		out       bool
	}{{&st.writer, &st.reader, writer, true}, {&st.reader, &st.writer, reader, false}} {
		if !e.l.Fixed {
			continue
		}
		fixed = append(fixed, e.l.Node.Name)
		if way := e.l.instead(func(ports []form) bool {
			own := ports[e.at.port : e.at.port+1]
			if e.out {
				return s.joins(id, own, e.other.forms)
			}
			return s.joins(id, e.other.forms, own)
		}, e.out); way != "" {
			hints = append(hints, way)
		}
	}
	hints = append(hints, "leave PE and SIMD of "+strings.Join(fixed, " and of ")+" out of the folding file")
	d.Hint = strings.Join(hints, ", or ")
	return d
}

// order returns a text that describes in which order the elements of the form travel.
func (f form) order() string {
	switch f.tile {
	case 0:
		return "one position after the other"
	case 1:
		return "one channel after the other"
	}
	return fmt.Sprintf("blocks of %d channels", f.tile)
}

// instead returns a hint: values of PE, or of SIMD, with which the layer would join its neighbour. The other attribute
// keeps its value. It returns "" if there are none.
func (l *LayerFoldOptions) instead(joins func(ports []form) bool, out bool) string {
	now := l.Options[0].Fold
	simd, pe := map[int]bool{}, map[int]bool{}
	for _, f := range l.Folds {
		in, ports := l.Node.Op.Ports(f)
		if !out {
			ports = in
		}
		switch {
		case f.PE != now.PE && f.SIMD != now.SIMD || !joins(forms(ports)):
		case f.PE == now.PE:
			simd[f.SIMD] = true
		default:
			pe[f.PE] = true
		}
	}
	name, values := "SIMD", simd
	if len(values) == 0 {
		name, values = "PE", pe
	}
	if len(values) == 0 {
		return ""
	}
	var list []int
	for v := range values {
		list = append(list, v)
	}
	slices.Sort(list)
	var text []string
	for _, v := range list {
		text = append(text, strconv.Itoa(v))
	}
	return fmt.Sprintf("%s %s of %s", name, strings.Join(text, " or "), l.Node.Name)
}
