// hlsgen_last counts the words of frames of WORDS words, and reports the last word of each frame.
module hlsgen_last #(
    parameter int WORDS = 2
) (
    input  logic clk,
    input  logic rst,
    input  logic moves,
    output logic last
);
    if (WORDS == 1) begin : g_each
        assign last = 1'b1;
        logic unused;
        assign unused = &{1'b0, clk, rst, moves};
    end else begin : g_count
        localparam int COUNT = $clog2(WORDS);
        logic [COUNT-1:0] at;
        assign last = at == COUNT'(WORDS - 1);
        always_ff @(posedge clk) begin
            if (rst) at <= '0;
            else if (moves) at <= last ? '0 : at + COUNT'(1);
        end
    end
endmodule
