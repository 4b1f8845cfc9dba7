// {{ v.Name|req }}: joins the interrupts of movers, the first of them in the lowest bit.
`default_nettype none

module {{ v.Name|req }} #(
    parameter NUM_PORTS = {{ v.Ports|req }} // which PYNQ reads
) (
{%- for i in v.Inputs %}
    input  wire                 {{ i|req }},
{%- endfor %}
    output wire [NUM_PORTS-1:0] dout
);
    assign dout = {{ "{" }}{% for i in v.Inputs reversed %}{{ i|req }}{% if not forloop.Last %}, {% endif %}{% endfor %}{{ "}" }};
endmodule

`default_nettype wire
