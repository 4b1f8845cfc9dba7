package measured

import ("fmt";"testing";"slices";"strings")

func TestZX(t *testing.T) {
	have := table(t)
	for _, b := range boardsMeasured {
		to := target(t, b)
		list := points(t, to)
		slices.SortFunc(list, func(a, b point) int { return strings.Compare(a.name, b.name) })
		n := 0
		for i, p := range list {
			if _, ok := have[p.key()]; ok { continue }
			n++
			lut := 0
			if p.op != nil { lut = p.op.Cost(p.fold, p.target).Total().LUT }
			fmt.Println(p.key(), i%3==2, lut)
		}
		fmt.Println(b, len(list), n)
	}
}
