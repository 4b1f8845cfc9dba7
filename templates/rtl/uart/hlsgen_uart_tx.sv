// hlsgen_uart_tx sends bytes on a line in the format that hlsgen_uart_rx describes. It always completes a byte.
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
    logic [3:0]       more = '0;  // remaining bits to send
    assign ready = more == '0;
    assign line  = bits[0];
    always_ff @(posedge clk) begin
        left <= ready || left == '0 ? COUNT'(DIVIDE - 1) : left - COUNT'(1);
        if (ready) begin
            if (valid) begin
                bits <= {data, 1'b0};
                more <= 4'd10;
            end
        end else if (left == '0) begin
            bits <= {1'b1, bits[8:1]};
            more <= more - 4'd1;
        end
    end
endmodule
