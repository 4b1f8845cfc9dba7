# Pins of {{ v.Board|req }} ({{ v.Part|req }})
create_clock -period {{ v.Period|req }} [get_ports clk]
{% for p in v.Pins -%}
set_property -dict {PACKAGE_PIN {{ p.Site|req }} IOSTANDARD LVCMOS33} [get_ports {{ p.Name|req }}]
{% endfor -%}
