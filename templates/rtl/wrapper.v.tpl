// {{ v.Top|req }}_{{ v.Suffix|req }}: {{ v.About|req }}
`default_nettype none

module {{ v.Top|req }}_{{ v.Suffix|req }} (
{%- for p in v.Ports %}
    {% if p.Attribute %}{{ p.Attribute|req }}
    {% endif %}{{ p.Decl|req }}
{%- endfor %}
);
{%- for c in v.Checks %}
    wire {{ c.Axis|req }}_wrong;
    hlsgen_packet #(.WORDS({{ c.Words|req }}), .STEPS({{ c.Steps|req }})) packets_{{ c.Axis|req }} (
        .clk(ap_clk), .rst_n(ap_rst_n), .moves({{ c.Axis|req }}_TVALID & {{ c.Axis|req }}_TREADY), .last({{ c.Axis|req }}_TLAST),
        .wrong({{ c.Axis|req }}_wrong)
    );
{%- endfor %}
{%- if v.Wrong %}
    assign error = {{ v.Wrong|req }};
{%- endif %}
{%- if v.Unused %}
    wire unused = &{1'b0, {{ v.Unused|req }}};
{%- endif %}
    {{ v.Top|req }} network (
{%- for j in v.Joins %}
        {{ j|req }}{% if not forloop.Last %},{% endif %}
{%- endfor %}
    );
endmodule

`default_nettype wire
