// hlsgen_fifo is a FIFO of DEPTH words between two processes, with the ports of Vitis HLS' ap_fifo. A word that is
// written in one clock is visible in the next. A place that becomes free in one clock can be used in the next. Both
// flags are registers: neither depends on the other end's actions in the same clock. hlsgen's simulator models the
// same FIFO. STYLE selects the memory: "srl" for shift registers; "lutram", "bram" or "uram" for a memory used as a
// ring.
module hlsgen_fifo #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 2,
    parameter     STYLE = "srl"
) (
    input  logic             clk,
    input  logic             rst,
    // the writer's end
    input  logic [WIDTH-1:0] din,
    output logic             full_n,
    input  logic             write,
    // the reader's end
    output logic [WIDTH-1:0] dout,
    output logic             empty_n,
    input  logic             read
);
    localparam int COUNT = $clog2(DEPTH + 1);
    localparam int PLACE = DEPTH > 1 ? $clog2(DEPTH) : 1;

    typedef logic [COUNT-1:0] count_t;
    typedef logic [PLACE-1:0] place_t;

    logic push, pop;
    assign push = write && full_n;
    assign pop  = read && empty_n;

    // after returns the next place of the ring.
    function automatic place_t after(place_t place);
        return place == place_t'(DEPTH - 1) ? '0 : place + place_t'(1);
    endfunction

    // The number of words in the FIFO.
    count_t count, next_count;
    always_comb begin
        next_count = count;
        if (push && !pop) next_count = count + count_t'(1);
        if (pop && !push) next_count = count - count_t'(1);
    end
    always_ff @(posedge clk) begin
        if (rst) begin
            count   <= '0;
            empty_n <= 1'b0;
            full_n  <= 1'b1;
        end else begin
            count   <= next_count;
            empty_n <= next_count != '0;
            full_n  <= next_count != count_t'(DEPTH);
        end
    end

    // Literals of different lengths are compared as if the shorter one began with zeros.
    /* verilator lint_off WIDTH */
    localparam bit SRL = STYLE == "srl", LUTRAM = STYLE == "lutram", BRAM = STYLE == "bram", URAM = STYLE == "uram";
    /* verilator lint_on WIDTH */

    if (!SRL && !LUTRAM && !BRAM && !URAM) begin : g_unknown
        $error("hlsgen_fifo: STYLE is none of srl, lutram, bram, uram");
    end else if (SRL) begin : g_shift
        // The newest word is at place 0, and the oldest at place count - 1. A register holds count - 1.
        place_t oldest;
        always_ff @(posedge clk) begin
            if (rst || next_count == '0) oldest <= '0;
            else oldest <= place_t'(next_count - count_t'(1));
        end
        for (genvar i = 0; i < WIDTH; i++) begin : g_bit
            (* shreg_extract = "yes" *) logic [DEPTH-1:0] line;
            always_ff @(posedge clk) if (push) line <= DEPTH'({line, din[i]});
            assign dout[i] = line[oldest];
        end
    end else begin : g_ring
        place_t head, tail, next_head;
        assign next_head = pop ? after(head) : head;
        always_ff @(posedge clk) begin
            if (rst) begin
                head <= '0;
                tail <= '0;
            end else begin
                head <= next_head;
                if (push) tail <= after(tail);
            end
        end

        if (LUTRAM) begin : g_lutram
            // The memory is read in the clock of the address.
            (* ram_style = "distributed" *) logic [WIDTH-1:0] words[DEPTH];
            always_ff @(posedge clk) if (push) words[tail] <= din;
            assign dout = words[head];
        end else begin : g_memory
            // The memory is read a clock ahead, at the next address. A word that is written there in the same clock
            // bypasses the memory.
            logic [WIDTH-1:0] stored, passed;
            logic             around;
            always_ff @(posedge clk) begin
                passed <= din;
                around <= push && tail == next_head;
            end
            assign dout = around ? passed : stored;
            if (URAM) begin : g_uram
                (* ram_style = "ultra" *) logic [WIDTH-1:0] words[DEPTH];
                always_ff @(posedge clk) begin
                    if (push) words[tail] <= din;
                    stored <= words[next_head];
                end
            end else begin : g_bram
                (* ram_style = "block" *) logic [WIDTH-1:0] words[DEPTH];
                always_ff @(posedge clk) begin
                    if (push) words[tail] <= din;
                    stored <= words[next_head];
                end
            end
        end
    end
endmodule
