package folding

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"hlsgen/boards"
	"hlsgen/hlslib/mvau"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/diag"
	"hlsgen/internal/num"
)

// mlp is a chain of fully connected layers of random weights, in the given widths.
func mlp(r *rand.Rand, in num.Type, weightBits, outBits int, sizes ...int) *dataflow.Model {
	var b dataflow.Builder
	s := b.Input("x", dataflow.Type{Shape: dataflow.Shape{sizes[0]}, Range: []num.Range{in.Range()}, Elem: in})
	for i := range len(sizes) - 1 {
		p := mvau.Params{}
		half := int64(1) << (weightBits - 1)
		for range sizes[i+1] {
			row := make([]int64, sizes[i])
			for j := range row {
				row[j] = r.Int64N(2*half) - half
			}
			p.Weights = append(p.Weights, row)
		}
		if i < len(sizes)-2 {
			st := num.Step{Value: []int64{0}}
			for v := range int64(1)<<outBits - 1 {
				st.At = append(st.At, 3*v)
				st.Value = append(st.Value, v+1)
			}
			p.Steps = []num.Step{st}
		}
		out, err := b.Add(mvau.New(p), []int{s}, []string{fmt.Sprintf("y%d", i)}, []string{fmt.Sprintf("/fc%d/MatMul", i)})
		if err != nil {
			panic(err)
		}
		s = out[0]
	}
	b.Output(s)
	g, err := b.Graph()
	if err != nil {
		panic(err)
	}
	return &dataflow.Model{Name: "mlp", Graph: g}
}

func TestSmoke(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name  string
		sizes []int
	}{
		{"tfc", []int{784, 64, 64, 64, 10}},
		{"kws", []int{490, 256, 256, 256, 12}},
		{"deep60", func() []int {
			s := []int{480}
			for i := range 60 {
				s = append(s, []int{64, 96, 128, 240}[i%4])
			}
			return s
		}()},
	} {
		m := mlp(r, num.Type{Kind: num.UInt, Width: 2}, 2, 2, c.sizes...)
		for _, board := range []string{"zcu104", "pynq-z1"} {
			bd, _ := boards.Find(board)
			for _, goal := range []Goal{{}, {FPS: 10000}, {FPS: 500_000}, {FPS: 3125000}, {MaxCycles: 100000}} {
				var d diag.List
				t0 := time.Now()
				res, err := Search(context.Background(), m, dataflow.Target{Board: bd, ClockMHz: bd.ClockMHz}, goal, &d)
				dt := time.Since(t0)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Printf("== %s %s %+v: %v\n", c.name, board, goal.FPS, dt.Round(time.Millisecond))
				for _, x := range d.Diags {
					fmt.Print(x)
				}
				if res != nil {
					if err := res.Design.Verify(); err != nil {
						t.Error(err)
					}
					fmt.Printf("  T=%d fps=%.0f %s | %s | exact=%v foldings=%d %s\n  %+v\n", res.Interval, res.FPS, res.Bottleneck, res.Why, res.Exact, res.Foldings, res.Effort(), res.Shares)
					if len(c.sizes) < 6 {
						for i, n := range res.Design.Model.Graph.Nodes {
							fmt.Printf("    %s %+v %d\n", n.Name, res.Design.Folds[i], res.Design.Loop(i).Iterations())
						}
					}
				}
			}
		}
	}
}
