// hlsgen_uart_rx receives bytes from a line, with 8 data bits, no parity and one stop bit. A bit takes DIVIDE clocks.
// A byte without its stop bit is dropped; if all its bits are zero, it is a break. The module needs no reset, because
// the line is high at the beginning.
module hlsgen_uart_rx #(
    parameter int DIVIDE = 104
) (
    input  logic       clk,
    input  logic       line,
    output logic [7:0] data,
    output logic       valid,  // set for one clock, with data
    output logic       broken  // set for one clock: a break
);
    localparam int COUNT = $clog2(DIVIDE);
    logic [1:0]       seen = '1;  // synchronises the line with the clock
    logic             now, high = 1'b1, busy = 1'b0;
    logic [COUNT-1:0] left = '0;
    logic [3:0]       at   = '0;
    assign now = seen[1];
    initial {data, valid, broken} = '0;
    always_ff @(posedge clk) begin
        // The counter has one beginning alone, for the sake of its carry chain; a bit is read half a bit after it began.
        left   <= !busy || left == '0 ? COUNT'(DIVIDE - 1) : left - COUNT'(1);
        seen   <= {seen[0], line};
        valid  <= 1'b0;
        broken <= 1'b0;
        if (!busy) begin
            high <= now;
            busy <= high && !now;
            at   <= '0;
        end else if (left == COUNT'(DIVIDE - DIVIDE / 2)) begin
            at <= at + 4'd1;
            if (at == 4'd0) begin
                busy <= !now;  // if the line is high again, it was no start bit
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
