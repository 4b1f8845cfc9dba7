// hlsgen_counters is a pair of counters, and a link of the chain through which all pairs are read. If one of its
// counts is requested, its output is that count, else the output of the previous link. So a count arrives at the end
// of the chain after as many clocks as there are links, and every wire connects only neighbouring links.
module hlsgen_counters #(
    parameter int PAIR  = 0,   // number of this pair
    parameter int PAIRS = 1,   // number of all pairs
    parameter int WIDTH = 32,  // bits of a counter, at most 32
    parameter int BITS  = $clog2(2 * PAIRS)
) (
    input  logic            clk,
    input  logic            rst,
    input  logic [1:0]      count,
    input  logic [1:0]      publish,
    input  logic [BITS-1:0] number,
    input  logic [31:0]     from,
    output logic [31:0]     to
);
    logic [WIDTH-1:0] first, second;
    hlsgen_counter #(.WIDTH(WIDTH)) counter_0 (
        .clk(clk), .rst(rst), .count(count[0]), .publish(publish[0]), .shown(first)
    );
    hlsgen_counter #(.WIDTH(WIDTH)) counter_1 (
        .clk(clk), .rst(rst), .count(count[1]), .publish(publish[1]), .shown(second)
    );
    logic [BITS-1:0] asked;
    assign asked = number ^ BITS'(2 * PAIR);
    always_ff @(posedge clk) begin
        case (asked)
            BITS'(0): to <= 32'(first);
            BITS'(1): to <= 32'(second);
            default:  to <= from;
        endcase
    end
endmodule
