// hlsgen_sequence takes sequences of steps of so many words, each up to the word with TLAST, and tells after every step whether
// it was the last one. What the host gets wrong ends with the sequence: of a step in which TLAST comes, the words that are
// missing are zeros; of a sequence of more steps than the longest has, the words behind these are left out.
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
    input  logic             room,   // of all FIFOs behind
    output logic [WIDTH-1:0] din,
    output logic             write,
    output logic             tell,   // the word is a step's last one
    output logic             last    // and the step that of the sequence
);
    localparam int STEPS = $clog2(LONGEST);
    logic came, over;  // the word with TLAST, and the last step
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
