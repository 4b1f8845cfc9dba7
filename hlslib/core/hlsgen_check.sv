// hlsgen_check compares the words of a stream in a simulation with its recording; see hlsgen_recording. If LAST is
// set, the last word of each frame must have TLAST, and no other word. The module reports the first difference.
module hlsgen_check #(
    parameter int WIDTH  = 8,  // width of the data: the bits above a word must be zero
    parameter int BITS   = 8,
    parameter int WORDS  = 1,
    parameter int PER    = 1,
    parameter bit STEPS  = 0,
    parameter     STREAM = "s0",
    parameter bit LAST   = 0
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] data,
    input  logic             last,
    input  logic             passes,
    output logic             done,
    output logic             wrong
);
    int              next, count;
    logic [BITS-1:0] word;
    logic            ends;
    hlsgen_recording #(.BITS(BITS), .WORDS(WORDS), .PER(PER), .STEPS(STEPS), .STREAM(STREAM)) recording (
        .at(next), .word(word), .ends(ends), .count(count)
    );

    assign done = next == count;
    always_ff @(posedge clk) begin
        if (rst) begin
            next  <= 0;
            wrong <= 1'b0;
        end else if (passes) begin
            next <= next + 1;
            if (!wrong && next >= count) begin
                $display("FAIL %s: a word too many", STREAM);
                wrong <= 1'b1;
            end else if (!wrong && data !== WIDTH'(word)) begin
                $display("FAIL %s: word %0d is %h, want %h", STREAM, next, data, word);
                wrong <= 1'b1;
            end else if (!wrong && LAST && last !== ends) begin
                $display("FAIL %s: word %0d has TLAST %b", STREAM, next, last);
                wrong <= 1'b1;
            end
        end
    end
endmodule
