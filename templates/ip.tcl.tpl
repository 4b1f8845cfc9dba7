# Verilog of {{ v.Name|req }} alone. In the folder hls:
#     vitis_hls -f ip/{{ v.Name|req }}.tcl
#     vitis-run --mode hls --tcl ip/{{ v.Name|req }}.tcl
# `make ip` does so for all, and again only for those that have changed.
source [file join [file dirname [file normalize [info script]]] flow.tcl]

# The function, of each argument the mode and the ports of the module, and the module's other ports.
synthesise {{ v.Name|req }} {
{%- for p in v.Ports %}
    {{ p.Name|req }} {{ p.Mode|req }} {{ p.Signals|req }}
{%- endfor %}
} {{ v.Control|req }}
exit
