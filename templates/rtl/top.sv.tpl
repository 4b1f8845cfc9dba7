// {{ v.Top|req }}: a circuit per layer, and a FIFO per stream between them. It has the ports of the IP that Vitis HLS makes of
// the same network.
module {{ v.Top|req }} (
{%- for p in v.Ports %}
    {{ p.Attribute|req }}
    {{ p.Decl|req }}
{%- endfor %}
);
    // FIFOs are empty from the clock after rst has risen on: the borders are quiet in that one.
    logic rst, hold;
    hlsgen_reset #(.CLOCKS({{ v.Reset|req }})) reset (.clk(ap_clk), .rst_n(ap_rst_n), .rst(rst), .hold(hold));
{% for f in v.Streams %}
    logic [{{ f.High|req }}:0] {{ f.Name|req }}_din, {{ f.Name|req }}_word;
    logic {{ f.Name|req }}_room, {{ f.Name|req }}_claim, {{ f.Name|req }}_write, {{ f.Name|req }}_valid, {{ f.Name|req }}_read;
    hlsgen_stream #(.WIDTH({{ f.Width|req }}), .PLACES({{ f.Places|req }}), .STYLE("{{ f.Style|req }}")) {{ f.Name|req }} (
        .clk(ap_clk), .rst(rst),
        .room({{ f.Name|req }}_room), .claim({{ f.Name|req }}_claim), .din({{ f.Name|req }}_din), .write({{ f.Name|req }}_write),
        .word({{ f.Name|req }}_word), .valid({{ f.Name|req }}_valid), .read({{ f.Name|req }}_read)
    );
{% endfor %}
{%- for a in v.In %}
{%- if a.Longest %}
    logic {{ a.Axis|req }}_tell, {{ a.Axis|req }}_last;
    hlsgen_sequence #(.WIDTH({{ a.Width|req }}), .WORDS({{ a.Words|req }}), .LONGEST({{ a.Longest|req }})) in_{{ a.Axis|req }} (
        .clk(ap_clk), .rst(rst),
        .tdata({{ a.Word|req }}), .tvalid({{ a.Axis|req }}_TVALID), .tlast({{ a.Axis|req }}_TLAST), .tready({{ a.Axis|req }}_TREADY),
        .room(!rst & {{ a.Stream|req }}_room{% for e in a.Ends %} & {{ e|req }}_room{% endfor %}),
        .din({{ a.Stream|req }}_din), .write({{ a.Stream|req }}_write), .tell({{ a.Axis|req }}_tell), .last({{ a.Axis|req }}_last)
    );
{%- for e in a.Ends %}
    assign {{ e|req }}_din = {{ a.Axis|req }}_last;
    assign {{ e|req }}_write = {{ a.Axis|req }}_tell;
    assign {{ e|req }}_claim = {{ a.Axis|req }}_tell;
{%- endfor %}
{%- else %}
    assign {{ a.Axis|req }}_TREADY = {{ a.Stream|req }}_room & !rst;
    assign {{ a.Stream|req }}_din = {{ a.Word|req }};
    assign {{ a.Stream|req }}_write = {{ a.Axis|req }}_TVALID & {{ a.Axis|req }}_TREADY;
{%- endif %}
    assign {{ a.Stream|req }}_claim = {{ a.Stream|req }}_write;
{%- if a.Unused %}
    logic {{ a.Axis|req }}_unused;
    assign {{ a.Axis|req }}_unused = &{1'b0, {{ a.Unused|req }}};
{%- endif %}
{% endfor %}
{%- if v.Loaded %}
    logic load_begin, load_write;
    logic [31:0] load_word;
    assign load_begin = 1'b0;
    assign load_write = 1'b0;
    assign load_word = 32'd0;
{%- for l in v.Loads %}
    logic load_{{ l|req }}_begin, load_{{ l|req }}_write;
    logic [31:0] load_{{ l|req }}_word;
{%- endfor %}
    logic load_unused;
    assign load_unused = &{1'b0, {{ v.Loaded|req }}_begin, {{ v.Loaded|req }}_write, {{ v.Loaded|req }}_word};
{% endif %}
{%- for m in v.Layers %}
    {{ m.Module|req }} layer_{{ m.Name|req }} (
        .clk(ap_clk), .rst(hold){% for c in m.Connections %},
        {{ c|req }}{% endfor %}
    );
{% endfor %}
{%- for a in v.Out %}
    assign {{ a.Axis|req }}_TDATA = {{ a.Word|req }};
    assign {{ a.Axis|req }}_TKEEP = '1;
    assign {{ a.Axis|req }}_TSTRB = '1;
    assign {{ a.Stream|req }}_read = {{ a.Axis|req }}_TVALID & {{ a.Axis|req }}_TREADY;
{%- for e in a.Ends %}
    logic {{ a.Axis|req }}_step;
    hlsgen_last #(.WORDS({{ a.Words|req }})) last_{{ a.Axis|req }} (
        .clk(ap_clk), .rst(rst), .moves({{ a.Stream|req }}_read), .last({{ a.Axis|req }}_step)
    );
    assign {{ a.Axis|req }}_TVALID = {{ a.Stream|req }}_valid & !rst & (!{{ a.Axis|req }}_step | {{ e|req }}_valid);
    assign {{ a.Axis|req }}_TLAST = {{ a.Axis|req }}_step & {{ e|req }}_word;
    assign {{ e|req }}_read = {{ a.Stream|req }}_read & {{ a.Axis|req }}_step;
{%- empty %}
    assign {{ a.Axis|req }}_TVALID = {{ a.Stream|req }}_valid & !rst;
    hlsgen_last #(.WORDS({{ a.Words|req }})) last_{{ a.Axis|req }} (
        .clk(ap_clk), .rst(rst), .moves({{ a.Stream|req }}_read), .last({{ a.Axis|req }}_TLAST)
    );
{%- endfor %}
{% endfor -%}
endmodule
