// What the bench sees of the tops: their ports, and the streams inside.
module hlsgen_bench (
    input logic clk,
    input logic rst_n{% for p in v.Ports %},
    {{ p|req }}{% endfor %}
);
    // Circuits start in clock 0, whatever their resets take.
    logic [{{ v.Reset|req }}:0] since;
    always_ff @(posedge clk) since <= {since[{{ v.Reset|req }}-1:0], rst_n};
{% for d in v.Tops %}
{%- for f in d.Feeds %}
    logic [{{ f.High|req }}:0] {{ f.Name|req }}_TDATA;
    logic {{ f.Name|req }}_TVALID, {{ f.Name|req }}_TREADY;
    hlsgen_feed #(.WIDTH({{ f.Width|req }}), .WORDS({{ f.Words|req }}), .FILE("{{ f.File|req }}")) {{ f.Name|req }}_feed (
        .clk(clk), .rst_n(since[{{ v.Reset|req }} - {{ d.Reset|req }} - 3]), .tdata({{ f.Name|req }}_TDATA), .tvalid({{ f.Name|req }}_TVALID), .tready({{ f.Name|req }}_TREADY));
{%- endfor %}
    {{ d.Top|req }} {{ d.Name|req }} (
        .ap_clk(clk), .ap_rst_n(since[{{ v.Reset|req }} - {{ d.Reset|req }} - 3]){% for p in d.Pins %},
        {{ p|req }}{% endfor %}
    );
{%- for line in d.Watches %}
    {{ line|req }}
{%- endfor %}
{% endfor %}
endmodule
{%- if v.Feeds %}

// hlsgen_feed always has the next word of a table, over and over again.
module hlsgen_feed #(
    parameter int WIDTH = 8,
    parameter int WORDS = 1,
    parameter     FILE  = ""
) (
    input  logic             clk,
    input  logic             rst_n,
    output logic [WIDTH-1:0] tdata,
    output logic             tvalid,
    input  logic             tready
);
    logic [WIDTH-1:0] words[0:WORDS-1];
    initial $readmemh(FILE, words);

    int at;
    assign tdata = words[at];
    assign tvalid = 1'b1;
    always_ff @(posedge clk) begin
        if (!rst_n) at <= 0;
        else if (tready) at <= at == WORDS - 1 ? 0 : at + 1;
    end
endmodule
{%- endif %}
