# Pins of {{ v.Board|req }} ({{ v.Part|req }})
FREQUENCY PORT "clk" {{ v.MHz|req }} MHZ;
{% for p in v.Pins -%}
LOCATE COMP "{{ p.Name|req }}" SITE "{{ p.Site|req }}";
IOBUF PORT "{{ p.Name|req }}" IO_TYPE=LVCMOS33;
{% endfor -%}
IOBUF PORT "reset_n" PULLMODE=UP IO_TYPE=LVCMOS33;
