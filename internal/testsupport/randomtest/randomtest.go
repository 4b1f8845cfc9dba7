// Package randomtest draws random layers of every kind: small ones, with any parameters, types and ranges.
//
// In comes a source of random numbers; out comes a case for the contract of layers.
//
//	randomtest.go  DrawsByKind: draws for every kind; Instance, a layer in one fold on one target
//	arithmetic.go  layers that compute element by element, and poolings
//	weights.go     layers with weights
//	moves.go       layers that move elements
//	rnn.go         recurrent layers with random programs
//	wide.go        layers of large frames, which are listed rather than drawn
package randomtest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"hlsgen/boards"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/crop"
	"hlsgen/hlslib/dup"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/firstlast"
	"hlsgen/hlslib/globalpool"
	"hlsgen/hlslib/join"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/lookup"
	"hlsgen/hlslib/mul"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/reorder"
	"hlsgen/hlslib/requant"
	"hlsgen/hlslib/rnn"
	"hlsgen/hlslib/split"
	"hlsgen/hlslib/swg"
	"hlsgen/hlslib/threshold"
	"hlsgen/hlslib/upsample"
	"hlsgen/hlslib/vvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/layertest"
)

// A Draw makes a layer and its inputs from random numbers.
type Draw func(*rand.Rand) layertest.Case

// DrawsByKind holds the draws for every kind of layer, by the kind's name.
var DrawsByKind = map[string][]Draw{
	mvau.LayerKind.Name:        {MVAU, DrawRequantMVAU, Grouped, MVAU},
	vvau.LayerKind.Name:        {VVAU},
	rnn.LayerKind.Name:         {RNN},
	threshold.LayerKind.Name:   {Threshold},
	requant.LayerKind.Name:     {Requant},
	labelselect.LayerKind.Name: {LabelSelect},
	dwc.LayerKind.Name:         {DWC},
	concat.LayerKind.Name:      {Concat},
	join.LayerKind.Name:        {Join},
	split.LayerKind.Name:       {Split},
	pad.LayerKind.Name:         {Pad},
	crop.LayerKind.Name:        {Crop},
	swg.LayerKind.Name:         {SWG},
	pool.LayerKind.Name:        {Pool},
	globalpool.LayerKind.Name:  {GlobalPool},
	add.LayerKind.Name:         {Add},
	mul.LayerKind.Name:         {Mul},
	dup.LayerKind.Name:         {Dup},
	upsample.LayerKind.Name:    {Upsample},
	reorder.LayerKind.Name:     {Reorder},
	firstlast.LayerKind.Name:   {FirstLast},
	lookup.LayerKind.Name:      {Lookup},
}

// Instance returns random layer n, and the one fold of it that is tested. Consecutive numbers have different kinds; the
// board and the clock are random. The bounds of its ranges need not be attained, because the test of each kind checks
// that.
func Instance(n int) (layertest.Case, dataflow.Fold) {
	r := rand.New(rand.NewPCG(uint64(n), 51))
	names := slices.Sorted(maps.Keys(DrawsByKind))
	name := names[n%len(names)]
	draws := DrawsByKind[name]
	c := draws[n/len(names)%len(draws)](r)
	c.Name, c.Loose = fmt.Sprintf("instance %d, %s", n, name), "not asked"
	family := pick(r, []boards.Family{boards.FamilyAMD, boards.FamilyAMD, boards.FamilyICE40U, boards.FamilyECP5})
	c.Board = pick(r, slices.DeleteFunc(boards.AllBoards(), func(b boards.Board) bool { return b.Family != family }))
	c.Board.HostPortBits = 0 // a host that is never late, as the check of clocks requires
	c.MHz = c.Board.ClockMHz * pick(r, []float64{0.5, 1, 1, 1.5})
	op, _, err := c.Op.Bind(c.In)
	if err != nil {
		panic(fmt.Sprintf("%s: %v: %+v of %v", c.Name, err, c.Op.Params(), c.In))
	}
	folds := slices.Collect(op.Folds())
	fold := pick(r, folds)
	bad := slices.DeleteFunc(folds, func(f dataflow.Fold) bool { return f.SIMD != 1 || f.PE != 2 })
	if len(bad) > 0 && r.IntN(4) == 0 { // the fold for which FINN's RTL is wrong
		fold = pick(r, bad)
	}
	c.Folds, c.Only = 0, func(f dataflow.Fold) bool { return f == fold }
	return c, fold
}

// pick returns a random entry of a list.
func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
