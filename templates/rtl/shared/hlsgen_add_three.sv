// hlsgen_add_three is an adder of three operands: a lookup table for each bit, and a carry chain of AMD's devices from
// the 7 series to UltraScale+. A table adds the three bits, and gives the chain whether their sum and the carry of the
// three bits below are odd. Bits of a subtracted operand are inverted in the table. What is then missing, 1 for each,
// are carries into the lowest bit. Where all operands are 0, only the carry of the bits below counts, and no table.
// Simulators, which have no cells of a device, add numbers.
module hlsgen_add_three #(
    parameter int W = 8,
    parameter int T = W,       // all operands are 0 from this bit on
    parameter bit MINUS_B = 0, // b is subtracted
    parameter bit MINUS_C = 0, // c is subtracted
    parameter int CELL = 8     // bits of a carry cell: 4, or 8 for UltraScale and UltraScale+
) (
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    input  logic [W-1:0] c,
    output logic [W-1:0] sum
);
`ifdef SYNTHESIS
    localparam bit [15:0] ODD = MINUS_B ^ MINUS_C ? 16'h9669 : 16'h6996;
    localparam bit [7:0] MOST = MINUS_B ? (MINUS_C ? 8'h2b : 8'hb2) : (MINUS_C ? 8'h8e : 8'he8);
    localparam int CELLS = (W + CELL - 1) / CELL;
    logic [CELLS*CELL-1:0] odd, into, sums, carries;
    logic [W:0] most;
    assign most[0] = MINUS_B & MINUS_C;
    for (genvar i = 0; i < CELLS * CELL; i++) begin : bits
        if (i < T && i < W) begin : used
            LUT6_2 #(.INIT({ODD, ODD, {4{MOST}}})) lut (.I0(a[i]), .I1(b[i]), .I2(c[i]), .I3(most[i]), .I4(1'b0),
                .I5(1'b1), .O6(odd[i]), .O5(most[i+1]));
            assign into[i] = most[i];
        end else if (i < W) begin : zero
            assign most[i+1] = MINUS_B & MINUS_C;
            assign odd[i] = MINUS_B ^ MINUS_C ^ (i == T ? most[i] : MINUS_B & MINUS_C);
            assign into[i] = i == T ? most[i] : MINUS_B & MINUS_C;
        end else begin : unused
            assign odd[i] = 1'b0;
            assign into[i] = 1'b0;
        end
    end
    for (genvar k = 0; k < CELLS; k++) begin : chain
        if (CELL == 8) begin : eight
            CARRY8 cell8 (.CI(k == 0 ? MINUS_B | MINUS_C : carries[(k == 0 ? 1 : k)*8-1]), .CI_TOP(1'b0),
                .DI(into[k*8+:8]), .S(odd[k*8+:8]), .O(sums[k*8+:8]), .CO(carries[k*8+:8]));
        end else begin : four
            CARRY4 cell4 (.CI(k == 0 ? 1'b0 : carries[(k == 0 ? 1 : k)*4-1]),
                .CYINIT(k == 0 ? MINUS_B | MINUS_C : 1'b0), .DI(into[k*4+:4]), .S(odd[k*4+:4]),
                .O(sums[k*4+:4]), .CO(carries[k*4+:4]));
        end
    end
    assign sum = sums[W-1:0];
`else
    /* verilator lint_off UNUSEDPARAM */
    localparam int Unused = CELL + T;
    /* verilator lint_on UNUSEDPARAM */
    assign sum = a + (MINUS_B ? -b : b) + (MINUS_C ? -c : c);
`endif
endmodule
