package execution

import (
	"hlsgen/frontend/program"
)

// An AmbiguouslyRoundedElement is an element of a quantiser that float32 may round to several codes, given the codes
// chosen before it.
type AmbiguouslyRoundedElement struct {
	Tensor string
	I      int
	Lo, Hi float64
	Share  float64 // the least share of the error bounds that lets several codes occur: 0 for a tie, 1 if unknown
	Terms  int     // the length of the longest sum between the codes before it and the element
}

// AmbiguousElements returns the elements that VisitAmbiguousElements visits, with how near each is to a tie.
func (d *ChosenCodesRun) AmbiguousElements() (list []AmbiguouslyRoundedElement) {
	by, terms := map[string]*runner{}, map[string]int{}
	for _, r := range d.part.runners {
		n := 1
		for _, in := range r.reads {
			n = max(n, terms[in])
		}
		if r.product != nil {
			n = max(n, r.product.Dot.K)
		}
		if terms[r.step.Output] = n; r.step.Codes {
			by[r.step.Output], terms[r.step.Output] = r, 1
		}
	}
	for _, name := range d.codes {
		r := by[name] // nil inside a loop
		if r == nil || r.f == nil || len(d.open[name]) == 0 {
			for _, i := range d.open[name] {
				list = append(list, AmbiguouslyRoundedElement{name, int(i), d.spans[name].Lo[i], d.spans[name].Hi[i],
					1, 1})
			}
			continue
		}
		n := 1
		vals := make([]*program.Reals, len(r.reads))
		for k, in := range r.reads {
			vals[k], n = d.All[in], max(n, terms[in])
		}
		var sums *program.Reals
		if r.product != nil {
			sums, n = program.NewZeroReals(r.step.Shape), max(n, r.product.Dot.K)
			r.dotBounds(vals, sums)
		}
		for _, i := range d.open[name] {
			share := r.f.LeastFloat32ErrorShareToFlip(r.gather(vals, sums, int(i)))
			list = append(list, AmbiguouslyRoundedElement{name, int(i), d.spans[name].Lo[i], d.spans[name].Hi[i],
				share, n})
		}
	}
	return list
}
