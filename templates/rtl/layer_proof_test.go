package rtl_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/add"
	"hlsgen/hlslib/concat"
	"hlsgen/hlslib/dwc"
	"hlsgen/hlslib/labelselect"
	"hlsgen/hlslib/mvau"
	"hlsgen/hlslib/pad"
	"hlsgen/hlslib/pool"
	"hlsgen/hlslib/split"
	"hlsgen/internal/circuit"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/num"
	"hlsgen/internal/testsupport/layertest"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A subject is a layer in one fold, and its circuit.
type subject struct {
	op     dataflow.Op
	fold   dataflow.Fold
	target dataflow.Target
	m      *circuit.Module
}

// made is a layer in its first fold of the given PE, SIMD and multipliers.
func made(t *testing.T, op dataflow.Op, pe, simd int, compute dataflow.MultiplierKind,
	in ...dataflow.StreamType) subject {
	t.Helper()
	board, err := boards.FindBoard("pynq-z1")
	if err != nil {
		t.Fatal(err)
	}
	s := subject{op: layertest.Bind(t, op, in...)}
	s.target = dataflow.Target{Board: board, ClockMHz: 100, Backend: dataflow.BackendRTL}
	for f := range s.op.Folds() {
		if f.PE == pe && f.SIMD == simd && f.Compute == compute {
			s.fold = f
			s.m = s.op.(dataflow.HasCircuit).Circuit(f, s.target)
			return s
		}
	}
	t.Fatalf("no fold of %d by %d: %v", pe, simd, slices.Collect(s.op.Folds()))
	return s
}

// files returns the RTL files of the layer, whose module is named dut, and of the library.
func (s subject) files() templates.ProjectFiles {
	return append(rtl.GenerateLayerFiles("dut", "to be proved", s.m), rtl.LibraryModuleFiles()...)
}

// ends returns the ports of dut as free variables, except for the reset, which is held for longer than the pipeline.
// more goes into module proof.
func (s subject) ends(more string) string {
	var ports, wires, pins strings.Builder
	for k, p := range s.m.In {
		fmt.Fprintf(&ports, ", input logic [%d:0] in%d_word, input logic in%[2]d_valid", p.Width-1, k)
		fmt.Fprintf(&wires, "    logic in%d_read;\n", k)
	}
	for k, p := range s.m.Out {
		fmt.Fprintf(&ports, ", input logic out%d_room", k)
		fmt.Fprintf(&wires, "    logic [%d:0] out%d_word;\n    logic out%[2]d_write, out%[2]d_claim;\n", p.Width-1, k)
	}
	return fmt.Sprintf(`module proof (input logic clk%s);
    logic rst = 1;
    logic [7:0] since = 0;
    always_ff @(posedge clk) begin
        if (since != %d) since <= since + 1;
        rst <= since < %[2]d - 1;
    end
%s    dut dut (.*%s);
%s
endmodule
`, ports.String(), s.m.LastActiveStage()+2, wires.String(), pins.String(), more)
}

