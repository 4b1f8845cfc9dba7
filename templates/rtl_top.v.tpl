// {{ v.Top|req }}: a module from Vitis HLS for each process (make ip), and a FIFO for each stream between them. It has the ports
// of the IP that Vitis HLS makes from the function {{ v.Top|req }}.
`default_nettype none

module {{ v.Top|req }} (
{%- for p in v.Ports %}
    {% if p.Attribute %}{{ p.Attribute|req }}
    {% endif %}{{ p.Decl|req }}
{%- endfor %}
);
    // The reset of modules with AXI4-Streams is active low; that of FIFOs and of all other modules is active high.
    wire ap_rst = ~ap_rst_n;
{% for f in v.FIFOs %}
    wire [{{ f.High|req }}:0] {{ f.Name|req }}_din, {{ f.Name|req }}_dout;
    wire {{ f.Name|req }}_full_n, {{ f.Name|req }}_write, {{ f.Name|req }}_empty_n, {{ f.Name|req }}_read;
    hlsgen_fifo #(.WIDTH({{ f.Width|req }}), .DEPTH({{ f.Depth|req }}), .STYLE("{{ f.Style|req }}")) fifo_{{ f.Name|req }} (
        .clk(ap_clk), .rst(ap_rst),
        .din({{ f.Name|req }}_din), .full_n({{ f.Name|req }}_full_n), .write({{ f.Name|req }}_write),
        .dout({{ f.Name|req }}_dout), .empty_n({{ f.Name|req }}_empty_n), .read({{ f.Name|req }}_read)
    );
{% endfor %}
{%- for m in v.Modules %}
    {{ m.Name|req }} process_{{ m.Name|req }} (
{%- for c in m.Connections %}
        {{ c|req }}
{%- endfor %}
    );
{% endfor %}
endmodule

`default_nettype wire
