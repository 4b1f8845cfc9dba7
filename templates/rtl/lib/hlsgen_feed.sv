// hlsgen_feed is the host at an input, for a simulation: it gives a word in the clock before the one in which hlsgen's
// simulator does, so that it is visible in that one. free says that the FIFO has a place then.
module hlsgen_feed #(
    parameter int WIDTH  = 8,  // of TDATA: above a word are zeros
    parameter int BITS   = 8,
    parameter int WORDS  = 1,
    parameter int PER    = 1,
    parameter bit STEPS  = 0,
    parameter     STREAM = "s0",
    parameter int INDEX  = 0,
    parameter int EVERY  = 1
) (
    input  logic             clk,
    input  logic             run,
    input  int               now,
    input  logic             free,
    output logic [WIDTH-1:0] data,
    output logic             last,
    output logic             valid
);
    int              next = 0, count;
    logic [BITS-1:0] word;
    logic            open;
    hlsgen_recording #(.BITS(BITS), .WORDS(WORDS), .PER(PER), .STEPS(STEPS), .STREAM(STREAM)) recording (
        .at(next), .word(word), .ends(last), .count(count)
    );
    hlsgen_pace #(.SIDE("in"), .INDEX(INDEX), .EVERY(EVERY)) pace (.clk(clk), .clock(now + 1), .moves(valid), .open(open));

    assign data  = WIDTH'(word);
    assign valid = run && free && open && next < count;
    always_ff @(posedge clk) if (valid) next <= next + 1;
endmodule