// protocol returns SystemVerilog assertions on the layer's stream ports. The layer reads only if a word is there, and
// claims a place only if one is free. The ports that move in the same clock are those of one iteration of its loop, in
// the loop's order. A word is written exactly as many clocks after its place was claimed as the port's stage says.
func (s subject) protocol() string {
	var text, together strings.Builder
	always := func(format string, a ...any) {
		fmt.Fprintf(&text, "    always_comb if (!rst) assert (%s);\n", fmt.Sprintf(format, a...))
	}
	var moves []string
	for k, p := range s.m.Out {
		always("!out%d_claim || out%[1]d_room", k)
		moves = append(moves, fmt.Sprintf("out%d_claim", k))
		if p.Stage == 0 {
			always("out%d_write == out%[1]d_claim", k)
			continue
		}
		fmt.Fprintf(&text, "    logic [%d:0] way%d = 0;\n", p.Stage, k)
		fmt.Fprintf(&text, "    always_ff @(posedge clk) way%d <= rst ? 0 : {way%[1]d, out%[1]d_claim};\n", k)
		always("out%d_write == way%[1]d[%d]", k, p.Stage-1)
	}
	for k := range s.m.In {
		always("!in%d_read || in%[1]d_valid", k)
		moves = append(moves, fmt.Sprintf("in%d_read", k))
	}
	fmt.Fprintf(&together, "{%s}", strings.Join(moves, ", "))
	loop := s.op.Loop(s.fold, s.target)
	var events []uint64
	for i := range loop.IterationsPerFrame() {
		at, e := loop.MovesOfIteration(i), uint64(0)
		for k := range s.m.Out {
			e = e<<1 | at.Write>>k&1
		}
		for k := range s.m.In {
			e = e<<1 | at.Read>>k&1
		}
		if e != 0 {
			events = append(events, e)
		}
	}
	text.WriteString("    logic [7:0] event_;\n    logic [7:0] moves;\n    always_comb case (event_)\n")
	for i, e := range events {
		fmt.Fprintf(&text, "        %d: moves = %d;\n", i, e)
	}
	fmt.Fprintf(&text, "        default: moves = 0;\n    endcase\n")
	fmt.Fprintf(&text, "    always_ff @(posedge clk) if (rst) event_ <= 0; else if (%s != 0) "+
		"event_ <= event_ == %d ? 0 : event_ + 1;\n", together.String(), len(events)-1)
	always("%s == 0 || %[1]s == moves", together.String())
	return text.String()
}

// clocks returns enough clocks for a number of frames without back-pressure.
func (s subject) clocks(frames int) int {
	return s.m.LastActiveStage() + 4 + frames*s.op.Loop(s.fold, s.target).IterationsPerFrame() + s.m.Latency
}

// careless are mistakes of a circuit that fires.
var careless = []mutant{
	{"rtl/layers/dut.sv", `assign fire = (.*) && [^;]*out0_room[^;]*;`, "assign fire = !rst && in0_valid;"},
	{"rtl/layers/dut.sv", `assign fire = [^;]*;`, "assign fire = !rst;"},
	{"rtl/layers/dut.sv", `assign in0_read = [^;]*;`, "assign in0_read = fire & in0_word[0];"},
	{"rtl/layers/dut.sv", `assign out0_write = [^;]*;`, "assign out0_write = fire;"},
}

// TestControl checks that layers take and write words by the protocol, in the order of their loops.
func TestControl(t *testing.T) {
	t.Parallel()
	int3 := layertest.Int(3)
	weights := [][]int64{{1, -2, 3, 0}, {2, 1, -4, 3}}
	for _, c := range []struct {
		name    string
		subject subject
		mutants []mutant
	}{
		{"MVAU", made(t, mvau.New(mvau.Params{Weights: weights}), 1, 2, dataflow.MultiplierInLUTs,
			layertest.FullType(int3, 4)),
			careless},
		{"MVAU, SIMD 1 and PE 2", made(t, mvau.New(mvau.Params{Weights: weights}), 2, 1, dataflow.MultiplierInDSPs,
			layertest.FullType(int3, 4)), nil},
		{"Pool", made(t, pool.New(pool.Params{Op: pool.PoolingSum}), 1, 1, 0, layertest.FullType(int3, 3, 2)), nil},
		{"FMPadding", made(t, pad.New(pad.Params{Before: [2]int{0, 1}, Between: [2]int{0, 1}}), 1, 1, 0,
			layertest.FullType(int3, 1, 2, 1)), nil},
		{"StreamingConcat", made(t, concat.New(concat.Params{Inputs: 2}), 1, 1, 0, layertest.FullType(int3, 2, 1),
			layertest.FullType(int3, 2, 2)), nil},
		{"StreamingSplit", made(t, split.New(split.Params{Channels: []int{1, 2}}), 1, 1, 0,
			layertest.FullType(int3, 2, 3)), nil},
		{"AddStreams", made(t, add.New(add.Params{}), 1, 1, 0, layertest.FullType(int3, 2), layertest.FullType(int3,
			2)), nil},
		{"LabelSelect", made(t, labelselect.New(labelselect.Params{Labels: 4, K: 2,
			First: labelselect.RankOrderLargestFirst,
			Ties:  labelselect.TieBreakLowerIndexWins}), 2, 1, 0, layertest.FullType(int3, 4)), nil},
	} {
		proof{name: c.name, files: c.subject.files(), harness: c.subject.ends(c.subject.protocol()),
			clocks: c.subject.clocks(2), mutants: c.mutants}.check(t)
	}
}

