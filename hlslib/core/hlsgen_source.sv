// hlsgen_source sends the recorded words of a stream over an AXI4-Stream, for a simulation; see hlsgen_recording.
// While the input pauses is set, it pauses at random between words.
module hlsgen_source #(
    parameter int WIDTH  = 8,  // width of TDATA: the bits above a word are zero
    parameter int BITS   = 8,
    parameter int WORDS  = 1,
    parameter int PER    = 1,
    parameter bit STEPS  = 0,
    parameter     STREAM = "s0",
    parameter int SEED   = 1
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             pauses,
    output logic [WIDTH-1:0] data,
    output logic             last,
    output logic             valid,
    input  logic             ready
);
    int              next, count;
    logic [BITS-1:0] word;
    logic            ends;
    hlsgen_recording #(.BITS(BITS), .WORDS(WORDS), .PER(PER), .STEPS(STEPS), .STREAM(STREAM)) recording (
        .at(next), .word(word), .ends(ends), .count(count)
    );

    // A word is offered until it is taken; then a pause may follow. The random numbers are the same in every run.
    logic [15:0] noise;
    always_ff @(posedge clk) begin
        noise <= {noise[14:0], noise[15] ^ noise[13] ^ noise[12] ^ noise[10]};
        if (rst) begin
            valid <= 1'b0;
            last  <= 1'b0;
            data  <= '0;
            next  <= 0;
            noise <= 16'(SEED);
        end else if (!valid || ready) begin
            valid <= 1'b0;
            if (next < count && !(pauses && noise[1:0] != 2'b00)) begin
                valid <= 1'b1;
                data  <= WIDTH'(word);
                last  <= ends;
                next  <= next + 1;
            end
        end
    end
endmodule
