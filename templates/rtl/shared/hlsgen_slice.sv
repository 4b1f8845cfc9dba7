// hlsgen_slice is the multiplier and the registers of a DSP slice. It stays a separate module, so that no tool uses
// equal bits of its ports, makes lookup tables from a small product, or separates its registers. The input go is
// always 1. Yosys 0.23 loses the product if an SB_MAC16 absorbs both registers after the multiplication. It absorbs
// only one if the first register has an enable, which is go. A DSP slice of AMD absorbs both.
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
    /* verilator lint_off UNUSEDSIGNAL */ // high bits of the product that are not used
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
