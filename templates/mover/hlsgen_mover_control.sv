// hlsgen_mover_control holds the registers of a mover, with an AXI4-Lite port. Their layout is that of a Vitis HLS
// kernel with ap_ctrl_hs, so that XRT can start a mover like a kernel:
//
//   0x00  control: bit 0 start (stays until the mover is done), 1 done and 3 ready (both cleared by reading), 2 idle
//   0x04  bit 0: the interrupt is enabled
//   0x08  which events interrupt: bit 0 done, bit 1 ready
//   0x0c  events that have happened; writing 1 toggles a bit
//   0x10  address of the data, low half; 0x14 high half
//   0x1c  frames
//   0x24  address of the table of lengths, low half; 0x28 high half; 0 if there is no table
//   0x30  error: bit 0 error response of the memory, 1 TLAST at a wrong place, 2 refused
//   0x34  HASH, low half; 0x38 high half
//
// The address of data must be a multiple of BYTES, the width of the bus, and that of a table a multiple of 64. With
// another address, the mover refuses the start and moves nothing. Values written while the mover runs apply to its
// next start. A start with 0 frames moves nothing. With REPORTS it leaves the error of the transfer before, and go
// begins it: the mover reports.
module hlsgen_mover_control #(
    parameter int        BYTES   = 8,
    parameter bit [63:0] HASH    = 64'd0,
    parameter bit        REPORTS = 1'b0
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic [7:0]  awaddr,
    input  logic        awvalid,
    output logic        awready,
    input  logic [31:0] wdata,
    input  logic [3:0]  wstrb,
    input  logic        wvalid,
    output logic        wready,
    output logic        bvalid,
    input  logic        bready,
    input  logic [7:0]  araddr,
    input  logic        arvalid,
    output logic        arready,
    output logic [31:0] rdata,
    output logic        rvalid,
    input  logic        rready,
    output logic        interrupt,
    output logic        go,       // the mover begins, with the registers below
    output logic [63:0] address,
    output logic [63:0] table_address,
    output logic [31:0] frames,
    input  logic        done,
    input  logic [2:0]  wrong,    // errors in this clock
    output logic [2:0]  error
);
    localparam bit [5:0] CONTROL = 6'h00, GLOBAL = 6'h01, ENABLE = 6'h02, STATUS = 6'h03, DATA = 6'h04, FRAMES = 6'h07,
        LENGTHS = 6'h09, ERROR = 6'h0c, HASHES = 6'h0d;

    localparam bit [63:0] BELOW = 64'(BYTES) - 64'd1;

    logic       busy, asked, done_seen, ready_seen, enabled;
    logic [1:0] events, status;

    logic        write, read, start, refused, finishes;
    logic [5:0]  to, from;
    logic [31:0] mask, bits;
    assign write = awvalid && wvalid && (!bvalid || bready);
    assign awready = write;
    assign wready = write;
    assign to = awaddr[7:2];
    assign mask = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};
    assign bits = wdata & mask;
    assign arready = !rvalid || rready;
    assign read = arvalid && arready;
    assign from = araddr[7:2];

    assign start = write && to == CONTROL && bits[0] && !busy;
    assign refused = (address & BELOW) != 64'd0 || table_address[5:0] != 6'd0;
    assign go = asked && !refused && (REPORTS || frames != 32'd0);
    assign finishes = done || asked && !go;
    assign interrupt = enabled && status != 2'd0;

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            bvalid <= 1'b0;
            rvalid <= 1'b0;
        end else begin
            if (!bvalid || bready) bvalid <= write;
            if (!rvalid || rready) rvalid <= arvalid;
        end
    end

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            busy       <= 1'b0;
            asked      <= 1'b0;
            done_seen  <= 1'b0;
            ready_seen <= 1'b0;
            status     <= 2'd0;
            error      <= 3'd0;
        end else begin
            asked <= start;
            if (start) busy <= 1'b1;
            else if (finishes) busy <= 1'b0;
            done_seen  <= finishes || done_seen && !(read && from == CONTROL);
            ready_seen <= finishes || ready_seen && !(read && from == CONTROL);
            status     <= (status ^ (write && to == STATUS ? bits[1:0] : 2'd0)) | (finishes ? events : 2'd0);
            error      <= start && !(REPORTS && frames == 32'd0) ? 3'd0 : error | wrong | {asked && refused, 2'd0};
        end
    end

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            enabled       <= 1'b0;
            events        <= 2'd0;
            address       <= 64'd0;
            table_address <= 64'd0;
            frames        <= 32'd0;
        end else if (write) begin
            case (to)
                GLOBAL: if (mask[0]) enabled <= bits[0];
                ENABLE: if (mask[0]) events <= bits[1:0];
                DATA: address[31:0] <= address[31:0] & ~mask | bits;
                DATA + 6'd1: address[63:32] <= address[63:32] & ~mask | bits;
                FRAMES: frames <= frames & ~mask | bits;
                LENGTHS: table_address[31:0] <= table_address[31:0] & ~mask | bits;
                LENGTHS + 6'd1: table_address[63:32] <= table_address[63:32] & ~mask | bits;
                default: ;
            endcase
        end
    end

    always_ff @(posedge clk) begin
        if (read) begin
            case (from)
                CONTROL: rdata <= {28'd0, ready_seen, !busy, done_seen, busy};
                GLOBAL: rdata <= {31'd0, enabled};
                ENABLE: rdata <= {30'd0, events};
                STATUS: rdata <= {30'd0, status};
                DATA: rdata <= address[31:0];
                DATA + 6'd1: rdata <= address[63:32];
                FRAMES: rdata <= frames;
                LENGTHS: rdata <= table_address[31:0];
                LENGTHS + 6'd1: rdata <= table_address[63:32];
                ERROR: rdata <= {29'd0, error};
                HASHES: rdata <= HASH[31:0];
                HASHES + 6'd1: rdata <= HASH[63:32];
                default: rdata <= 32'd0;
            endcase
        end
    end

    logic unused;  // the low bits of an address select no register
    assign unused = &{1'b0, awaddr[1:0], araddr[1:0]};
endmodule