// TestWidthConverter checks that elements come out in their order, and that none is lost or doubled.
func TestWidthConverter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out, bits int
		mutants       []mutant
	}{
		{2, 2, 1, nil}, {4, 2, 1, nil}, {6, 2, 2, nil}, {1, 3, 2, nil}, {2, 8, 1, nil},
		{2, 3, 1, nil}, {5, 3, 1, nil}, {4, 6, 1, nil},
		{3, 2, 2, []mutant{{"rtl/layers/dut.sv", `fill < 2'd2`, "fill < 2'd1"},
			{"rtl/layers/dut.sv", `fill\[0\]`, "fill[1]"},
			{"rtl/layers/dut.sv", `\? in0_word_2 : `, "? in0_word_1 : "}}},
	} {
		const iterations = 12
		s := made(t, dwc.New(dwc.Params{In: c.in, Out: c.out}), 1, 1, 0,
			layertest.FullType(layertest.UInt(c.bits), c.in*c.out))
		reaches := 2*(c.in+c.out)*c.bits + s.m.Latency*c.in*c.bits // bits on their way, at most
		harness := s.ends(s.protocol() + fmt.Sprintf(`    logic [%d:0] queue, now;
    logic [7:0] count, all;
    assign now = in0_read ? queue | (%[2]d'(in0_word) << count) : queue;
    assign all = count + (in0_read ? %[3]d : 0);
    always_ff @(posedge clk) begin
        queue <= rst ? 0 : out0_write ? now >> %[4]d : now;
        count <= rst ? 0 : out0_write ? all - %[4]d : all;
    end
    always_comb if (!rst) begin
        assert (all <= %[2]d);
        assert (!out0_write || all >= %[4]d && out0_word == now[%[4]d-1:0]);
    end
`, reaches-1, reaches, c.in*c.bits, c.out*c.bits))
		proof{name: fmt.Sprintf("%d to %d of %d bits", c.in, c.out, c.bits), files: s.files(), harness: harness,
			clocks: s.m.LastActiveStage() + 3 + iterations, mutants: c.mutants}.check(t)
	}
}

// value returns element i of a word in SystemVerilog, as a signed number of the given width.
func value(word string, i int, elem num.Type, width int) string {
	at := fmt.Sprintf("%s[%d:%d]", word, (i+1)*elem.Width-1, i*elem.Width)
	switch {
	case elem.Kind == num.KindBipolar:
		return fmt.Sprintf("(%s ? %d'sd1 : -%[2]d'sd1)", at, width)
	case elem.IsSigned():
		return fmt.Sprintf("$signed(%s)", at)
	}
	return fmt.Sprintf("$signed({1'b0, %s})", at)
}

