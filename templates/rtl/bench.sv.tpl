// Runs the tops with the recorded frames. What passes on each stream is compared with the recordings; in which clocks words
// move is told as events. The last line says PASS or FAIL.
//     +data=FOLDER                                  the folder of the recordings
//     +in_stall=PERCENT +in_seed=N +in_every=N      the host gives words so, and with out it takes them
module hlsgen_bench (
    input logic clk
);
    localparam int RESET = {{ v.Reset|req }};
    localparam longint PATIENCE = {{ v.Patience|req }};
    localparam int CHECKS = {{ v.Checks|req }}, EVENTS = {{ v.Events|req }};

    // A clock has the number that it has in hlsgen's simulator: in clock 0 the first word can be visible.
    int   clocks = 0, now;
    logic rst_n, run;
    assign rst_n = clocks > 4;
    assign now   = clocks - RESET - 1;
    assign run   = clocks >= RESET;
    always_ff @(posedge clk) clocks <= clocks + 1;

    logic [CHECKS-1:0] passes, done, wrong;
    logic [EVENTS-1:0] told;
    logic              tell = 1'b0;
{% for d in v.Tops %}
{%- for a in d.Axes %}
    logic [{{ a.High|req }}:0] {{ d.Name|req }}_{{ a.Name|req }}_TDATA;
    logic {{ d.Name|req }}_{{ a.Name|req }}_TVALID, {{ d.Name|req }}_{{ a.Name|req }}_TREADY, {{ d.Name|req }}_{{ a.Name|req }}_TLAST;
{%- endfor %}
    {{ d.Top|req }} {{ d.Name|req }} (
        .ap_clk(clk), .ap_rst_n(rst_n){% for p in d.Pins %},
        {{ p|req }}{% endfor %}
    );
{%- for s in d.Feeds %}
    {{ s|req }}
{%- endfor %}
{%- for s in d.Watches %}
    {{ s|req }}
{%- endfor %}
{% endfor %}
    longint quiet = 0;
    logic   ended = 1'b0;
    always_ff @(posedge clk) begin
        quiet <= !run || passes != '0 ? 0 : quiet + 1;
        if (!ended && run) begin
            if (wrong != '0) begin
                ended <= 1'b1;
                $display("FAIL after %0d clocks", now);
            end else if (done == '1 && (told == '1 || quiet > 2000)) begin
                ended <= 1'b1;
                tell  <= 1'b1;
                $display("PASS %0d streams, %0d clocks", CHECKS, now);
            end else if (quiet > PATIENCE) begin
                ended <= 1'b1;
                tell  <= 1'b1;
                $display("FAIL words are missing after %0d clocks: %b of %0d streams have all", now, done, CHECKS);
            end
        end
        if (ended) $finish;
    end
endmodule
