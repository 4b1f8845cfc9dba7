// hlsgen_read moves `frames` frames from memory to a stream. In memory, the frames follow each other without gaps,
// beginning at `address`. A frame has FRAME_BYTES bytes. With a table of lengths, it has as many steps of FRAME_BYTES
// bytes as its entry says. TLAST comes with the last word of a frame. FRAME_BYTES is a multiple of STREAM_BYTES.
// hlsgen_mover_control has the registers.
//
// The memory is read in bursts of up to MAX_BEATS beats (a power of two; at most 256 with AXI4, 16 with AXI3). A burst
// ends at a multiple of its length, so that none crosses 4 KB. Up to OUTSTANDING bursts are requested at a time, and
// only if there is room for their beats, so RREADY is always high. Bytes of the last beat after the last frame are
// read and dropped. Of a table, the whole line of 64 bytes is read if one of its entries is needed. A length of 0 is
// an error: its frame is left out, and the other frames are moved.
//
// With a PERIOD, the data begin again at `address` after PERIOD bytes, again and again. PERIOD is a whole number of
// frames and of beats.
module hlsgen_read #(
    parameter int        DATA_BITS    = 64,  // 32, 64, 128, 256 or 512
    parameter int        STREAM_BYTES = 4,
    parameter int        MAX_BEATS    = 16,
    parameter int        OUTSTANDING  = 4,
    parameter int        FRAME_BYTES  = 4,
    parameter int        PERIOD       = 0,
    parameter bit [63:0] HASH         = 64'd0
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
    output logic [63:0]               m_axi_gmem_araddr,
    output logic [7:0]                m_axi_gmem_arlen,
    output logic [2:0]                m_axi_gmem_arsize,
    output logic [1:0]                m_axi_gmem_arburst,
    output logic [3:0]                m_axi_gmem_arcache,
    output logic [2:0]                m_axi_gmem_arprot,
    output logic                      m_axi_gmem_arvalid,
    input  logic                      m_axi_gmem_arready,
    input  logic [DATA_BITS-1:0]      m_axi_gmem_rdata,
    input  logic [1:0]                m_axi_gmem_rresp,
    input  logic                      m_axi_gmem_rlast,
    input  logic                      m_axi_gmem_rvalid,
    output logic                      m_axi_gmem_rready,
    output logic [8*STREAM_BYTES-1:0] m_axis_tdata,
    output logic                      m_axis_tlast,
    output logic                      m_axis_tvalid,
    input  logic                      m_axis_tready,
    /* verilator lint_off SYMRSVDWORD */
    output logic                      interrupt
    /* verilator lint_on SYMRSVDWORD */
);
    localparam int BYTES   = DATA_BITS / 8;
    localparam int BURST   = MAX_BEATS * BYTES > 4096 ? 4096 / BYTES : MAX_BEATS;  // beats
    localparam int BEAT    = $clog2(BYTES);        // lowest bit of the number of a beat in an address
    localparam int TOP     = BEAT + $clog2(BURST); // lowest bit of the number of a burst
    localparam int DEPTH   = OUTSTANDING * BURST;  // beats requested or stored
    localparam int ROOM    = $clog2(DEPTH + 1);
    localparam int ASKED   = $clog2(OUTSTANDING + 1);
    localparam int OLDEST  = OUTSTANDING > 1 ? $clog2(OUTSTANDING) : 1;
    localparam int BYTES_OF_BURST = BURST * BYTES;
    localparam int OWED    = $clog2(2 * BYTES_OF_BURST + FRAME_BYTES + 1) + 1;

    if (DATA_BITS < 32 || DATA_BITS > 512 || (DATA_BITS & (DATA_BITS - 1)) != 0 || MAX_BEATS < 2 || MAX_BEATS > 256 ||
        (MAX_BEATS & (MAX_BEATS - 1)) != 0 || FRAME_BYTES % STREAM_BYTES != 0 || PERIOD % FRAME_BYTES != 0 ||
        PERIOD % BYTES != 0) begin : g_unknown
        $error("hlsgen_read: DATA_BITS, MAX_BEATS, FRAME_BYTES or PERIOD is not what it can be");
    end

    logic        go, done;
    logic [63:0] address, table_address;
    logic [31:0] frames;
    logic [2:0]  wrong, error;
    assign s_axi_control_bresp = 2'd0;
    assign s_axi_control_rresp = 2'd0;
    hlsgen_mover_control #(.BYTES(BYTES), .HASH(HASH)) control (.clk(ap_clk), .rst_n(ap_rst_n),
        .awaddr(s_axi_control_awaddr), .awvalid(s_axi_control_awvalid), .awready(s_axi_control_awready),
        .wdata(s_axi_control_wdata), .wstrb(s_axi_control_wstrb), .wvalid(s_axi_control_wvalid),
        .wready(s_axi_control_wready), .bvalid(s_axi_control_bvalid), .bready(s_axi_control_bready),
        .araddr(s_axi_control_araddr), .arvalid(s_axi_control_arvalid), .arready(s_axi_control_arready),
        .rdata(s_axi_control_rdata), .rvalid(s_axi_control_rvalid), .rready(s_axi_control_rready),
        .interrupt(interrupt), .go(go), .address(address), .table_address(table_address), .frames(frames), .done(done),
        .wrong(wrong), .error(error));

    // owed counts the bytes still to be requested for the steps so far. If it is negative, more bytes were requested
    // than the steps have. Lengths are also passed to the stream's side. If there is no room for further lengths, the
    // owed bytes are requested without waiting for a full burst.
    logic                   running, fixed, length_valid, take, step, fits, lengths_room, all_owed, hurry;
    logic                   table_asks, table_asked, table_beat, drop;
    logic [31:0]            frames_left, steps_left, length;
    logic [63:0]            line;
    logic [7:0]             line_len;
    logic [ASKED-1:0]       asked;  // bursts on their way
    logic signed [OWED-1:0] owed, asked_bytes;
    assign fits = owed < $signed(OWED'(2 * BYTES_OF_BURST));
    assign take = frames_left != 32'd0 && steps_left == 32'd0 && length_valid && (fixed || lengths_room) && fits;
    assign step = take ? length != 32'd0 : steps_left != 32'd0 && fits;
    assign hurry = !fixed && !lengths_room && asked == '0;
    assign all_owed = frames_left == 32'd0 && steps_left == 32'd0;
    hlsgen_mover_table #(.BYTES(BYTES), .BURST(BURST)) entries (.clk(ap_clk), .rst_n(ap_rst_n), .go(go),
        .table_address(table_address), .frames(frames), .fixed(fixed), .asks(table_asks), .line(line), .arlen(line_len),
        .asked(table_asked), .beat(m_axi_gmem_rdata), .write(table_beat), .length(length), .valid(length_valid),
        .read(take));
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            running     <= 1'b0;
            frames_left <= 32'd0;
            steps_left  <= 32'd0;
            owed        <= '0;
        end else if (go) begin
            running     <= 1'b1;
            frames_left <= frames;
            owed        <= '0;
        end else begin
            if (done) running <= 1'b0;
            if (take) frames_left <= frames_left - 32'd1;
            if (step) steps_left <= (take ? length : steps_left) - 32'd1;
            owed <= owed + $signed(step ? OWED'(FRAME_BYTES) : '0) - asked_bytes;
        end
    end

    // Bursts have the full length, except the first one, which ends at a multiple of that length, and the last one.
    logic [63-BEAT:0]     at, next; // addresses in beats
    logic [ROOM-1:0]      free;
    logic [TOP-BEAT:0]    aligned;  // beats of a full burst, up to the next multiple of the burst length
    logic [TOP:0]         to_end;   // bytes up to the end of the burst
    logic [TOP-BEAT:0]    beats;
    logic [OUTSTANDING-1:0] tables; // by burst: it is a line of the table; the newest is the lowest bit
    logic                 may, whole, ask, last_beat, of_table, data_beat;
    assign may = asked != ASKED'(OUTSTANDING) && (!m_axi_gmem_arvalid || m_axi_gmem_arready);
    assign table_asked = table_asks && may;
    assign aligned = (TOP-BEAT+1)'(BURST) - {1'b0, at[TOP-BEAT-1:0]};
    if (PERIOD == 0) begin : g_once
        assign to_end = {aligned, {BEAT{1'b0}}};
        assign next = at + (64-BEAT)'(beats);
    end else begin : g_again
        localparam int BEATS = PERIOD / BYTES;
        localparam int LEFT  = $clog2(BEATS + 1) > TOP - BEAT + 1 ? $clog2(BEATS + 1) : TOP - BEAT + 1;
        logic [63-BEAT:0] first;
        logic [LEFT-1:0]  left;  // beats until data begin again
        logic             again;
        assign to_end = {left < LEFT'(aligned) ? (TOP-BEAT+1)'(left) : aligned, {BEAT{1'b0}}};
        assign again = left == LEFT'(beats);
        assign next = again ? first : at + (64-BEAT)'(beats);
        always_ff @(posedge ap_clk) begin
            if (go) first <= address[63:BEAT];
            if (go || ask && again) left <= LEFT'(BEATS);
            else if (ask) left <= left - LEFT'(beats);
        end
    end
    assign whole = owed >= $signed(OWED'(to_end));
    assign ask = (whole || (all_owed || hurry) && owed > 0) && free >= ROOM'(BURST) && may && !table_asks;
    assign beats = whole ? to_end[TOP:BEAT] : (TOP-BEAT+1)'((owed + $signed(OWED'(BYTES - 1))) >>> BEAT);
    assign asked_bytes = ask ? $signed(OWED'({beats, {BEAT{1'b0}}})) : '0;
    assign last_beat = m_axi_gmem_rvalid && m_axi_gmem_rlast;
    assign of_table = tables[OLDEST'(asked-ASKED'(1))];
    assign table_beat = m_axi_gmem_rvalid && of_table;
    assign data_beat = m_axi_gmem_rvalid && !of_table;
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) begin
            m_axi_gmem_arvalid <= 1'b0;
            free               <= ROOM'(DEPTH);
            asked              <= '0;
        end else begin
            if (!m_axi_gmem_arvalid || m_axi_gmem_arready) m_axi_gmem_arvalid <= ask || table_asked;
            free  <= free - (ask ? ROOM'(beats) : '0) + ROOM'(drop);
            asked <= asked + ASKED'(ask || table_asked) - ASKED'(last_beat);
        end
        if (go) at <= address[63:BEAT];
        else if (ask) at <= next;
        if (may) begin
            m_axi_gmem_araddr <= table_asked ? line : {at, {BEAT{1'b0}}};
            m_axi_gmem_arlen  <= table_asked ? line_len : 8'(beats) - 8'd1;
        end
        if (ask || table_asked) tables <= OUTSTANDING'({tables, table_asked});
    end
    assign m_axi_gmem_arsize = 3'(BEAT);
    assign m_axi_gmem_arburst = 2'b01;
    assign m_axi_gmem_arcache = 4'b0011;
    assign m_axi_gmem_arprot = 3'b000;
    assign m_axi_gmem_rready = 1'b1;

    // Beats are converted to words of the stream.
    logic [DATA_BITS-1:0]    beat;
    logic [STREAM_BYTES-1:0] keep;
    logic                    beat_valid, beat_ready, word_valid, word_end, beats_room, frame_valid, moves, step_end;
    assign drop = beat_valid && beat_ready;
    hlsgen_stream #(.WIDTH(DATA_BITS), .PLACES(DEPTH), .STYLE(DEPTH > 64 ? "bram" : "lutram")) data (.clk(ap_clk),
        .rst(!ap_rst_n), .room(beats_room), .claim(data_beat), .din(m_axi_gmem_rdata), .write(data_beat), .word(beat),
        .valid(beat_valid), .read(drop));
    hlsgen_mover_gearbox #(.IN(BYTES), .OUT(STREAM_BYTES)) gearbox (.clk(ap_clk), .rst(!ap_rst_n || go), .in_data(beat),
        .in_valid(beat_valid), .in_end(1'b0), .in_ready(beat_ready), .out_data(m_axis_tdata), .out_keep(keep),
        .out_valid(word_valid), .out_end(word_end), .out_ready(m_axis_tready && frame_valid));

    // Words are divided into frames. If all frames have one length, words are only counted.
    logic        steps_valid;
    logic [31:0] steps, at_step, frames_open;
    assign frame_valid = fixed ? frames_open != 32'd0 : steps_valid;
    assign m_axis_tvalid = word_valid && frame_valid;
    assign moves = m_axis_tvalid && m_axis_tready;
    assign m_axis_tlast = step_end && (fixed || at_step == steps);
    hlsgen_stream #(.WIDTH(32), .PLACES(32), .STYLE("lutram")) lengths (.clk(ap_clk), .rst(!ap_rst_n),
        .room(lengths_room), .claim(take && step && !fixed), .din(length), .write(take && step && !fixed), .word(steps),
        .valid(steps_valid), .read(moves && m_axis_tlast && !fixed));
    hlsgen_last #(.WORDS(FRAME_BYTES / STREAM_BYTES)) words (.clk(ap_clk), .rst(!ap_rst_n), .moves(moves),
        .last(step_end));
    always_ff @(posedge ap_clk) begin
        if (!ap_rst_n) at_step <= 32'd1;
        else if (moves && step_end) at_step <= m_axis_tlast ? 32'd1 : at_step + 32'd1;
        if (!ap_rst_n) frames_open <= 32'd0;
        else if (go) frames_open <= frames;
        else if (moves && m_axis_tlast) frames_open <= frames_open - 32'd1;
    end

    assign done = running && all_owed && !frame_valid && asked == '0;
    assign wrong = {take && !step, 1'b0, m_axi_gmem_rvalid && m_axi_gmem_rresp[1]};

    logic unused;
    assign unused = &{1'b0, address[BEAT-1:0], keep, word_end, beats_room, m_axi_gmem_rresp[0], error};
endmodule
