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
    {{ d.Top|req }} {{ d.Name|req }} (
        .ap_clk(clk), .ap_rst_n(since[{{ v.Reset|req }} - {{ d.Reset|req }} - 3]){% for p in d.Pins %},
        {{ p|req }}{% endfor %}
    );
{%- for line in d.Watches %}
    {{ line|req }}
{%- endfor %}
{% endfor %}
endmodule
