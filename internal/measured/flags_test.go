package measured

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/price/delay"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/rtl"
)

// A part is a module of templates/rtl/shared that is no layer: a FIFO, or one that counts frames, steps or packets. It
// is put between a writer and a reader that do whatever its flags allow, so that loops through its ports count,
// too.
type part struct {
	name, params string
	ports        string // port connections; empty for a FIFO, which text connects itself
}

// parts returns all such modules, the FIFOs both small and large.
func parts() (list []part) {
	for _, q := range []struct {
		style  string
		places []int
	}{
		{"srl", []int{3, 32, 512}}, {"lutram", []int{40, 1000}}, {"bram", []int{1024, 65000}},
	} {
		for _, n := range q.places {
			list = append(list, part{name: fmt.Sprintf("FIFO, %s, %d places", q.style, n),
				params: fmt.Sprintf(`hlsgen_stream #(.WIDTH(8), .PLACES(%d), .STYLE("%s"))`, n, q.style)})
		}
	}
	return append(list,
		part{"end of a frame, 65,000 words", "hlsgen_last #(.WORDS(65000))", ".moves(a), .last(x)"},
		part{"sequences, 1,000 steps of 640 words", "hlsgen_sequence #(.WIDTH(8), .WORDS(640), .LONGEST(1000))",
			".tdata(din), .tvalid(a), .tlast(b), .tready(x), .room(c), .din(word), .write(y), .tell(z), .last(v)"},
		part{"lengths of packets, 1,000 steps of 640 words", "hlsgen_packet #(.WORDS(640), .STEPS(1000))",
			".rst_n(!rst), .moves(a), .last(b), .wrong(x)"},
		part{"reset, 200 clocks", "hlsgen_reset #(.CLOCKS(200))", ".rst_n(a), .rst(x), .hold(y)"})
}

// text returns a Verilog module around the part.
func (p part) text(module string) string {
	head := fmt.Sprintf("module %s (input clk, rst, a, b, c, input [7:0] din, output [7:0] word, output x, y, z, v);\n",
		module)
	rst := ".rst(rst), "
	if strings.Contains(p.ports, ".rst") {
		rst = ""
	}
	if p.ports != "" {
		return head + "    " + p.params + " part (.clk(clk), " + rst + p.ports + ");\nendmodule\n"
	}
	return head + "    wire room, claim = room & a, valid, read = valid & b;\n    reg write;\n" +
		"    always @(posedge clk) write <= claim;\n    " + p.params +
		" part (.clk(clk), .rst(rst), .room(room), .claim(claim), .din(din), .write(write), .word(word), " +
		".valid(valid), .read(read));\nendmodule\n"
}

// measuredParts returns for each part the most lookup tables on a path within a loop of registers.
func measuredParts(t *testing.T) (levels []int) {
	t.Helper()
	files := rtl.LibraryModuleFiles()
	read := []string{"read_verilog -sv -defer shared/*.sv"}
	for i, p := range parts() {
		name := fmt.Sprintf("part_%d", i)
		files = append(files, templates.GeneratedFile{Path: "rtl/layers/" + name + ".sv", Data: []byte(p.text(name))})
		read = append(read, "read_verilog -sv layers/"+name+".sv")
	}
	made, _, err := run(t.Context(), t.TempDir(), family(target(t, networkBoard)), files,
		append(read, "hierarchy -check", "proc", "flatten", "delete =*hlsgen_*"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range parts() {
		most, _, _ := made[fmt.Sprintf("part_%d", i)].carried()
		levels = append(levels, most)
	}
	return levels
}

// TestFlags checks that FIFOs and the other modules that are no layers meet the default clock of every AMD board on
// their feedback paths, with counters, flags and credits, and compares the table of docs/clock.md.
func TestFlags(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "yosys")
	lines := []string{"| | lookup tables | 7 series, 100 MHz | UltraScale+, 200 MHz |", "|---|---|---|---|"}
	columns := []delay.StageDelayModel{delay.NewStageDelayModel(delay.FamilySeries7, 100, nil,
		delay.DelayRangeExpected),
		delay.NewStageDelayModel(delay.FamilyUltraScale, 200, nil, delay.DelayRangeExpected)}
	row := func(name, levels string, ns func(delay.StageDelayModel) float64) {
		lines = append(lines, fmt.Sprintf("| %s | %s | %.2f | %.2f |", name, levels, ns(columns[0]), ns(columns[1])))
	}
	for i, levels := range measuredParts(t) {
		name := parts()[i].name
		for _, b := range boards.AllBoards() {
			if c := delay.NewStageDelayModel(delay.DelayFamily(b.DSPType), b.ClockMHz, nil,
				delay.DelayRangeExpected); b.Family == boards.FamilyAMD &&
				c.LUTTableDelayNS(max(1, levels)) > c.StageBudgetNS() {
				t.Errorf("%s: %d lookup tables, %.2f ns, where a stage of %s has %.2f", name, levels,
					c.LUTTableDelayNS(levels), b.Name, c.StageBudgetNS())
			}
		}
		row(name, fmt.Sprint(levels), func(c delay.StageDelayModel) float64 {
			return c.LUTTableDelayNS(max(1,
				levels))
		})
	}
	row("*a stage*", "", delay.StageDelayModel.StageBudgetNS)
	const file = "../../docs/clock.md"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(source), "<!-- flags -->\n\n")
	_, after, closed := strings.Cut(rest, "\n\n")
	if !ok || !closed {
		t.Fatal(file + " has no table of flags")
	}
	page := before + "<!-- flags -->\n\n" + strings.Join(lines, "\n") + "\n\n" + after
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if page != string(source) {
		t.Errorf("%s shows another table than\n%s", file, strings.Join(lines, "\n"))
	}
}

// TestCarriedNetworks checks the same for whole networks, where a loop can run through layers and FIFOs: a layer
// starts when the flags of all its FIFOs allow it, and its start changes their counters.
func TestCarriedNetworks(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "yosys")
	to := target(t, networkBoard)
	for i, n := range networks(t, to) {
		if i > 0 && !tier.Long() {
			continue
		}
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			made, top, _, err := wholeNetlists(t.Context(), t.TempDir(), n)
			if err != nil {
				t.Fatal(err)
			}
			holdCarried(t, point{name: n.name}, made[top])
		})
	}
}
