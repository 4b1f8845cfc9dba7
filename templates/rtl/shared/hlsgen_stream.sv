// hlsgen_stream is a FIFO between two circuits. A writer claims a place when an iteration starts (claim), and fills it
// when the word has been computed (write); nothing stops the word in between. PLACES is the number of words that can
// be in the FIFO or on their way to it. All flags are registers: neither end depends on the other end's actions in the
// same clock. STYLE selects the memory: "srl" for shift registers; "lutram", "bram" or "uram" for a memory used as a
// ring. It has no default: if an instance has the default value of every parameter, Verilator 5.006 unrolls the loops
// of all other instances as it unrolls the loops of that instance.
module hlsgen_stream #(
    parameter int WIDTH  = 8,
    parameter int PLACES = 3,
    parameter     STYLE  = ""
) (
    input  logic             clk,
    input  logic             rst,
    // the writer's end
    output logic             room,   // a place can be claimed
    input  logic             claim,  // the writer claims a place
    input  logic [WIDTH-1:0] din,
    input  logic             write,
    // the reader's end
    output logic [WIDTH-1:0] word,
    output logic             valid,
    input  logic             read
);
    localparam int COUNT = $clog2(PLACES + 1);
    localparam int PLACE = PLACES > 1 ? $clog2(PLACES) : 1;
    localparam int LINE  = 1 << PLACE;  // length of a shift register, for all addresses

    // The number of claimed places, and the number of words in the FIFO.
    logic [COUNT-1:0] taken, next_taken, stored, next_stored;
    always_comb begin
        next_taken = taken;
        if (claim && !read) next_taken = taken + COUNT'(1);
        if (read && !claim) next_taken = taken - COUNT'(1);
        next_stored = stored;
        if (write && !read) next_stored = stored + COUNT'(1);
        if (read && !write) next_stored = stored - COUNT'(1);
    end
    always_ff @(posedge clk) begin
        if (rst) begin
            taken  <= '0;
            stored <= '0;
            room   <= 1'b0;
            valid  <= 1'b0;
        end else begin
            taken  <= next_taken;
            stored <= next_stored;
            room   <= next_taken != COUNT'(PLACES);
            valid  <= next_stored != '0;
        end
    end

    // Literals of different lengths are compared as if the shorter one began with zeros.
    /* verilator lint_off WIDTH */
    localparam bit SRL = STYLE == "srl", LUTRAM = STYLE == "lutram", BRAM = STYLE == "bram", URAM = STYLE == "uram";
    /* verilator lint_on WIDTH */

    if (SRL) begin : g_shift
        // The newest word is at place 0, and the oldest at place stored - 1. A register holds stored - 1.
        logic [PLACE-1:0] oldest;
        always_ff @(posedge clk) begin
            if (rst || next_stored == '0) oldest <= '0;
            else oldest <= PLACE'(next_stored - COUNT'(1));
        end
        for (genvar i = 0; i < WIDTH; i++) begin : g_bit
            (* shreg_extract = "yes" *) logic [LINE-1:0] line;
            always_ff @(posedge clk) if (write) line <= {line[LINE-2:0], din[i]};
            assign word[i] = line[oldest];
        end
    end else begin : g_ring
        logic [PLACE-1:0] head, tail, next_head, next_tail;
        assign next_head = head == PLACE'(PLACES - 1) ? '0 : head + PLACE'(1);
        assign next_tail = tail == PLACE'(PLACES - 1) ? '0 : tail + PLACE'(1);
        logic [PLACE-1:0] from;
        assign from = read ? next_head : head;
        always_ff @(posedge clk) begin
            if (rst) begin
                head <= '0;
                tail <= '0;
            end else begin
                head <= from;
                if (write) tail <= next_tail;
            end
        end

        if (LUTRAM) begin : g_lutram
            // The memory is read in the clock of the address.
            (* ram_style = "distributed" *) logic [WIDTH-1:0] words[0:PLACES-1];
            always_ff @(posedge clk) if (write) words[tail] <= din;
            assign word = words[head];
        end else begin : g_memory
            // The memory is read a clock ahead, at the next address. A word that is written there in the same clock
            // bypasses the memory.
            logic [WIDTH-1:0] held, passed;
            logic             around;
            always_ff @(posedge clk) begin
                passed <= din;
                around <= write && tail == from;
            end
            assign word = around ? passed : held;
            if (URAM) begin : g_uram
                (* ram_style = "ultra" *) logic [WIDTH-1:0] words[0:PLACES-1];
                always_ff @(posedge clk) begin
                    if (write) words[tail] <= din;
                    held <= words[from];
                end
            end else if (BRAM) begin : g_bram
                (* ram_style = "block" *) logic [WIDTH-1:0] words[0:PLACES-1];
                always_ff @(posedge clk) begin
                    if (write) words[tail] <= din;
                    held <= words[from];
                end
            end else begin : g_unknown
                $error("hlsgen_stream: STYLE is none of srl, lutram, bram, uram");
            end
        end
    end
endmodule
