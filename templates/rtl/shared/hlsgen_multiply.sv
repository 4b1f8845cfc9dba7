// hlsgen_multiply is a multiplier in a DSP slice of the device. The product of factors appears three clocks after
// them. The generated text writes multipliers in logic without the operator *, so that tools map no other multiplier
// to a slice.
module hlsgen_multiply #(
    parameter int A = 8,
    parameter int B = 8,
    parameter int P = 16,  // bits of the product that are used
    parameter int W = P    // bits of the whole product
) (
    input  logic                  clk,
    input  logic signed [A-1:0]   a,
    input  logic signed [B-1:0]   b,
    output logic signed [P-1:0]   product
);
    /* verilator lint_off UNUSEDSIGNAL */ // high bits of the product that are not used
    logic signed [W-1:0] whole;
    /* verilator lint_on UNUSEDSIGNAL */
    hlsgen_slice #(.A(A), .B(B), .P(W)) slice (.clk(clk), .go(1'b1), .a(a), .b(b), .product(whole));
    assign product = whole[P-1:0];
endmodule
