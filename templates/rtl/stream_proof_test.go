package rtl_test

import (
	"fmt"
	"strings"
	"testing"

	"hlsgen/templates/rtl"
)

// queue is added to a FIFO. It tracks the number of words, and one word, any, with the number of words in front of it.
// A writer takes places and fills them later, in any clock; a reader takes words that are there. Assertions on the
// state of the FIFO make those at its ends true for all time.
const queue = `
    logic fresh, followed;
    logic [WIDTH-1:0] value;
    logic [7:0] count, empty, kept, ahead, at; // words, places that are taken and empty
    assign kept = count - 8'(read);
    always_ff @(posedge clk) begin
        fresh <= rst;
        count <= rst ? 0 : kept + 8'(write);
        empty <= rst ? 0 : empty + 8'(claim) - 8'(write);
        if (write && follow && !followed) begin
            value <= din;
            ahead <= kept;
        end else if (read) ahead <= ahead - 1;
        followed <= !rst && (followed ? !(read && ahead == 0) : write && follow);
    end
    always_comb begin
        assume (!claim || !rst && room);
        assume (!write || !rst && (empty != 0 || claim));
        assume (!read || !rst && valid);
        if (!rst) begin
            assert (count + empty <= PLACES);
            assert (fresh ? !room : room == (count + empty < PLACES));
            assert (valid == (count != 0));
            assert (!followed || ahead < count && (ahead != 0 || word == value));
            assert (taken == count + empty && stored == count && count <= PLACES && empty <= PLACES);
        end
    end
    if (SRL) begin : g_kept
        assign at = count - 1 - ahead;
        always_comb if (!rst) begin
            assert (g_shift.oldest == (count == 0 ? 0 : count - 1));
            assert (!followed || g_shift.g_bit[0].line[at[PLACE-1:0]] == value);
        end
    end else begin : g_kept
        logic [7:0] end_;
        assign at = g_ring.head + ahead < PLACES ? g_ring.head + ahead : g_ring.head + ahead - PLACES;
        assign end_ = g_ring.head + count < PLACES ? g_ring.head + count : g_ring.head + count - PLACES;
        always_comb if (!rst) assert (g_ring.head < PLACES && g_ring.tail == end_);
        WORDS
    end
endmodule
`

// memories has assertions on the words in a ring, by style.
var memories = map[string]string{
	"lutram": `always_comb if (!rst) assert (!followed || g_ring.g_lutram.words[at[PLACE-1:0]] == value);`,
	"bram": `always_comb if (!rst) assert (!followed || g_ring.g_memory.genblk1.g_bram.words[at[PLACE-1:0]] == value);
        always_comb if (!rst) assert (count == 0 || word == g_ring.g_memory.genblk1.g_bram.words[g_ring.head]);`,
}

// TestStream checks that words come out of a FIFO in their order, that none is lost or doubled, and that there are
// never more than fit.
func TestStream(t *testing.T) {
	t.Parallel()
	const path = "rtl/shared/hlsgen_stream.sv"
	all := []mutant{
		{path, `next_taken != COUNT'\(PLACES\)`, "taken != COUNT'(PLACES)"},
		{path, `next_taken != COUNT'\(PLACES\)`, "next_taken < COUNT'(PLACES - 1)"},
		{path, `next_stored != '0`, "stored != '0"},
		{path, `write && !read`, "write"},
	}
	shift := append(all[:4:4], mutant{path, `PLACE'\(next_stored - COUNT'\(1\)\)`, "PLACE'(stored - COUNT'(1))"})
	ring := append(all[:1:1], mutant{path, `PLACE'\(PLACES - 1\) \? '0 : tail`, "PLACE'(PLACES - 2) ? '0 : tail"})
	ahead := append(all[:1:1], mutant{path, `write && tail == from`, "1'b0"},
		mutant{path, `\? passed : held`, "? held : held"})
	for _, c := range []struct {
		style   string
		places  int
		mutants []mutant
	}{
		{"srl", 1, nil}, {"srl", 2, nil}, {"srl", 5, shift}, {"srl", 16, nil},
		{"lutram", 1, nil}, {"lutram", 2, nil}, {"lutram", 3, ring}, {"lutram", 8, nil},
		{"bram", 1, nil}, {"bram", 2, nil}, {"bram", 3, ahead}, {"bram", 7, nil},
	} {
		files := rtl.LibraryModuleFiles()
		for i, f := range files {
			if f.Path == path {
				const last = "logic             read\n"
				text := strings.Replace(string(f.Data), last, "logic read, input logic follow\n", 1)
				text = strings.Replace(text, "endmodule\n", strings.Replace(queue, "WORDS", memories[c.style], 1), 1)
				files[i].Data = []byte(text)
			}
		}
		harness := fmt.Sprintf(`module proof (input logic clk, claim, write, read, din, follow,
    output logic room, word, valid);
    logic rst = 1;
    always_ff @(posedge clk) rst <= 0;
    hlsgen_stream #(.WIDTH(1), .PLACES(%d), .STYLE("%s")) fifo (.*);
endmodule
`, c.places, c.style)
		proof{name: fmt.Sprint(c.style, " of ", c.places), files: files, harness: harness, clocks: 2*c.places + 4,
			forever: true, mutants: c.mutants}.check(t)
	}
}
