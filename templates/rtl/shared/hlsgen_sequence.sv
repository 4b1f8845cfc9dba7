// hlsgen_sequence reads sequences of steps. A step has a fixed number of words, and a sequence ends with the word that
// has TLAST. After every step, the module tells whether the step was the last. A host's mistake affects only its
// sequence: if TLAST comes in the middle of a step, zeros replace the missing words; the words after the longest
// sequence are dropped.
module hlsgen_sequence #(
    parameter int WIDTH   = 8,
    parameter int WORDS   = 1,
    parameter int LONGEST = 2
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] tdata,
    input  logic             tvalid,
    input  logic             tlast,
    output logic             tready,
    input  logic             room,   // all following FIFOs have room
    output logic [WIDTH-1:0] din,
    output logic             write,
    output logic             tell,   // the word is the last of its step
    output logic             last    // and the step is the last of its sequence
);
    localparam int STEPS = $clog2(LONGEST);
    logic came, over;  // the word with TLAST was read; the last step was written
    logic moves, ends, full;
    logic [STEPS-1:0] step;
    assign tready = room && !came;
    assign moves = room && (came || tvalid);
    assign ends = came || tlast;
    assign din = came ? '0 : tdata;
    assign write = moves && !over;
    assign tell = write && full;
    assign last = ends || step == STEPS'(LONGEST - 1);
    hlsgen_last #(.WORDS(WORDS)) words (.clk(clk), .rst(rst), .moves(write), .last(full));
    always_ff @(posedge clk) begin
        if (rst) begin
            came <= 1'b0;
            over <= 1'b0;
            step <= '0;
        end else if (moves) begin
            came <= ends && !(over || tell && last);
            over <= !ends && (over || tell && last);
            if (tell) step <= last ? '0 : step + STEPS'(1);
        end
    end
endmodule
