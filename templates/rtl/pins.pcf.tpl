# Pins of {{ v.Board|req }} ({{ v.Part|req }})
{% for p in v.Pins -%}
set_io {{ p.Name|req }} {{ p.Site|req }}
{% endfor -%}
