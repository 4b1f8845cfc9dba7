// hlsgen_mover_gearbox converts words of IN bytes to words of OUT bytes. One of both numbers must be a power of two.
// Bytes keep their order, the lowest first. If OUT >= IN, the module accepts a word in every clock; if IN >= OUT, it
// writes a word in every clock. The word with in_end is the last. After it, the remaining bytes are written. The last
// output word may have fewer bytes (out_keep); its other bytes are zero.
module hlsgen_mover_gearbox #(
    parameter int IN  = 8,
    parameter int OUT = 4
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [8*IN-1:0]  in_data,
    input  logic             in_valid,
    input  logic             in_end,
    output logic             in_ready,
    output logic [8*OUT-1:0] out_data,
    output logic [OUT-1:0]   out_keep,
    output logic             out_valid,
    output logic             out_end,
    input  logic             out_ready
);
    // Bytes move in units of the greatest common divisor of IN and OUT. The formula holds because one is a power of
    // two.
    localparam int UNIT   = (IN & -IN) < (OUT & -OUT) ? (IN & -IN) : (OUT & -OUT);
    localparam int TAKES  = IN / UNIT;
    localparam int GIVES  = OUT / UNIT;
    localparam int PLACES = TAKES + GIVES - 1;
    localparam int COUNT  = $clog2(PLACES + 1);
    localparam int AT     = GIVES > 1 ? $clog2(GIVES) : 1;
    localparam int BITS   = 8 * UNIT;

    // The oldest unit is the lowest. The bits above the held units are zero.
    logic [BITS*PLACES-1:0] held, kept, placed;
    logic [COUNT-1:0]       count, rest;
    logic                   ended, more, gives, puts;
    assign out_valid = ended || count >= COUNT'(GIVES);
    assign out_end = ended && !more;
    assign out_data = held[8*OUT-1:0];
    assign gives = out_valid && out_ready;
    assign rest = !gives ? count : out_end ? '0 : count - COUNT'(GIVES);
    assign in_ready = !ended && rest < COUNT'(GIVES);
    assign puts = in_valid && in_ready;
    if (TAKES == 1) begin : g_only
        assign kept = gives ? '0 : held;
        assign more = 1'b0;
    end else begin : g_some
        assign kept = gives ? held >> 8 * OUT : held;
        assign more = count > COUNT'(GIVES);
    end
    for (genvar i = 0; i < OUT; i++) begin : g_keep
        assign out_keep[i] = count > COUNT'(i / UNIT);
    end

    if (GIVES == 1) begin : g_low
        assign placed = in_data;
    end else if (TAKES == 1) begin : g_each
        for (genvar i = 0; i < GIVES; i++) begin : g_unit
            assign placed[BITS*i +: BITS] = rest == COUNT'(i) ? in_data : '0;
        end
    end else begin : g_shift
        logic [AT-1:0] at;
        assign at = rest[AT-1:0];
        assign placed = {{(BITS*(GIVES-1)){1'b0}}, in_data} << (at * BITS);
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            held  <= '0;
            count <= '0;
            ended <= 1'b0;
        end else begin
            held  <= puts ? kept | placed : kept;
            count <= puts ? rest + COUNT'(TAKES) : rest;
            ended <= puts ? in_end : ended && !(gives && out_end);
        end
    end
endmodule
