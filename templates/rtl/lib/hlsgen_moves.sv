// hlsgen_moves holds, for a simulation, the words that iterations move against those of the loop: bit by bit, the inputs
// lowest, for each iteration of a frame a line of STREAM.dat.
module hlsgen_moves #(
    parameter int PORTS  = 2,
    parameter int PER    = 1,
    parameter     STREAM = "moves"
) (
    input  logic             clk,
    input  logic             run,
    input  logic             fire,
    input  logic [PORTS-1:0] moves,
    output logic             wrong
);
    logic [PORTS-1:0] loop[PER];
    int               at = 0;
    initial begin
        string folder;
        if ($value$plusargs("data=%s", folder) == 0) folder = "tb/data";
        $readmemh({folder, "/", STREAM, ".dat"}, loop);
        wrong = 1'b0;
    end
    always_ff @(posedge clk) begin
        if (run && fire) begin
            at <= at == PER - 1 ? 0 : at + 1;
            if (!wrong && moves != loop[at]) begin
                $display("FAIL %s: iteration %0d moves %b, want %b", STREAM, at, moves, loop[at]);
                wrong <= 1'b1;
            end
        end
    end
endmodule
