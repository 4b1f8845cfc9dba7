package vivado_test

import (
	"testing"

	"hlsgen/boards"
	"hlsgen/templates/vivado"
)

// board returns the board with a name.
func board(t *testing.T, name string) boards.Board {
	t.Helper()
	b, err := boards.FindBoard(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPLClock checks that a clock is one that two dividers of 1 to 63 make of the PLL, and the nearest one that is not
// above the requested clock.
func TestPLClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		board string
		asked float64
		text  string
		hz    string
		ok    bool
	}{
		{"pynq-z1", 100, "100", "100000000", true},
		{"pynq-z1", 150, "142.857143", "142857143", true},
		{"pynq-z1", 142.857, "142.857143", "142857143", true},
		{"pynq-z1", 142.85, "125", "125000000", true},
		{"pynq-z2", 1000, "1000", "1000000000", true},
		{"pynq-z2", 99.99, "90.909091", "90909091", true},
		{"pynq-z2", 0.2, "", "", false},
		{"pynq-z1", 1000. / 3969, "0.251953", "251953", true},
		{"zcu104", 200, "187.5", "187500000", true},
		{"zcu104", 300, "300", "300000000", true},
		{"ultra96-v2", 150, "150", "150000000", true},
		{"zcu104", 20.4, "20.27027", "20270270", true}, // 2 times 37: 73.53 is asked for, 74 can be had
		{"kv260", 150, "142.857143", "142857143", true},
		{"kv260", 200, "200", "200000000", true},
		{"kr260", 199, "166.666667", "166666667", true},
		{"kr260", 100, "100", "100000000", true},
		{"zcu102", 200, "187.5", "187500000", true}, // no source states its PLL
		{"alveo-u250", 100, "", "", false},
	} {
		clock, ok := vivado.FastestPLClock(board(t, c.board), c.asked)
		if ok != c.ok || ok && (clock.String() != c.text || clock.Hz() != c.hz) {
			t.Errorf("%s, %g MHz: %s MHz, %s Hz, %t; want %+v", c.board, c.asked, clock, clock.Hz(), ok, c)
		}
		if sourced := board(t, c.board).PLLSource != ""; ok && clock.Verified != sourced {
			t.Errorf("%s: verified %t, with a source %t", c.board, clock.Verified, sourced)
		}
	}
	for name, pll := range map[string]int{"pynq-z1": 1000, "zcu104": 1500, "kv260": 1000, "zcu102": 1500} {
		for asked := 1.; asked <= 400; asked += 0.7 {
			clock, ok := vivado.FastestPLClock(board(t, name), asked)
			if !ok || clock.MHz() > asked*(1+1e-5) || clock.Div0 > 63 || clock.Div1 > 63 || clock.Div0*clock.Div1 < 1 {
				t.Fatalf("%s, %g MHz: %+v", name, asked, clock)
			}
			for a := 1; a <= 63; a++ {
				for b := 1; b <= 63; b++ {
					if f := float64(pll) / float64(a*b); f <= asked*(1+1e-5) && f > clock.MHz() {
						t.Fatalf("%s, %g MHz: %+v, but %d times %d gives %g", name, asked, clock, a, b, f)
					}
				}
			}
		}
	}
}

// TestDefaultClocks checks that each board with a PS has a default clock that its PLL makes.
func TestDefaultClocks(t *testing.T) {
	t.Parallel()
	for _, b := range boards.AllBoards() {
		if b.PS == boards.PSNone {
			continue
		}
		if clock, ok := vivado.FastestPLClock(b, b.ClockMHz); !ok || !clock.IsAsked() {
			t.Errorf("%s: the default clock is %g MHz, and the PLL makes %s", b.Name, b.ClockMHz, clock)
		}
	}
	if clock, _ := vivado.FastestPLClock(board(t, "zcu104"), 200); clock.IsAsked() {
		t.Errorf("%s MHz are 200", clock)
	}
}
