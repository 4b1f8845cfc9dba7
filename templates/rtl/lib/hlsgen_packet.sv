// hlsgen_packet looks at packets of up to so many steps of so many words each: TLAST has to come with the last word of a step,
// and with that of the last step at the latest. What it says stays until a reset. Where frames have one length, they are of
// one step.
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
