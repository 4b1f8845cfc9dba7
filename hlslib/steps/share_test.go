package steps_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"hlsgen/hlslib/price/cost"
	"hlsgen/hlslib/steps"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/tier"
)

// TestShare checks that some functions of a list give the same forms as a list of their own: with narrower types, with
// other bases beside them, and in any order.
func TestShare(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	r := rand.New(rand.NewPCG(3, 9))
	model := cost.CostModel{Formula: cost.FormulaFitted}
	for range 10 {
		const channels, thresholds = 8, 3
		list, in := make([]num.StepFunction, channels), make([]num.Range, channels)
		for c := range list {
			reach := int64(20) << (2 * (c % 4))
			at, base := -reach+1+r.Int64N(reach/4), int64(r.IntN(3)/2)
			list[c].Value, in[c] = []int64{base}, num.Range{Lo: -reach, Hi: reach}
			for i := range thresholds {
				list[c].At, list[c].Value = append(list[c].At, at), append(list[c].Value, base+int64(i+1))
				at += 1 + r.Int64N(reach/4)
			}
		}
		of := func(some []int) *steps.StepFunctions {
			own, ranges, all := make([]num.StepFunction, len(some)), make([]num.Range, len(some)), num.Range{}
			for i, c := range some {
				own[i], ranges[i], all = list[c], in[c], all.Union(in[c])
			}
			typ := num.NarrowestIntTypeFor(all)
			k := num.NewThresholdTable(own, ranges, typ, 1<<10).WithSharedRow()
			return steps.New(k, ranges, typ, num.Type{Kind: num.KindUInt, Width: 3})
		}
		whole := of([]int{0, 1, 2, 3, 4, 5, 6, 7})
		for _, some := range [][]int{{0, 4}, {5, 1}, {0, 1, 4, 5}, {2, 6}, {3}, {7, 6, 0, 4}} {
			part, alone := of(some), of(some)
			part.MarkAsChannelsOf(whole, some)
			for _, pe := range dataflow.Divisors(len(some)) {
				site := steps.FormSite{PE: pe, Alike: len(some) == 1}
				got, want := part.AllFormsAt(site), alone.AllFormsAt(site)
				got, want = append(got, part.CheapestFormAt(site)), append(want, alone.CheapestFormAt(site))
				if len(got) != len(want) {
					t.Fatalf("functions %v have %d forms, alone %d", some, len(got), len(want))
				}
				for i, form := range got {
					if reason := differs(form, want[i], model); reason != "" {
						t.Fatalf("functions %v: %s has other %s than %s alone", some, form.Name(), reason,
							want[i].Name())
					}
				}
			}
		}
	}
}

// differs names the first property in which two forms differ. It returns "" if they agree.
func differs(a, b steps.StepFunctionHardware, m cost.CostModel) string {
	switch {
	case a.Name() != b.Name():
		return "names"
	case a.LatencyClocks() != b.LatencyClocks():
		return "clocks"
	case !reflect.DeepEqual(a.Storage(), b.Storage()):
		return "memories"
	case !reflect.DeepEqual(a.LogicCost(m), b.LogicCost(m)):
		return "logic"
	case !reflect.DeepEqual(a.ConfigFields(), b.ConfigFields()):
		return "fields"
	case !reflect.DeepEqual(a.Tables(), b.Tables()):
		return "tables"
	}
	return ""
}
