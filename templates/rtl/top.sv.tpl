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
{%- if f.Counted %}
    logic {{ f.Name|req }}_stalled, {{ f.Name|req }}_starved;
{%- endif %}
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
    // Tables are loaded by words that go from one to the next.
    logic load_begin, load_write;
    logic [31:0] load_word;
{%- for l in v.Loads %}
    logic load_{{ l|req }}_begin, load_{{ l|req }}_write;
    logic [31:0] load_{{ l|req }}_word;
{%- endfor %}
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
{%- if v.Registers %}
    // Registers: words of 32 bits, by number.
    logic register_write, register_read;
    logic [{{ v.Registers.High|req }}:0] register_number;
    logic [31:0] register_din, register_dout;
    hlsgen_registers #(.ADDRESS({{ v.Registers.Address|req }}), .LATENCY({{ v.Registers.Latency|req }})) registers (
        .clk(ap_clk), .rst_n(ap_rst_n),
        .awaddr({{ v.Registers.Port|req }}_AWADDR), .awvalid({{ v.Registers.Port|req }}_AWVALID), .awready({{ v.Registers.Port|req }}_AWREADY),
        .wdata({{ v.Registers.Port|req }}_WDATA), .wstrb({{ v.Registers.Port|req }}_WSTRB), .wvalid({{ v.Registers.Port|req }}_WVALID),
        .wready({{ v.Registers.Port|req }}_WREADY), .bvalid({{ v.Registers.Port|req }}_BVALID), .bready({{ v.Registers.Port|req }}_BREADY),
        .araddr({{ v.Registers.Port|req }}_ARADDR), .arvalid({{ v.Registers.Port|req }}_ARVALID), .arready({{ v.Registers.Port|req }}_ARREADY),
        .rdata({{ v.Registers.Port|req }}_RDATA), .rvalid({{ v.Registers.Port|req }}_RVALID), .rready({{ v.Registers.Port|req }}_RREADY),
        .write(register_write), .read(register_read), .number(register_number), .din(register_din), .dout(register_dout)
    );
    assign {{ v.Registers.Port|req }}_BRESP = 2'd0;
    assign {{ v.Registers.Port|req }}_RRESP = 2'd0;
    logic registers_unused;
    assign registers_unused = &{1'b0, register_read, register_din};
{%- for w in v.Registers.Windows %}
    logic {{ w.Name|req }}_here;
    logic [31:0] {{ w.Name|req }}_dout;
    assign {{ w.Name|req }}_here = {% if w.Here %}{{ w.Here|req }}{% else %}1'b1{% endif %};
{%- endfor %}
    assign register_dout = {% for w in v.Registers.Windows %}{% if not forloop.First %} | {% endif %}({{ w.Name|req }}_here ? {{ w.Name|req }}_dout : 32'd0){% endfor %};
{%- if v.Loaded %}

    // What none of the tables takes is counted.
    logic [31:0] load_passed;

{%- if v.Registers.Loader %}
    // They come by registers or in a packet, which waits a clock for what begins.
    logic loading, load_moves;
    assign load_moves = {{ v.Registers.Loader|req }}_TVALID & {{ v.Registers.Loader|req }}_TREADY;
    assign {{ v.Registers.Loader|req }}_TREADY = loading & !rst;
    always_ff @(posedge ap_clk) begin
        if (rst) loading <= 1'b0;
        else if (loading) loading <= !(load_moves & {{ v.Registers.Loader|req }}_TLAST);
        else loading <= {{ v.Registers.Loader|req }}_TVALID;
    end
    assign load_begin = {{ v.Registers.Loader|req }}_TVALID & !loading | register_write & weights_here & !register_number[0];
    assign load_write = load_moves | register_write & weights_here & register_number[0];
    assign load_word = load_moves ? {{ v.Registers.Loader|req }}_TDATA : register_din;
    logic loader_unused;
    assign loader_unused = &{1'b0, {{ v.Registers.Loader|req }}_TKEEP, {{ v.Registers.Loader|req }}_TSTRB};
{%- else %}
    assign load_begin = register_write & weights_here & !register_number[0];
    assign load_write = register_write & weights_here & register_number[0];
    assign load_word = register_din;
{%- endif %}
    logic load_unused;
    assign load_unused = &{1'b0, {{ v.Loaded|req }}_begin, {{ v.Loaded|req }}_word};
    always_ff @(posedge ap_clk) begin
        if (rst | load_begin) load_passed <= 32'd0;
        else if ({{ v.Loaded|req }}_write) load_passed <= load_passed + 32'd1;
    end
    assign weights_dout = load_passed;
{%- endif %}
{%- if v.Registers.Counters %}

    // Counters begin with the clock in which a word of the host can be read, and show what had been counted when the last word
    // of a frame went by.
    logic counting, counted, counters_clear;
    assign counters_clear = rst | (register_write & counters_here);
    assign counting = counted | {{ v.Registers.Counters.Begins|req }};
    always_ff @(posedge ap_clk) counted <= counting & !counters_clear;

    logic frame_out, any_out;
    assign frame_out = {{ v.Registers.Counters.Frames|req }};
    assign any_out = {{ v.Registers.Counters.Clocks|req }};
    logic [31:0] design_counted;
    hlsgen_counters #(.PAIR(0), .PAIRS({{ v.Registers.Counters.Pairs|req }})) design_counters (
        .clk(ap_clk), .rst(counters_clear), .count({counting, frame_out}), .publish({any_out, frame_out}),
        .number(register_number[{{ v.Registers.Counters.High|req }}:0]), .from(32'd0), .to(design_counted)
    );
{%- for c in v.Registers.Counters.Streams %}
    logic {{ c.Name|req }}_written, {{ c.Name|req }}_gone;
    logic [31:0] {{ c.Name|req }}_counted;
{%- if c.Stalled %}
    assign {{ c.Name|req }}_stalled = {{ c.Stalled|req }};
{%- endif %}
{%- if c.Starved %}
    assign {{ c.Name|req }}_starved = {{ c.Starved|req }};
{%- endif %}
    hlsgen_last #(.WORDS({{ c.Words|req }})) {{ c.Name|req }}_writes (.clk(ap_clk), .rst(rst), .moves({{ c.Name|req }}_claim), .last({{ c.Name|req }}_written));
    hlsgen_last #(.WORDS({{ c.Words|req }})) {{ c.Name|req }}_reads (.clk(ap_clk), .rst(rst), .moves({{ c.Name|req }}_read), .last({{ c.Name|req }}_gone));
    hlsgen_counters #(.PAIR({{ c.Pair|req }}), .PAIRS({{ v.Registers.Counters.Pairs|req }})) {{ c.Name|req }}_counters (
        .clk(ap_clk), .rst(counters_clear),
        .count({counting & {{ c.Name|req }}_starved, counting & {{ c.Name|req }}_stalled}),
        .publish({ {{ c.Name|req }}_read & {{ c.Name|req }}_gone, {{ c.Name|req }}_claim & {{ c.Name|req }}_written}),
        .number(register_number[{{ v.Registers.Counters.High|req }}:0]), .from({{ c.From|req }}_counted), .to({{ c.Name|req }}_counted)
    );
{%- endfor %}
    assign counters_dout = {{ v.Registers.Counters.Last|req }}_counted;
{%- endif %}
{% endif -%}
endmodule
