// hlsgen_uart_out converts frames of words to messages of the form that hlsgen_uart_in describes.
module hlsgen_uart_out #(
    parameter int BYTES = 1,  // bytes of a word
    parameter int WORDS = 10  // words of a frame
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [8*BYTES-1:0] tdata,
    input  logic               tvalid,
    output logic               tready,
    output logic [7:0]         data,
    output logic               valid,
    input  logic               ready,
    output logic               done  // set for one clock: a message is complete
);
    localparam int WIDTH = 8 * BYTES;
    localparam int WORD  = WORDS > 1 ? $clog2(WORDS) : 1;
    localparam int BYTE  = BYTES > 1 ? $clog2(BYTES) : 1;
    typedef enum logic [1:0] {BEGIN, TAKE, SAY, END} state_t;
    state_t             state;
    logic [WORD-1:0]    at;
    logic [BYTE-1:0]    part;
    logic [8*BYTES-1:0] word;
    logic [8*BYTES+7:0] longer;
    logic [7:0]         check;
    assign longer = {8'd0, word};
    assign tready = state == TAKE && !rst;
    assign valid  = !rst && (state == BEGIN ? tvalid : state != TAKE);
    assign done   = valid && ready && state == END;
    always_comb begin
        case (state)
            BEGIN:   data = 8'ha5;
            SAY:     data = word[7:0];
            default: data = check;
        endcase
    end
    hlsgen_uart_check so_far (
        .clk(clk), .start(state == BEGIN), .add(state == SAY && ready), .data(word[7:0]), .check(check)
    );
    always_ff @(posedge clk) begin
        case (state)
            BEGIN: begin
                at   <= '0;
                part <= '0;
                if (tvalid && ready) state <= TAKE;
            end
            TAKE: if (tvalid) begin
                word  <= tdata;
                state <= SAY;
            end
            SAY: if (ready) begin
                word <= WIDTH'(longer >> 8);
                part <= part + BYTE'(1);
                if (part == BYTE'(BYTES - 1)) begin
                    part  <= '0;
                    at    <= at + WORD'(1);
                    state <= at == WORD'(WORDS - 1) ? END : TAKE;
                end
            end
            END: if (ready) state <= BEGIN;
        endcase
        if (rst) state <= BEGIN;
    end
endmodule
