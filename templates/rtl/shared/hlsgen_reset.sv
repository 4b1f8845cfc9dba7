// hlsgen_reset lengthens a reset by CLOCKS clocks. The words in the stages of a pipeline at the beginning of a reset
// have left the pipeline at its end, so stages need no reset of their own. FIFOs start first, and circuits two clocks
// later (hold): a word that is visible in the first clock of a circuit was written in the clock before, when the FIFO
// already had room.
module hlsgen_reset #(
    parameter int CLOCKS = 16
) (
    input  logic clk,
    input  logic rst_n,
    output logic rst,
    output logic hold
);
    localparam int COUNT = $clog2(CLOCKS + 1);
    logic [COUNT-1:0] left;
    logic             filling;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            left    <= COUNT'(CLOCKS);
            rst     <= 1'b1;
            filling <= 1'b1;
            hold    <= 1'b1;
        end else begin
            if (left != '0) left <= left - COUNT'(1);
            rst     <= left != '0;
            filling <= rst;
            hold    <= filling;
        end
    end
endmodule
