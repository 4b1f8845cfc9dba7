// hlsgen_multiply is a multiplier of the device (a DSP slice): it takes factors in one clock, and gives their product three
// clocks later. Multipliers that are to be logic are not written with an asterisk, so that no others become slices.
module hlsgen_multiply #(
    parameter int A = 8,
    parameter int B = 8,
    parameter int P = 16  // bits of the product that are asked for
) (
    input  logic                  clk,
    input  logic signed [A-1:0]   a,
    input  logic signed [B-1:0]   b,
    output logic signed [P-1:0]   product
);
    /* verilator lint_off UNUSEDSIGNAL */ // bits that the product is not asked for
    logic signed [A-1:0] first;
    logic signed [B-1:0] second;
    /* verilator lint_on UNUSEDSIGNAL */
`ifdef YOSYS
    (* keep *)  // Yosys 0.23 loses the product where an SB_MAC16 takes both registers behind the multiplication
`endif
    (* use_dsp = "yes" *) logic signed [P-1:0] full;
    always_ff @(posedge clk) begin
        first   <= a;
        second  <= b;
        full    <= P'(first) * P'(second);
        product <= full;
    end
endmodule
