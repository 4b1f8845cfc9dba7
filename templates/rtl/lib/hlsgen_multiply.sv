// hlsgen_multiply is a multiplier of the device (a DSP slice): it takes factors in one clock, and gives their product three
// clocks later. Multipliers that are to be logic are not written with an asterisk, so that no others become slices.
module hlsgen_multiply #(
    parameter int A = 8,
    parameter int B = 8,
    parameter int P = 16,  // bits of the product that are asked for
    parameter int W = P    // and that it has
) (
    input  logic                  clk,
    input  logic signed [A-1:0]   a,
    input  logic signed [B-1:0]   b,
    output logic signed [P-1:0]   product
);
    /* verilator lint_off UNUSEDSIGNAL */ // what the product is not asked for
    logic signed [W-1:0] whole;
    /* verilator lint_on UNUSEDSIGNAL */
    hlsgen_slice #(.A(A), .B(B), .P(W)) slice (.clk(clk), .go(1'b1), .a(a), .b(b), .product(whole));
    assign product = whole[P-1:0];
endmodule
