// What the bench sees of the tops: their ports, and the streams inside.
module hlsgen_bench (
    input logic clk,
    input logic rst_n{% for p in v.Ports %},
    {{ p|req }}{% endfor %}
);
{% for d in v.Tops %}
    {{ d.Top|req }} {{ d.Name|req }} (
        .ap_clk(clk), .ap_rst_n(rst_n){% for p in d.Pins %},
        {{ p|req }}{% endfor %}
    );
{%- for line in d.Watches %}
    {{ line|req }}
{%- endfor %}
{% endfor %}
endmodule
