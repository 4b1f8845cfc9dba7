// hlsgen_slice is what a multiplier of the device is made of. It stays a module: no tool sees from outside that bits of
// its ports are alike, makes lookup tables of a small product, or takes its registers apart. go is always 1. Yosys 0.23
// loses the product where an SB_MAC16 takes both registers behind the multiplication, and has it take one where the first
// may wait; a DSP slice of AMD's takes both.
(* keep_hierarchy = "yes" *)
module hlsgen_slice #(
    parameter int A = 8,
    parameter int B = 8,
    parameter int P = 16
) (
    input  logic                  clk,
    input  logic                  go,
    input  logic signed [A-1:0]   a,
    input  logic signed [B-1:0]   b,
    output logic signed [P-1:0]   product
);
    /* verilator lint_off UNUSEDSIGNAL */ // bits that the product is not asked for
    logic signed [A-1:0] first;
    logic signed [B-1:0] second;
    /* verilator lint_on UNUSEDSIGNAL */
    (* use_dsp = "yes" *) logic signed [P-1:0] full;
    always_ff @(posedge clk) begin
        first  <= a;
        second <= b;
        if (go) full <= P'(first) * P'(second);
        product <= full;
    end
endmodule
