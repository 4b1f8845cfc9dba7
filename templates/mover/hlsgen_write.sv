// hlsgen_write moves `frames` frames from a stream to memory, where they follow each other without gaps from `address`
// on. Without a table of lengths, a frame has FRAME_BYTES bytes, and TLAST must come with its last word. With a table
// of lengths, a frame has steps of FRAME_BYTES bytes, and ends with TLAST. The address of the table only selects this
// mode; nothing is read there. A frame ends after STEPS steps at the latest (0: no limit), so that no stream writes
// past the room that the host has provided. TLAST at another place is an error, and the mover continues. FRAME_BYTES
// is a multiple of STREAM_BYTES. hlsgen_mover_control has the registers.
//
// With REPORTS, a start with 0 frames writes one beat to `address`, for programs that cannot read registers: HASH in
// the lowest 64 bits, above it the error of the transfer before, and zeros. DATA_BITS is at least 128 then.
//
// The memory is written in bursts of up to MAX_BEATS beats (a power of two; at most 256 with AXI4, 16 with AXI3). A
// burst ends at a multiple of its length, so that none crosses 4 KB. The address of a burst is sent when all its beats
// are stored, so they wait only for the memory. Up to OUTSTANDING bursts have no response yet. The strobes of the last
// beat leave out bytes after the last frame.
module hlsgen_write #(
    parameter int        DATA_BITS    = 64,  // 32, 64, 128, 256 or 512
    parameter int        STREAM_BYTES = 4,
    parameter int        MAX_BEATS    = 16,
    parameter int        OUTSTANDING  = 4,
    parameter int        FRAME_BYTES  = 4,
    parameter int        STEPS        = 0,
    parameter bit [63:0] HASH         = 64'd0,
    parameter bit        REPORTS      = 1'b0
) (
    input  logic                      ap_clk,
    input  logic                      ap_rst_n,
    input  logic [7:0]                s_axi_control_awaddr,
    input  logic                      s_axi_control_awvalid,
    output logic                      s_axi_control_awready,
    input  logic [31:0]               s_axi_control_wdata,
    input  logic [3:0]                s_axi_control_wstrb,
    input  logic                      s_axi_control_wvalid,
    output logic                      s_axi_control_wready,
    output logic [1:0]                s_axi_control_bresp,
    output logic                      s_axi_control_bvalid,
    input  logic                      s_axi_control_bready,
    input  logic [7:0]                s_axi_control_araddr,
    input  logic                      s_axi_control_arvalid,
    output logic                      s_axi_control_arready,
    output logic [31:0]               s_axi_control_rdata,
    output logic [1:0]                s_axi_control_rresp,
    output logic                      s_axi_control_rvalid,
    input  logic                      s_axi_control_rready,
    output logic [63:0]               m_axi_gmem_awaddr,
    output logic [7:0]                m_axi_gmem_awlen,
    output logic [2:0]                m_axi_gmem_awsize,
    output logic [1:0]                m_axi_gmem_awburst,
    output logic [3:0]                m_axi_gmem_awcache,
    output logic [2:0]                m_axi_gmem_awprot,
    output logic                      m_axi_gmem_awvalid,
    input  logic                      m_axi_gmem_awready,
    output logic [DATA_BITS-1:0]      m_axi_gmem_wdata,
    output logic [DATA_BITS/8-1:0]    m_axi_gmem_wstrb,
    output logic                      m_axi_gmem_wlast,
    output logic                      m_axi_gmem_wvalid,
    input  logic                      m_axi_gmem_wready,
    input  logic [1:0]                m_axi_gmem_bresp,
    input  logic                      m_axi_gmem_bvalid,
    output logic                      m_axi_gmem_bready,
    input  logic [8*STREAM_BYTES-1:0] s_axis_tdata,
    input  logic                      s_axis_tlast,
    input  logic                      s_axis_tvalid,
    output logic                      s_axis_tready,
    /* verilator lint_off SYMRSVDWORD */
    output logic                      interrupt
    /* verilator lint_on SYMRSVDWORD */
);
    localparam int BYTES  = DATA_BITS / 8;
    localparam int BURST  = MAX_BEATS * BYTES > 4096 ? 4096 / BYTES : MAX_BEATS;  // beats
    localparam int BEAT   = $clog2(BYTES);     // lowest bit of the number of a beat in an address
    localparam int IN     = $clog2(BURST);     // bits of the number of a beat in a burst
    localparam int DEPTH  = 2 * BURST;         // stored beats
    localparam int READY  = $clog2(DEPTH + 1); // bits of the number of completely stored bursts
    localparam int ASKED  = $clog2(OUTSTANDING + 1);

    if (DATA_BITS < 32 || DATA_BITS > 512 || (DATA_BITS & (DATA_BITS - 1)) != 0 || MAX_BEATS < 2 || MAX_BEATS > 256 ||
        (MAX_BEATS & (MAX_BEATS - 1)) != 0 || FRAME_BYTES % STREAM_BYTES != 0 || REPORTS && DATA_BITS < 128) begin : g_unknown
        $error("hlsgen_write: DATA_BITS, MAX_BEATS or FRAME_BYTES is not what it can be");
    end

    logic        go, done;
    logic [63:0] address, table_address;
    logic [31:0] frames;
    logic [2:0]  wrong, error;
    assign s_axi_control_bresp = 2'd0;
    assign s_axi_control_rresp = 2'd0;
    hlsgen_mover_control #(.BYTES(BYTES), .HASH(HASH), .REPORTS(REPORTS)) control (.clk(ap_clk), .rst_n(ap_rst_n),
        .awaddr(s_axi_control_awaddr), .awvalid(s_axi_control_awvalid), .awready(s_axi_control_awready),
        .wdata(s_axi_control_wdata), .wstrb(s_axi_control_wstrb), .wvalid(s_axi_control_wvalid),
        .wready(s_axi_control_wready), .bvalid(s_axi_control_bvalid), .bready(s_axi_control_bready),
        .araddr(s_axi_control_araddr), .arvalid(s_axi_control_arvalid), .arready(s_axi_control_arready),
        .rdata(s_axi_control_rdata), .rvalid(s_axi_control_rvalid), .rready(s_axi_control_rready),
        .interrupt(interrupt), .go(go), .address(address), .table_address(table_address), .frames(frames), .done(done),
        .wrong(wrong), .error(error));

    // Words are read up to the last word of the last frame.
    logic        taking, sequences, moves, word_ready, step_end, longest, frame_end, all_end;
    logic [31:0] frames_left, at_step;
    assign s_axis_tready = taking && word_ready;
    assign moves = s_axis_tvalid && s_axis_tready;
    assign longest = !sequences || STEPS != 0 && at_step == 32'(STEPS);
    assign frame_end = step_end && longest || sequences && s_axis_tlast;
    assign all_end = frame_end && frames_left == 32'd1;
    hlsgen_last #(.WORDS(FRAME_BYTES / STREAM_BYTES)) words (.clk(ap_clk), .rst(!ap_rst_n || moves && frame_end),
        .moves(moves), .last(step_end));
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) taking <= 1'b0;
        else if (go) taking <= !REPORTS || frames != 32'd0;
        else if (moves && all_end) taking <= 1'b0;
        if (go) begin
            sequences   <= table_address != 64'd0;
            frames_left <= frames;
            at_step     <= 32'd1;
        end else if (moves) begin
            if (frame_end) frames_left <= frames_left - 32'd1;
            if (frame_end) at_step <= 32'd1;
            else if (step_end) at_step <= at_step + 32'd1;
        end
    end

    // Words are converted to beats. The last beat of a burst, or of all frames, completes the burst.
    logic [DATA_BITS-1:0] moved, beat;
    logic [BYTES-1:0]     moved_keep, keep, last_keep;
    logic [IN-1:0]        push_at, pop_at, last_at;
    logic                 moved_valid, moved_end, beat_valid, beat_end, room, push, pop, closes, ended, sent_end, there;
    assign push = beat_valid && room;
    assign closes = push && (beat_end || &push_at);
    hlsgen_mover_gearbox #(.IN(STREAM_BYTES), .OUT(BYTES)) gearbox (.clk(ap_clk), .rst(!ap_rst_n),
        .in_data(s_axis_tdata), .in_valid(s_axis_tvalid && taking), .in_end(all_end), .in_ready(word_ready),
        .out_data(moved), .out_keep(moved_keep), .out_valid(moved_valid), .out_end(moved_end), .out_ready(room));

    // A report is a beat of its own. The gearbox is empty then, and its data are zero.
    if (REPORTS) begin : g_reports
        logic reports;
        always_ff @(posedge ap_clk) begin
            if (!ap_rst_n) reports <= 1'b0;
            else reports <= go ? frames == 32'd0 : reports && !push;
        end
        assign beat = moved | (reports ? DATA_BITS'({error, HASH}) : '0);
        assign keep = moved_keep | {BYTES{reports}};
        assign beat_valid = moved_valid || reports;
        assign beat_end = moved_end || reports;
    end else begin : g_none
        assign beat = moved;
        assign keep = moved_keep;
        assign beat_valid = moved_valid;
        assign beat_end = moved_end;
    end

    hlsgen_stream #(.WIDTH(DATA_BITS + 1), .PLACES(DEPTH), .STYLE(DEPTH > 64 ? "bram" : "lutram")) data (.clk(ap_clk),
        .rst(!ap_rst_n), .room(room), .claim(push), .din({beat_end, beat}), .write(push),
        .word({sent_end, m_axi_gmem_wdata}), .valid(there), .read(pop));
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) ended <= 1'b0;
        else if (go) ended <= 1'b0;
        else if (push && beat_end) ended <= 1'b1;
        if (go) push_at <= address[BEAT+:IN];
        else if (push) push_at <= push_at + IN'(1);
        if (push && beat_end) begin
            last_keep <= keep;
            last_at   <= push_at;
        end
    end

    // The addresses of complete bursts are sent.
    logic [63-BEAT:0] at;     // address in beats
    logic [READY-1:0] ready;
    logic [ASKED-1:0] asked;  // bursts without a response
    logic             may, ask, final_burst;
    logic [IN-1:0]    to_last;
    assign may = !m_axi_gmem_awvalid || m_axi_gmem_awready;
    assign ask = ready != '0 && asked != ASKED'(OUTSTANDING) && may;
    assign final_burst = ended && ready == READY'(1);
    assign to_last = (final_burst ? last_at : {IN{1'b1}}) - at[IN-1:0];
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            m_axi_gmem_awvalid <= 1'b0;
            ready              <= '0;
            asked              <= '0;
        end else begin
            if (may) m_axi_gmem_awvalid <= ask;
            ready <= ready + READY'(closes) - READY'(ask);
            asked <= asked + ASKED'(ask) - ASKED'(m_axi_gmem_bvalid);
        end
        if (go) at <= address[63:BEAT];
        else if (ask) at <= {at[63-BEAT:IN] + (64-BEAT-IN)'(1), {IN{1'b0}}};
        if (may) begin
            m_axi_gmem_awaddr <= {at, {BEAT{1'b0}}};
            m_axi_gmem_awlen  <= 8'(to_last);
        end
    end
    assign m_axi_gmem_awsize = 3'(BEAT);
    assign m_axi_gmem_awburst = 2'b01;
    assign m_axi_gmem_awcache = 4'b0011;
    assign m_axi_gmem_awprot = 3'b000;
    assign m_axi_gmem_bready = 1'b1;

    // Beats follow their addresses.
    logic [ASKED-1:0] granted;  // bursts whose address was accepted, but not yet their last beat
    assign m_axi_gmem_wvalid = there && granted != '0;
    assign m_axi_gmem_wlast = sent_end || &pop_at;
    assign m_axi_gmem_wstrb = sent_end ? last_keep : {BYTES{1'b1}};
    assign pop = m_axi_gmem_wvalid && m_axi_gmem_wready;
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) granted <= '0;
        else granted <= granted + ASKED'(m_axi_gmem_awvalid && m_axi_gmem_awready) - ASKED'(pop && m_axi_gmem_wlast);
        if (go) pop_at <= address[BEAT+:IN];
        else if (pop) pop_at <= pop_at + IN'(1);
    end

    logic running;
    assign done = running && ended && ready == '0 && asked == '0;
    assign wrong = {1'b0, moves && (s_axis_tlast ? !step_end : step_end && longest),
        m_axi_gmem_bvalid && m_axi_gmem_bresp[1]};
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) running <= 1'b0;
        else running <= go || running && !done;
    end

    logic unused;
    assign unused = &{1'b0, address[BEAT-1:0], m_axi_gmem_bresp[0], error};
endmodule
