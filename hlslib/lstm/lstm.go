// Package lstm is the recurrent engine of a quantised LSTM: what depends on the step before. The products of the
// weights and the input, which do not, come from a matrix layer ahead of it.
//
// A frame is T time steps. In every step D cells take turns (the directions of a bidirectional LSTM), each with H units
// and a state h and c of its own, integers all. Of step t, cell d has the input x[unit][gate], the gates in the order
// i, f, g (the candidate), o, and computes for every unit, from the h and c of its own step before,
//
//	z[gate] = F0*x[gate] + F1*(sum over k of P(U[gate][unit][k]*h[k])) + bias[gate] + p[gate]*c
//	i, f, g = step[gate](z[gate])
//	c'      = Cell(C0*Forget(f*c) + C1*Input(i*g))
//	o       = step[o](z[o]), where the peephole p[o] looks at c'
//	h'      = Hidden(o*tanh(c'))
//
// P, Forget, Input, Cell and Hidden are requantisers (num.Requant), of which P may be missing; the steps and tanh are
// non-decreasing step functions, for all units or one per unit. With the input gate coupled (CIFG), i = K - f and there
// is no gate i; its lane of the input is there and ignored. Every frame starts with h = H0 and c = C0.
//
// The input has the shape [T, D*4*H], element (d*H+unit)*4+gate. The output is h of all steps, [T, D*H] with element
// d*H+unit, or of the last step alone, [D*H]; a second output likewise has c.
//
// PE units are computed side by side, each with its gates, and each gate from SIMD elements of h a clock. With NF =
// H/PE, SF = H/SIMD, the loop is
//
//	for t < T: { for d < D: for n < NF: for sf < SF: one clock } and then `idle` clocks, but not after the last step
//
// Iterations with sf = SF-1 read a word, the 4*PE elements of x from (d*H+n*PE)*4 on, and write a word, the PE units
// from n*PE on, wherever the outputs have the step. A step cannot begin before the first cell's h of the step before is
// complete. The last word of it is on its way for
//
//	L = 3 + ceil(ceil(log2 SIMD)/2) clocks for the sums (one more where products are requantised; package mac)
//	  + 1 to add input, bias and peepholes, and 1 more to multiply by factors or peepholes
//	  + 2 for the steps of the gates: to compare, to count
//	  + 1 for i = K - f
//	  + 2 to multiply and to requantise f*c and i*g, and 1 more where a requantiser multiplies
//	  + 1 to add and requantise c', and 1 more where that multiplies
//	  + 2 for tanh, or 4 for a gate o with peepholes: to multiply, add, compare, count
//	  + 2 to multiply and to requantise h', and 1 more where that multiplies
//	  + 1 to store it
//
// clocks (Latency). With T_c = NF*SF the idle clocks are max(0, T_c + L - D*T_c), so that a step takes
//
//	max(D*T_c, T_c + L)
//
// clocks, and a frame T steps less the idle clocks of the last one.
//
// Row (d*NF+n)*SF+sf of the weights is what one clock takes: element (pe*G+lane)*SIMD+i is U[gate][n*PE+pe][sf*SIMD+i],
// where the lanes are the G gates that there are: 4, or 3 with a coupled input gate. Row d*NF+n of biases and peepholes
// has element pe*G+lane. Rows of the thresholds and bases of a step function are of all cells, of each cell, or of
// d*NF+n, and then element pe*steps+i is that of unit n*PE+pe. Row d of the factors, or the one of all cells, is F0 and
// F1 of the four gates, C0 and C1, and K. h0 has rows of lcm(PE, SIMD) units, c0 of PE.
package lstm

import (
	"encoding/json"
	"errors"
	"fmt"

	"hlsgen/hlslib/layer"
	"hlsgen/hlslib/mac"
	"hlsgen/internal/num"
)

// Kind is the layer's name.
const Kind = "LSTM"