// TestProducts checks that the sum of a clock's products equals that of plain multiplications, for weights of any
// value.
func TestProducts(t *testing.T) {
	t.Parallel()
	ternary := num.Type{Kind: num.KindTernary, Width: 2}
	for _, c := range []struct {
		x, w    num.Type
		simd    int
		compute dataflow.MultiplierKind
		mutants []mutant
	}{
		{layertest.UInt(2), layertest.UInt(2), 4, dataflow.MultiplierInLUTs, nil},
		{layertest.Int(3), layertest.Int(3), 2, dataflow.MultiplierInLUTs, []mutant{
			{"rtl/layers/dut_dot_0.sv", ` & `, " | "},
			{"rtl/layers/dut_dot_0.sv", ` \+ `, " - "}}},
		{layertest.UInt(4), layertest.Int(2), 2, dataflow.MultiplierInLUTs, nil},
		{layertest.Int(4), layertest.UInt(3), 2, dataflow.MultiplierInLUTs, nil},
		{layertest.Int(5), layertest.Int(4), 1, dataflow.MultiplierInLUTs, nil},
		{layertest.Bipolar, layertest.Bipolar, 7, dataflow.MultiplierInLUTs, []mutant{
			{"rtl/layers/dut_dot_0.sv", ` \^ `, " | "}}},
		{layertest.Bipolar, layertest.Int(3), 3, dataflow.MultiplierInLUTs, nil},
		{layertest.Int(4), layertest.Bipolar, 3, dataflow.MultiplierInLUTs, nil},
		{layertest.UInt(3), ternary, 3, dataflow.MultiplierInLUTs, nil},
		{layertest.UInt(1), layertest.UInt(1), 12, dataflow.MultiplierInLUTs, nil},
		{layertest.Int(3), layertest.Int(4), 2, dataflow.MultiplierInDSPs, nil},
	} {
		var values []int64 // all of the weights' type: a few would be codes of fewer bits
		for v := c.w.Range().Lo; v <= c.w.Range().Hi; v++ {
			if v != 0 || c.w.Kind != num.KindBipolar {
				values = append(values, v)
			}
		}
		var weights [][]int64
		for at := 0; at < len(values) || len(weights) == 0; {
			row := make([]int64, 2*c.simd)
			for i := range row {
				row[i] = values[at%len(values)]
				at++
			}
			weights = append(weights, row)
		}
		s := made(t, mvau.New(mvau.Params{Weights: weights}), 1, c.simd, c.compute,
			layertest.FullType(c.x, 2*c.simd))
		dot := s.m.Calls[0].Function
		y := dot.Nodes[dot.Results[0]]
		bits := y.Width + 1
		var terms []string
		assume := ""
		for i := range c.simd {
			terms = append(terms, value("x", i, c.x, bits)+" * "+value("w", i, c.w, bits))
			if c.w.Kind == num.KindTernary {
				assume += fmt.Sprintf("    always_comb assume (w[%d:%d] != 2'b10);\n", 2*i+1, 2*i)
			}
		}
		sum := strings.Join(terms, " + ")
		if c.x.Kind == num.KindBipolar && c.w.Kind == num.KindBipolar { // the matches are what is counted
			sum = fmt.Sprintf("(%s + %d) >>> 1", sum, c.simd)
		}
		clk := ""
		if dot.Stages > 0 {
			clk = ".clk(clk), "
		}
		harness := fmt.Sprintf(`module proof (input logic clk, input logic [%d:0] x, input logic [%d:0] w);
    logic [%d:0] y;
    dut_%s dut (%s.x0(x), .x1(w), .y0(y));
    logic signed [%d:0] sum[0:%d];
    logic [3:0] since = 0;
    assign sum[0] = %s;
    for (genvar i = 0; i < %[7]d; i++) always_ff @(posedge clk) sum[i + 1] <= sum[i];
    always_ff @(posedge clk) if (since != %[7]d) since <= since + 1;
    always_comb if (since == %[7]d) assert (y == sum[%[7]d][%[3]d:0]);
%[9]sendmodule
`, c.simd*c.x.Width-1, c.simd*c.w.Width-1, y.Width-1, dot.Name, clk, bits-1, dot.Stages, sum, assume)
		proof{name: fmt.Sprintf("%d of %v and %v, %v", c.simd, c.x, c.w, c.compute), files: s.files(), harness: harness,
			clocks: dot.Stages + 2, mutants: c.mutants}.check(t)
	}
}

