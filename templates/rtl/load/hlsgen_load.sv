// hlsgen_load fills a table with the first words that come after begin, and hands on those that follow. A row takes as many
// words as it needs, its lowest bits first, and is put into the table with the last of them. It is WIDTH bits wide; the
// table has ROWS.
module hlsgen_load #(
    parameter int WIDTH = 32,
    parameter int ROWS = 1,
    parameter int PLACES = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  logic clk,
    input  logic rst,
    input  logic begin_in,
    input  logic write_in,
    input  logic [31:0] word_in,
    output logic begin_out,
    output logic write_out,
    output logic [31:0] word_out,
    output logic put,
    output logic [PLACES-1:0] at,
    output logic [WIDTH-1:0] row
);
    localparam int PARTS = (WIDTH + 31) / 32;
    localparam int COUNT = PARTS > 1 ? $clog2(PARTS) : 1;
    localparam logic [PLACES-1:0] LAST_ROW = PLACES'(ROWS - 1);
    localparam logic [COUNT-1:0] LAST_PART = COUNT'(PARTS - 1);

    logic open;             // there is room
    logic [COUNT-1:0] part; // of the row, that comes next
    logic takes;
    assign takes = open & write_in;
    assign put = takes & part == LAST_PART;

    // The words before the last of a row wait for it.
    logic [32*PARTS-1:0] words;
    generate
        if (PARTS > 1) begin : several
            logic [32*(PARTS-1)-1:0] waiting;
            assign words = {word_in, waiting};
            always_ff @(posedge clk) if (takes) waiting <= words[32*PARTS-1:32];
        end else begin : single
            assign words = word_in;
        end
    endgenerate
    assign row = words[WIDTH-1:0];
    generate
        if (WIDTH < 32 * PARTS) begin : padded
            logic unused;
            assign unused = &{1'b0, words[32*PARTS-1:WIDTH]};
        end
    endgenerate

    always_ff @(posedge clk) begin
        if (rst | begin_in) begin
            open <= !rst;
            part <= '0;
            at <= '0;
        end else if (takes) begin
            part <= part + 1'b1;
            if (put) begin
                part <= '0;
                at <= at + 1'b1;
                if (at == LAST_ROW) open <= 1'b0;
            end
        end
        begin_out <= !rst & begin_in;
        write_out <= !rst & write_in & !open;
        word_out <= word_in;
    end
endmodule
