// hlsgen_packet checks TLAST of packets, which have up to a maximum number of steps with a fixed number of words each.
// TLAST must come with the last word of a step, and at the latest with that of the last step. A reported error stays
// until a reset. Frames of one fixed length count as one step.
module hlsgen_packet #(
    parameter int WORDS = 1,
    parameter int STEPS = 1
) (
    input  logic clk,
    input  logic rst_n,
    input  logic moves,
    input  logic last,
    output logic wrong
);
    logic full, final_step;
    hlsgen_last #(.WORDS(WORDS)) words (.clk(clk), .rst(!rst_n), .moves(moves), .last(full));
    hlsgen_last #(.WORDS(STEPS)) steps (.clk(clk), .rst(!rst_n || moves && last), .moves(moves && full), .last(final_step));
    always_ff @(posedge clk) begin
        if (!rst_n) wrong <= 1'b0;
        else if (moves && (last ? !full : full && final_step)) wrong <= 1'b1;
    end
endmodule
