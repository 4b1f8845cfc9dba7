// hlsgen_mover_table gives the number of steps of the next frame. It is 1 if there is no table (its address is 0),
// else an entry of the table, which has a uint32 per frame. The module reads lines of 64 bytes, or bursts if these are
// shorter, and holds up to two lines. It requests a line as soon as there is room for it, but only if an entry of the
// line is needed.
module hlsgen_mover_table #(
    parameter int BYTES = 8,  // bytes of a beat
    parameter int BURST = 16  // most beats of a burst
) (
    input  logic               clk,
    input  logic               rst_n,
    input  logic               go,
    input  logic [63:0]        table_address,
    input  logic [31:0]        frames,
    output logic               fixed,   // there is no table
    output logic               asks,    // requests a line, with its address in line
    output logic [63:0]        line,
    output logic [7:0]         arlen,   // beats of the request, minus 1
    input  logic               asked,   // the request is accepted
    input  logic [8*BYTES-1:0] beat,
    input  logic               write,
    output logic [31:0]        length,
    output logic               valid,
    input  logic               read
);
    localparam int LINE    = BURST * BYTES < 64 ? BURST * BYTES : 64;
    localparam int ENTRIES = LINE / 4;
    localparam int OF_BEAT = BYTES / 4;
    localparam int AT      = $clog2(ENTRIES);

    logic               there, takes, room;
    logic [1:0]         lines;   // lines requested and not yet used up
    logic [31:0]        unasked; // entries not yet requested
    logic [AT-1:0]      at;      // position in the line
    logic [8*BYTES-1:0] word;
    assign asks = unasked != 32'd0 && !lines[1];
    assign arlen = 8'(LINE / BYTES - 1);
    assign valid = fixed || there;
    assign takes = read && !fixed;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            fixed   <= 1'b1;
            lines   <= 2'd0;
            unasked <= 32'd0;
        end else if (go) begin
            fixed   <= table_address == 64'd0;
            lines   <= 2'd0;
            unasked <= table_address == 64'd0 ? 32'd0 : frames;
        end else begin
            lines <= lines + 2'(asked) - 2'(takes && &at);
            if (asked) unasked <= unasked[31:AT] == '0 ? 32'd0 : unasked - 32'(ENTRIES);
        end
        if (go) begin
            line <= table_address;
            at   <= '0;
        end else begin
            if (asked) line <= line + 64'(LINE);
            if (takes) at <= at + AT'(1);
        end
    end

    logic drop;
    hlsgen_stream #(.WIDTH(8 * BYTES), .PLACES(2 * LINE / BYTES), .STYLE("lutram")) beats (.clk(clk),
        .rst(!rst_n || go), .room(room), .claim(write), .din(beat), .write(write), .word(word), .valid(there),
        .read(drop));
    if (OF_BEAT == 1) begin : g_whole
        assign length = fixed ? 32'd1 : word;
        assign drop = takes;
    end else begin : g_part
        logic [$clog2(OF_BEAT)-1:0] part;
        assign part = at[$clog2(OF_BEAT)-1:0];
        assign length = fixed ? 32'd1 : word[32*part +: 32];
        assign drop = takes && &part;
    end
    logic unused;
    assign unused = room;
endmodule
