// hlsgen_uart_tx says bytes on a line, as hlsgen_uart_rx hears them. What it has begun to say it says to the end.
module hlsgen_uart_tx #(
    parameter int DIVIDE = 104
) (
    input  logic       clk,
    input  logic [7:0] data,
    input  logic       valid,
    output logic       ready,
    output logic       line
);
    localparam int COUNT = $clog2(DIVIDE);
    logic [8:0]       bits = '1;
    logic [COUNT-1:0] left = '0;
    logic [3:0]       more = '0;  // bits to say
    assign ready = more == '0;
    assign line  = bits[0];
    always_ff @(posedge clk) begin
        if (ready) begin
            left <= COUNT'(DIVIDE - 1);
            if (valid) begin
                bits <= {data, 1'b0};
                more <= 4'd10;
            end
        end else if (left != '0) begin
            left <= left - COUNT'(1);
        end else begin
            left <= COUNT'(DIVIDE - 1);
            bits <= {1'b1, bits[8:1]};
            more <= more - 4'd1;
        end
    end
endmodule
