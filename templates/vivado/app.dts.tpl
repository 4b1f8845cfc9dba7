// The overlay of the device tree with which Linux loads {{ v.Top|req }} into the logic of {{ v.Board.Name|req }}: make app.
/dts-v1/;
/plugin/;

&fpga_full {
    #address-cells = <2>;
    #size-cells = <2>;
    firmware-name = "{{ v.Top|req }}.bit.bin";
    resets = <&zynqmp_reset 116>;
};

&amba {
    #address-cells = <2>;
    #size-cells = <2>;

    // Widths of the ports between processor and logic.
    hlsgen_afi: afi0 {
        compatible = "xlnx,afi-fpga";
        config-afi = {% for a in v.AFI %}<{{ a.Name|req }} {{ a.Value|req }}>{% if not forloop.Last %}, {% endif %}{% endfor %};
    };

    // The clock of the logic: PL0.
    hlsgen_clock: clocking0 {
        #clock-cells = <0>;
        assigned-clock-rates = <{{ v.Clock.Hz|req }}>;
        assigned-clocks = <&zynqmp_clk 71>;
        clock-output-names = "fabric_clk";
        clocks = <&zynqmp_clk 71>;
        compatible = "xlnx,fclk";
    };
{% for n in v.Nodes %}
    {{ n.Name|req }}@{{ n.At|req }} {
        compatible = "generic-uio";
        linux,uio-name = "{{ n.Name|req }}";
        reg = <0x0 0x{{ n.At|req }} 0x0 {{ n.Bytes|req }}>;
{%- if n.Interrupt %}
        interrupt-parent = <&gic>;
        interrupts = <0 {{ n.Interrupt|req }} 4>;
{%- endif %}
    };
{%- endfor %}
};
