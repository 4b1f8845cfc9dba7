// {{ v.Top|req }}_uart: the network behind a UART, for {{ v.Board|req }}. Frames come and results go as messages (hlsgen_uart_in).
// A break on the line, or the button, resets the network and begins afresh.
module {{ v.Top|req }}_uart #(
    parameter int CLOCK = {{ v.Clock|req }},  // Hz
    parameter int BAUD  = {{ v.Baud|req }}
) (
    input  logic clk,
    input  logic reset_n,
    input  logic rx,
    output logic tx,
    output logic led  // changes with every result
);
    localparam int DIVIDE  = (CLOCK + BAUD / 2) / BAUD;
    localparam int TIMEOUT = CLOCK / 50;  // 20 ms
    if (DIVIDE < 4) begin : g_fast
        $error("BAUD is more than a quarter of CLOCK");
    end
{%- if v.PLL %}

    // In Verilator clk is the clock, without a PLL.
    logic clock, locked;
`ifdef VERILATOR
    assign clock  = clk;
    assign locked = 1'b1;
`else
{{ v.PLL }}`endif
{%- endif %}

    // Registers are zero when the device begins; then it is reset once.
    logic [1:0] button = '0;
    logic       awake = 1'b0, rst = 1'b0, lit = 1'b0;
    logic       broken;
    always_ff @(posedge {{ v.Net|req }}) begin
        button <= {button[0], reset_n};
        awake  <= 1'b1;
        rst    <= !awake || !button[1] || broken{% if v.PLL %} || !locked{% endif %};
        if (done) lit <= !lit;
    end
    assign led = lit;

    logic [7:0] heard, said;
    logic       hears, says, quiet, done;
    hlsgen_uart_rx #(.DIVIDE(DIVIDE)) receiver (.clk({{ v.Net|req }}), .line(rx), .data(heard), .valid(hears), .broken(broken));
    hlsgen_uart_tx #(.DIVIDE(DIVIDE)) sender (.clk({{ v.Net|req }}), .data(said), .valid(says), .ready(quiet), .line(tx));

    logic [{{ v.InHigh|req }}:0] in_tdata;
    logic [{{ v.OutHigh|req }}:0] out_tdata;
    logic in_tvalid, in_tready, out_tvalid, out_tready;
    logic [{{ v.OutBytes|req }}-1:0] tkeep, tstrb;
    logic tlast, unused;
    assign unused = &{1'b0, tkeep, tstrb, tlast};
    hlsgen_uart_in #(.BYTES({{ v.InBytes|req }}), .WORDS({{ v.InWords|req }}), .TIMEOUT(TIMEOUT)) frames (
        .clk({{ v.Net|req }}), .rst(rst), .data(heard), .valid(hears),
        .tdata(in_tdata), .tvalid(in_tvalid), .tready(in_tready)
    );
    hlsgen_uart_out #(.BYTES({{ v.OutBytes|req }}), .WORDS({{ v.OutWords|req }})) results (
        .clk({{ v.Net|req }}), .rst(rst), .tdata(out_tdata), .tvalid(out_tvalid), .tready(out_tready),
        .data(said), .valid(says), .ready(quiet), .done(done)
    );
    {{ v.Top|req }} network (
        .ap_clk({{ v.Net|req }}), .ap_rst_n(!rst),
        .{{ v.In|req }}_TDATA(in_tdata), .{{ v.In|req }}_TVALID(in_tvalid), .{{ v.In|req }}_TREADY(in_tready),
        .{{ v.Out|req }}_TDATA(out_tdata), .{{ v.Out|req }}_TVALID(out_tvalid), .{{ v.Out|req }}_TREADY(out_tready),
        .{{ v.Out|req }}_TKEEP(tkeep), .{{ v.Out|req }}_TSTRB(tstrb), .{{ v.Out|req }}_TLAST(tlast)
    );
endmodule
