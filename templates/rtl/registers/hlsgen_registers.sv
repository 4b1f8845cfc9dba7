// hlsgen_registers is an AXI4-Lite slave for registers. It accepts one read or write at a time, and answers OKAY. A
// write must set a whole word; other writes change nothing. The registers are words of 32 bits with numbers. The
// output write is set for one clock, together with the number and the word. The output read is a pulse; the number
// stays, and the register's value is sampled LATENCY clocks later.
module hlsgen_registers #(
    parameter int ADDRESS = 12,  // bits of a byte address
    parameter int LATENCY = 1
) (
    input  logic               clk,
    input  logic               rst_n,
    input  logic [ADDRESS-1:0] awaddr,
    input  logic               awvalid,
    output logic               awready,
    input  logic [31:0]        wdata,
    input  logic [3:0]         wstrb,
    input  logic               wvalid,
    output logic               wready,
    output logic               bvalid,
    input  logic               bready,
    input  logic [ADDRESS-1:0] araddr,
    input  logic               arvalid,
    output logic               arready,
    output logic [31:0]        rdata,
    output logic               rvalid,
    input  logic               rready,
    // the registers' side
    output logic               write,
    output logic               read,
    output logic [ADDRESS-3:0] number,
    output logic [31:0]        din,
    input  logic [31:0]        dout
);
    localparam int WAIT = $clog2(LATENCY + 1);
    logic            idle, writes, whole, reading;
    logic [WAIT-1:0] left;
    logic            unused;
    assign unused = &{1'b0, awaddr[1:0], araddr[1:0]};
    assign idle = !(writes | read | reading | bvalid | rvalid);
    assign awready = writes;
    assign wready = writes;
    assign write = writes & whole;
    assign arready = read;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            writes  <= 1'b0;
            bvalid  <= 1'b0;
            read    <= 1'b0;
            reading <= 1'b0;
            rvalid  <= 1'b0;
        end else begin
            writes <= idle & awvalid & wvalid;
            read   <= idle & arvalid & !(awvalid & wvalid);
            if (writes) bvalid <= 1'b1;
            else if (bready) bvalid <= 1'b0;
            if (read) reading <= 1'b1;
            else if (left == '0) reading <= 1'b0;
            if (reading && left == '0) rvalid <= 1'b1;
            else if (rready) rvalid <= 1'b0;
        end
        if (idle) begin
            number <= awvalid & wvalid ? awaddr[ADDRESS-1:2] : araddr[ADDRESS-1:2];
            din    <= wdata;
            whole  <= &wstrb;
        end
        if (read) left <= WAIT'(LATENCY - 1);
        else if (left != '0) left <= left - WAIT'(1);
        if (reading && left == '0) rdata <= dout;
    end
endmodule
