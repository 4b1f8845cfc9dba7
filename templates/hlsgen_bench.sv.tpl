// Runs the top with the recorded frames. The words of its outputs, and of every stream inside, are compared with the
// recordings. The last line of the output says PASS or FAIL.
//     +data=FOLDER    the folder of the recordings
//     +pauses=N       1: inputs pause, 2: outputs pause, 3: both
module hlsgen_bench (
    input logic clk
);
    // The bench fails after this number of clocks without a word on any stream.
    localparam longint PATIENCE = {{ v.Patience|req }};
    localparam int FRAMES = {{ v.Frames|req }};

    logic [1:0] pauses;
    initial if ($value$plusargs("pauses=%d", pauses) == 0) pauses = 2'd0;

    int          resets = 0;  // clocks of the reset so far
    logic        rst = 1'b1, ap_rst_n;
    logic [15:0] noise = 16'd77;
    assign ap_rst_n = !rst;
    always_ff @(posedge clk) begin
        if (resets < 16) resets <= resets + 1;
        rst   <= resets < 16;
        noise <= {noise[14:0], noise[15] ^ noise[13] ^ noise[12] ^ noise[10]};
    end

    // The bench does not read signals without a recording.
    /* verilator lint_off UNUSEDSIGNAL */
{%- for a in v.Axes %}
    logic [{{ a.High|req }}:0] {{ a.Name|req }}_TDATA;
    logic {{ a.Name|req }}_TVALID, {{ a.Name|req }}_TREADY, {{ a.Name|req }}_TLAST;
{%- if a.Packet %}
    logic [{{ a.KeepHigh|req }}:0] {{ a.Name|req }}_TKEEP, {{ a.Name|req }}_TSTRB;
{%- endif %}
{%- endfor %}
    /* verilator lint_on UNUSEDSIGNAL */
    {{ v.Top|req }} dut (
        .ap_clk(clk), .ap_rst_n(ap_rst_n){% for p in v.Pins %},
        {{ p|req }}{% endfor %}
    );
{% for s in v.Sources %}
    hlsgen_source #({{ s.Parameters|req }}) source_{{ s.Name|req }} (
        .clk(clk), .rst(rst), .pauses(pauses[0]), .data({{ s.Name|req }}_TDATA),
        .last({{ s.Name|req }}_TLAST), .valid({{ s.Name|req }}_TVALID), .ready({{ s.Name|req }}_TREADY)
    );
{%- if s.Packet %}
    assign {{ s.Name|req }}_TKEEP = '1;
    assign {{ s.Name|req }}_TSTRB = '1;
{%- endif %}
{% endfor %}
{%- for s in v.Sinks %}
    always_ff @(posedge clk) {{ s|req }}_TREADY <= !rst && !(pauses[1] && noise[1:0] != 2'b00);
{%- endfor %}

    localparam int CHECKS = {{ v.Count|req }};
    logic [CHECKS-1:0] passes, done, wrong;
{% for c in v.Checks %}
    assign passes[{{ c.Index|req }}] = {{ c.Passes|req }};
    hlsgen_check #({{ c.Parameters|req }}) check_{{ c.Name|req }} (
        .clk(clk), .rst(rst), .data({{ c.Data|req }}), .last({{ c.Last|req }}),
        .passes(passes[{{ c.Index|req }}]), .done(done[{{ c.Index|req }}]), .wrong(wrong[{{ c.Index|req }}])
    );
{%- endfor %}

    // The bench ends at the first wrong or missing word, or when all words have come and no further word follows for a
    // while.
    longint clocks = 0, quiet = 0;
    logic   ended = 1'b0;
    always_ff @(posedge clk) begin
        clocks <= clocks + 1;
        quiet  <= rst || passes != '0 ? 0 : quiet + 1;
        if (!ended && !rst) begin
            if (wrong != '0) begin
                ended <= 1'b1;
                $display("FAIL after %0d clocks", clocks);
            end else if (FRAMES == 0) begin
                ended <= 1'b1;
                $display("FAIL no frames were recorded");
            end else if (done == '1 && quiet == 1000) begin
                ended <= 1'b1;
                $display("PASS %0d streams of %0d frames, %0d clocks", CHECKS, FRAMES, clocks - quiet);
            end else if (quiet > PATIENCE) begin
                ended <= 1'b1;
{%- for c in v.Checks %}
                if (!done[{{ c.Index|req }}]) $display("FAIL {{ c.Name|req }}: words are missing");
{%- endfor %}
                $display("FAIL after %0d clocks", clocks);
            end
        end
        if (ended) $finish;
    end
endmodule