// TestAccumulator checks that an MVAU writes plain sums of plain products over all words of a vector, for every
// channel.
func TestAccumulator(t *testing.T) {
	t.Parallel()
	const path = "rtl/layers/dut.sv"
	for _, c := range []struct {
		in       num.Type
		weights  [][]int64
		pe, simd int
		mutants  []mutant
	}{
		{layertest.Int(2), [][]int64{{1, -2, 3, 0}, {2, 1, -4, 3}}, 1, 2, []mutant{
			{path, `\? \d'd0 : sum0`, "? sum0 : 0"}, {path, `if \(all_\d+\) vector`, "if (fire) vector"},
			{path, `vector\[sf_at_1\]`, "vector[sf]"}, {path, `if \(fire_at_\d\) sum0`, "sum0"}}},
		{layertest.UInt(2), [][]int64{{1, -2, 3}, {2, 1, -4}}, 2, 1, nil}, // FINN's bad fold
		{layertest.Bipolar, [][]int64{{1, -2, 3}, {2, 1, -4}}, 1, 3, nil},
		{layertest.UInt(3), [][]int64{{1, -1, -1, 1}, {-1, -1, 1, 1}}, 2, 2, nil},
	} {
		s := made(t, mvau.New(mvau.Params{Weights: c.weights}), c.pe, c.simd, dataflow.MultiplierInLUTs,
			layertest.FullType(c.in, len(c.weights[0])))
		out, stage := s.m.Out[0], s.m.Out[0].Stage
		_, outs := s.op.Ports(s.fold)
		elem := outs[0].Elem.Width
		words, groups := len(c.weights[0])/c.simd, len(c.weights)/c.pe
		var text strings.Builder
		fmt.Fprintf(&text, "    logic [%d:0] word[0:%d];\n    logic [7:0] came, given;\n", s.m.In[0].Width-1, words-1)
		fmt.Fprintf(&text, "    logic [%d:0] now[0:%d];\n", s.m.In[0].Width-1, words-1)
		fmt.Fprintf(&text, "    for (genvar i = 0; i < %d; i++) "+
			"assign now[i] = in0_read && came == i ? in0_word : word[i];\n", words)
		fmt.Fprintf(&text, "    for (genvar i = 0; i < %d; i++) always_ff @(posedge clk) word[i] <= now[i];\n", words)
		fmt.Fprintf(&text, "    always_ff @(posedge clk) came <= rst ? 0 : "+
			"in0_read ? (came == %d ? 0 : came + 1) : came;\n", words-1)
		fmt.Fprintf(&text, "    always_ff @(posedge clk) given <= rst ? 0 : "+
			"out0_claim ? (given == %d ? 0 : given + 1) : given;\n", groups-1)
		fmt.Fprintf(&text, "    logic [%d:0] want[0:%d];\n    always_comb case (given)\n", out.Width-1, stage)
		for g := range groups {
			var lanes []string
			for pe := c.pe - 1; pe >= 0; pe-- {
				var terms []string
				for i, w := range c.weights[g*c.pe+pe] {
					word := fmt.Sprintf("now[%d]", i/c.simd)
					terms = append(terms, fmt.Sprintf("%s * %d", value(word, i%c.simd, c.in, elem), w))
				}
				lanes = append(lanes, fmt.Sprintf("%d'(%s)", elem, strings.Join(terms, " + ")))
			}
			fmt.Fprintf(&text, "        %d: want[0] = {%s};\n", g, strings.Join(lanes, ", "))
		}
		fmt.Fprintf(&text, "        default: want[0] = 0;\n    endcase\n")
		fmt.Fprintf(&text, "    for (genvar i = 0; i < %d; i++) "+
			"always_ff @(posedge clk) want[i + 1] <= want[i];\n", stage)
		fmt.Fprintf(&text, "    always_comb if (!rst && out0_write) assert (out0_word == want[%d]);\n", stage)
		proof{name: fmt.Sprintf("%d by %d of %v", c.pe, c.simd, c.in), files: s.files(),
			harness: s.ends(s.protocol() + text.String()), clocks: s.clocks(1) + 2, mutants: c.mutants}.check(t)
	}
}
