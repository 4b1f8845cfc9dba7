// hlsgen_uart_check computes the check byte of a message. It is the CRC-8 with the polynomial x^8 + x^2 + x + 1 and
// the initial value 0xff, of all bytes so far except the first byte of the message.
module hlsgen_uart_check (
    input  logic       clk,
    input  logic       start,
    input  logic       add,
    input  logic [7:0] data,
    output logic [7:0] check
);
    logic [7:0] next;
    always_comb begin
        next = check ^ data;
        for (int i = 0; i < 8; i++) next = {next[6:0], 1'b0} ^ (next[7] ? 8'h07 : 8'h00);
    end
    always_ff @(posedge clk) begin
        if (start) check <= 8'hff;
        else if (add) check <= next;
    end
endmodule