// Layer is the row of the LSTM in the table of layers; New makes one.
var Layer, New = layer.Define(layer.Definition[Params]{
	Name: Kind,
	Doc:  "the recurrent part of LSTM cells: gates, state and output of every time step (LSTM, bidirectional LSTM)",
	Example: `{"cells":[{
		"recurrent":[[[1]],[[2]],[[-3]],[[0]]],
		"gates":[
			{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]}, {"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]},
			{"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]}, {"factors":[1,1],"steps":[{"at":[0],"value":[0,3]}]}],
		"forget":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},
		"input":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},
		"cell_factors":[1,1],"cell":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7},
		"tanh":[{"at":[0],"value":[0,3]}],
		"hidden":{"multiplier":1,"shift":2,"mode":"half-even","lo":-8,"hi":7}}]}`,
	Bind: bind,
})

// The gates, in the order of the input's lanes.
const (
	gateI = iota
	gateF
	gateG // the candidate
	gateO
	gates
)

// Params makes the layer.
type Params struct {
	Cells    []Cell `json:"cells"`              // in the order of their turns
	Sequence bool   `json:"sequence,omitempty"` // the output has every step, else the last one
	States   bool   `json:"states,omitempty"`   // there is a second output, c
}

// A Cell is the parameters of one cell. All cells of a layer have the same number of units, requantise products alike,
// and have their input gates coupled or not.
type Cell struct {
	Recurrent   [gates][][]int64 `json:"recurrent"`         // U[gate][unit][k]
	Product     *num.Requant     `json:"product,omitempty"` // of every u*h
	Gates       [gates]Gate      `json:"gates"`
	CIFG        *int64           `json:"cifg,omitempty"` // i = *CIFG - f; gate i is empty
	Forget      num.Requant      `json:"forget"`         // of f*c
	Input       num.Requant      `json:"input"`          // of i*g
	CellFactors [2]int64         `json:"cell_factors"`   // of the two before they are added
	Cell        num.Requant      `json:"cell"`           // of their sum; its limits bound c
	Tanh        []num.Step       `json:"tanh"`           // of c'; one for all units, or one per unit
	Hidden      num.Requant      `json:"hidden"`         // of o*tanh
	H0          []int64          `json:"h0,omitempty"`   // per unit; none for zeros
	C0          []int64          `json:"c0,omitempty"`   // likewise
}

// A Gate is what makes a gate's code.
type Gate struct {
	Factors  [2]int64   `json:"factors"`            // of the input, and of the sum of products
	Bias     []int64    `json:"bias,omitempty"`     // per unit; none for zeros
	Peephole []int64    `json:"peephole,omitempty"` // per unit; none for zeros, and none for the candidate
	Steps    []num.Step `json:"steps"`              // one for all units, or one per unit
}

