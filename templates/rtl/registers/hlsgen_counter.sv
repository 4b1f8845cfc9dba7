// hlsgen_counter counts events that happen at most once in a clock, and stops at the highest number. Its output is the
// count at the last publication, including an event of that clock.
module hlsgen_counter #(
    parameter int WIDTH = 32
) (
    input  logic             clk,
    input  logic             rst,
    input  logic             count,
    input  logic             publish,
    output logic [WIDTH-1:0] shown
);
    logic [WIDTH-1:0] now, next;
    logic             step;
    assign step = count && !(&now);
    assign next = now + WIDTH'(step);
    always_ff @(posedge clk) begin
        if (rst) begin
            now   <= '0;
            shown <= '0;
        end else begin
            now <= next;
            if (publish) shown <= next;
        end
    end
endmodule
