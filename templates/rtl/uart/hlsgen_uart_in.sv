// hlsgen_uart_in converts messages to frames of words. A message has a byte that marks its beginning, the bytes of the
// words (the lowest first), and a check byte. The module stores a message until its check byte has come, and only then
// sends its words, so that the network gets no damaged frames. It drops a message if no byte comes for TIMEOUT clocks,
// or if the check byte is wrong. It ignores bytes that come while it sends a frame.
module hlsgen_uart_in #(
    parameter int BYTES   = 1,  // bytes of a word
    parameter int WORDS   = 64,  // words of a frame
    parameter int TIMEOUT = 240000
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [7:0]         data,
    input  logic               valid,
    output logic [8*BYTES-1:0] tdata,
    output logic               tvalid,
    input  logic               tready
);
    localparam int WIDTH = 8 * BYTES;
    localparam int TOTAL = BYTES * WORDS;
    localparam int PLACE = $clog2(TOTAL + 1);
    localparam int WAIT  = $clog2(TIMEOUT + 1);
    localparam int BYTE  = BYTES > 1 ? $clog2(BYTES) : 1;
    typedef enum logic [2:0] {HUNT, FILL, CHECK, FETCH, TAKE, GIVE} state_t;
    state_t             state;
    logic [PLACE-1:0]   at;  // number of the next byte to receive, or to send
    logic [WAIT-1:0]    waited;
    logic [BYTE-1:0]    part;  // byte of the word
    logic [7:0]         check, held;
    logic [8*BYTES+7:0] longer;
    logic               begins, fills;
    assign begins = valid && state == HUNT && data == 8'ha5;
    assign fills  = valid && state == FILL;
    assign longer = {held, tdata};
    assign tvalid = state == GIVE;
    hlsgen_uart_check so_far (.clk(clk), .start(begins), .add(fills), .data(data), .check(check));

    // At least two bytes, because a memory with a single row is not allowed.
    logic [7:0] bytes[0:(TOTAL > 1 ? TOTAL : 2)-1];
    localparam int ADDRESS = TOTAL > 2 ? $clog2(TOTAL) : 1;
    always_ff @(posedge clk) begin
        if (fills) bytes[at[ADDRESS-1:0]] <= data;
        held <= bytes[at[ADDRESS-1:0]];
    end
    always_ff @(posedge clk) begin
        waited <= valid ? '0 : waited + WAIT'(1);
        case (state)
            HUNT: begin
                at     <= '0;
                part   <= '0;
                waited <= '0;
                if (begins) state <= FILL;
            end
            FILL: if (valid) begin
                at <= at + PLACE'(1);
                if (at == PLACE'(TOTAL - 1)) state <= CHECK;
            end
            CHECK: begin
                if (valid) begin
                    at    <= '0;
                    state <= data == check ? FETCH : HUNT;
                end
            end
            FETCH: state <= TAKE;
            TAKE: begin
                tdata <= WIDTH'(longer >> 8);
                at    <= at + PLACE'(1);
                part  <= part + BYTE'(1);
                state <= FETCH;
                if (part == BYTE'(BYTES - 1)) begin
                    part  <= '0;
                    state <= GIVE;
                end
            end
            GIVE: if (tready) state <= at == PLACE'(TOTAL) ? HUNT : FETCH;
            default: state <= HUNT;
        endcase
        if ((state == FILL || state == CHECK) && waited == WAIT'(TIMEOUT)) state <= HUNT;
        if (rst) state <= HUNT;
    end
endmodule
