# Verilog of {{ v.Name|req }} alone. In the folder hls:
#     vitis_hls -f ip/{{ v.Name|req }}.tcl
#     vitis-run --mode hls --tcl ip/{{ v.Name|req }}.tcl
# `make ip` runs the scripts of all layers, and later only those of changed layers.
source [file join [file dirname [file normalize [info script]]] flow.tcl]

# The function; its arguments, each with the mode of its interface and its ports; and the module's other ports.
synthesise {{ v.Name|req }} {
{%- for p in v.Ports %}
    {{ p.Name|req }} {{ p.Mode|req }} {{ p.Signals|req }}
{%- endfor %}
} {{ v.Control|req }}
exit
