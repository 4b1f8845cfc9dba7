// hlsgen_events tells, for a simulation, in which clocks something has happened for the first LIMIT times: as one number that
// depends on all of them.
module hlsgen_events #(
    parameter longint LIMIT = 1,
    parameter         NAME  = "s0"
) (
    input  logic clk,
    input  logic run,
    input  int   now,
    input  logic happens,
    input  logic ended,  // it is to be told
    output logic done
);
    longint      count = 0;
    logic [63:0] hash = 64'd0;
    assign done = count == LIMIT;
    always_ff @(posedge clk) begin
        if (run && happens && !done) begin
            count <= count + 1;
            hash  <= (hash ^ 64'(now)) * 64'h100000001b3;
        end
    end
    always_ff @(posedge clk) if (ended) $display("EVENTS %s %0d %h", NAME, count, hash);
endmodule
