// hlsgen_pace says in which clocks the host moves a word, for a simulation: at most every so many clocks, and not in those
// that the dice stall. The dice are those of hlsgen's simulator.
//     +SIDE_every=N +SIDE_stall=PERCENT +SIDE_seed=N
module hlsgen_pace #(
    parameter     SIDE  = "in",
    parameter int INDEX = 0,
    parameter int EVERY = 1
) (
    input  logic clk,
    input  int   clock,
    input  logic moves,
    output logic open
);
    function automatic logic [63:0] mix(input logic [63:0] n);
        logic [63:0] x;
        x = n + 64'h9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 64'hbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 64'h94d049bb133111eb;
        return x ^ (x >> 31);
    endfunction

    int          every, stall, free = 0;
    logic [63:0] seed;
    initial begin
        if ($value$plusargs({SIDE, "_every=%d"}, every) == 0) every = 1;
        if ($value$plusargs({SIDE, "_stall=%d"}, stall) == 0) stall = 0;
        if ($value$plusargs({SIDE, "_seed=%d"}, seed) == 0) seed = 0;
        if (every < EVERY) every = EVERY;
        seed = mix(seed + 64'(INDEX));
    end
    assign open = clock >= free && (stall == 0 || mix(seed ^ 64'(clock)) % 64'd100 >= 64'(stall));
    always_ff @(posedge clk) if (moves) free <= clock + every;
endmodule
