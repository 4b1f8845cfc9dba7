package hlslib_test

import (
	"cmp"
	"flag"
	"fmt"
	"testing"

	"hlsgen/hlslib"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/internal/testsupport/randomtest"
	"hlsgen/internal/testsupport/tier"
)

var (
	firstInstance = flag.Int("instance", 0, "the first random layer of TestInstances")
	instances     = flag.Int("instances", 0, "how many it tries, where that is not what the tier says")
)

// TestInstances checks random layers of every kind against the contract, each in one fold on one board. FINN's bad fold
// (SIMD 1, PE 2) is among them.
func TestInstances(t *testing.T) {
	t.Parallel()
	const together, compiled = 100, 25
	n := 40
	switch {
	case tier.Long():
		n = 10_000
	case tier.Full():
		n = 60
	}
	n = cmp.Or(*instances, n)
	kinds, bad := map[string]bool{}, 0
	for from := *firstInstance; from < *firstInstance+n; from += together {
		var some []layertest.Instance
		for i := from; i < min(from+together, *firstInstance+n); i++ {
			c, fold := randomtest.Instance(i)
			kinds[c.Op.Kind()] = true
			if fold.SIMD == 1 && fold.PE == 2 {
				bad++
			}
			some = append(some, layertest.Instance{Case: c, Again: fmt.Sprintf(
				"go test ./hlslib -run TestInstances -args -instance %d -instances 1", i)})
		}
		t.Run(fmt.Sprint("from ", from), func(t *testing.T) { layertest.CheckInstances(t, compiled, some) })
	}
	if *instances > 0 {
		return
	}
	for _, k := range hlslib.LayerKinds {
		if !kinds[k.Name] {
			t.Errorf("no %s is drawn", k.Name)
		}
	}
	if bad == 0 {
		t.Error("no fold of one input and two outputs is drawn")
	}
}
