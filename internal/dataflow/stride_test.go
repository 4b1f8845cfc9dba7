package dataflow

import "testing"

func TestStride(t *testing.T) {
	t.Parallel()
	hit, miss := []Run{{Times: 2, Moves: Moves{Read: 1}}}, []Run{{Times: 1, Moves: Moves{Write: 1}}}
	for _, tt := range []struct {
		s    Stride
		want string
	}{
		{Stride{1, 0, 1, 1}, "x"},
		{Stride{3, 0, 3, 1}, "xxx"},
		{Stride{5, 2, 4, 1}, "..xx."},
		{Stride{7, 1, 7, 2}, ".x.x.x."},
		{Stride{7, 1, 6, 2}, ".x.x.x."},
		{Stride{7, 1, 5, 2}, ".x.x..."},
		{Stride{6, 0, 6, 4}, "x...x."},
		{Stride{4, 3, 4, 9}, "...x"},
	} {
		got := ""
		for i := range tt.s.Length {
			got += map[bool]string{true: "x", false: "."}[tt.s.Hit(i)]
		}
		var moves []Moves
		hits := 0
		for _, c := range tt.want {
			if c == 'x' {
				moves, hits = append(moves, hit[0].Moves, hit[0].Moves), hits+1
			} else {
				moves = append(moves, miss[0].Moves)
			}
		}
		l := Loop{Body: tt.s.Runs(hit, miss), Latency: 1}
		if got != tt.want || tt.s.Hits() != hits || l.Iterations() != len(moves) {
			t.Errorf("%+v: %s, %d hits, %d iterations, want %s", tt.s, got, tt.s.Hits(), l.Iterations(), tt.want)
			continue
		}
		for i, m := range moves {
			if l.At(i) != m {
				t.Errorf("%+v: iteration %d moves %+v, want %+v", tt.s, i, l.At(i), m)
			}
		}
	}
	if n := len((Stride{1 << 30, 5, 1 << 29, 3}).Runs(hit, miss)); n > 4 {
		t.Errorf("a long axis is %d runs", n)
	}
}
