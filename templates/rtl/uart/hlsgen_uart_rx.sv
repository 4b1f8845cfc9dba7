// hlsgen_uart_rx hears bytes on a line: 8 data bits, no parity, one stop bit, DIVIDE clocks each. A byte without its
// stop bit is dropped; if all its bits are zero, the line was held low (a break). It needs no reset: the line is high
// to begin with.
module hlsgen_uart_rx #(
    parameter int DIVIDE = 104
) (
    input  logic       clk,
    input  logic       line,
    output logic [7:0] data,
    output logic       valid,  // for a clock, with data
    output logic       broken  // for a clock: a break
);
    localparam int COUNT = $clog2(DIVIDE);
    logic [1:0]       seen = '1;  // the line belongs to no clock
    logic             now, high = 1'b1, busy = 1'b0;
    logic [COUNT-1:0] left = '0;
    logic [3:0]       at   = '0;
    assign now = seen[1];
    initial {data, valid, broken} = '0;
    always_ff @(posedge clk) begin
        seen   <= {seen[0], line};
        valid  <= 1'b0;
        broken <= 1'b0;
        if (!busy) begin
            high <= now;
            busy <= high && !now;
            at   <= '0;
            left <= COUNT'(DIVIDE / 2 - 1);
        end else if (left != '0) begin
            left <= left - COUNT'(1);
        end else begin
            left <= COUNT'(DIVIDE - 1);
            at   <= at + 4'd1;
            if (at == 4'd0) begin
                busy <= !now;  // else it was no start bit
            end else if (at != 4'd9) begin
                data <= {now, data[7:1]};
            end else begin
                busy   <= 1'b0;
                high   <= now;
                valid  <= now;
                broken <= !now && data == 8'd0;
            end
        end
    end
endmodule