// UnmarshalJSON takes lists of the right lengths only, where an array would drop or add elements.
func (c *Cell) UnmarshalJSON(text []byte) error {
	type plain Cell
	lists := struct {
		*plain
		Recurrent   [][][]int64 `json:"recurrent"`
		Gates       []Gate      `json:"gates"`
		CellFactors []int64     `json:"cell_factors"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	if len(lists.Recurrent) != gates || len(lists.Gates) != gates || len(lists.CellFactors) != 2 {
		return fmt.Errorf("a cell of %d matrices, %d gates and %d factors, want %d, %d and 2",
			len(lists.Recurrent), len(lists.Gates), len(lists.CellFactors), gates, gates)
	}
	c.Recurrent, c.Gates, c.CellFactors = [gates][][]int64(lists.Recurrent), [gates]Gate(lists.Gates),
		[2]int64(lists.CellFactors)
	return nil
}

// UnmarshalJSON takes two factors.
func (g *Gate) UnmarshalJSON(text []byte) error {
	type plain Gate
	lists := struct {
		*plain
		Factors []int64 `json:"factors"`
	}{plain: (*plain)(g)}
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	if len(lists.Factors) != len(g.Factors) {
		return fmt.Errorf("a gate of %d factors, want %d", len(lists.Factors), len(g.Factors))
	}
	g.Factors = [2]int64(lists.Factors)
	return nil
}

// units is H; 0 where the cell has no matrices.
func (c Cell) units() int { return len(c.Recurrent[gateF]) }

// Verify says what is wrong with p whatever the inputs.
func (p Params) Verify() error {
	if len(p.Cells) == 0 || p.Cells[0].units() == 0 {
		return errors.New("there are no cells, or no units in them")
	}
	first := p.Cells[0]
	for d, c := range p.Cells {
		if err := c.verify(first.units()); err != nil {
			return fmt.Errorf("cell %d: %w", d, err)
		}
		if (c.CIFG == nil) != (first.CIFG == nil) {
			return fmt.Errorf("cell %d: its input gate is coupled or not, unlike that of cell 0", d)
		}
		if (c.Product == nil) != (first.Product == nil) || c.Product != nil && *c.Product != *first.Product {
			return fmt.Errorf("cell %d: products are requantised in another way than in cell 0", d)
		}
	}
	return mac.Verify(p.weights(), nil, first.Product)
}

func (c Cell) verify(units int) error {
	for g, gate := range c.Gates {
		var err error
		if c.CIFG != nil && g == gateI {
			if len(c.Recurrent[g])+len(gate.Steps)+len(gate.Bias)+len(gate.Peephole) > 0 {
				err = errors.New("it is coupled, and has parameters")
			}
		} else if err = square(c.Recurrent[g], units); err == nil {
			err = gate.verify(units)
		}
		if err != nil {
			return fmt.Errorf("gate %s: %w", gateName(g), err)
		}
	}
	if len(c.Gates[gateG].Peephole) > 0 {
		return errors.New("the candidate has peepholes")
	}
	for _, r := range []struct {
		what string
		q    num.Requant
	}{{"forget", c.Forget}, {"input", c.Input}, {"cell", c.Cell}, {"hidden", c.Hidden}} {
		if err := r.q.Verify(); err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
	}
	if err := verifySteps(c.Tanh, units); err != nil {
		return fmt.Errorf("tanh: %w", err)
	}
	return perUnit(units, "initial values of h", c.H0, "initial values of c", c.C0)
}

// gateName is how messages call a gate.
func gateName(g int) string { return "ifgo"[g : g+1] }

// square checks that a matrix has a row per unit and an element in it for each.
func square(m [][]int64, units int) error {
	if len(m) != units {
		return fmt.Errorf("%d rows of weights, want %d", len(m), units)
	}
	for u, row := range m {
		if len(row) != units {
			return fmt.Errorf("unit %d: %d weights, want %d", u, len(row), units)
		}
	}
	return nil
}

func (g Gate) verify(units int) error {
	if err := verifySteps(g.Steps, units); err != nil {
		return err
	}
	return perUnit(units, "biases", g.Bias, "peepholes", g.Peephole)
}

func verifySteps(steps []num.Step, units int) error {
	if n := len(steps); n != 1 && n != units {
		return fmt.Errorf("%d step functions for %d units, want one or %d", n, units, units)
	}
	for u, s := range steps {
		if err := s.Verify(); err != nil {
			return fmt.Errorf("unit %d: %w", u, err)
		}
	}
	return nil
}

// perUnit checks that two lists have a value for each unit, or none.
func perUnit(units int, what1 string, list1 []int64, what2 string, list2 []int64) error {
	if n := len(list1); n != 0 && n != units {
		return fmt.Errorf("%d %s for %d units", n, what1, units)
	}
	if n := len(list2); n != 0 && n != units {
		return fmt.Errorf("%d %s for %d units", n, what2, units)
	}
	return nil
}

// firstGate is the first of the gates that there are: f where i is coupled.
func (p Params) firstGate() int {
	if p.Cells[0].CIFG != nil {
		return gateF
	}
	return gateI
}

// weights is every row of weights: cell by cell, unit by unit, gate by gate.
func (p Params) weights() [][]int64 {
	var rows [][]int64
	for _, c := range p.Cells {
		for unit := range c.units() {
			for g := p.firstGate(); g < gates; g++ {
				rows = append(rows, c.Recurrent[g][unit])
			}
		}
	}
	return rows
}

// at is a unit's value of a list that may be empty.
func at(list []int64, unit int) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[unit]
}
