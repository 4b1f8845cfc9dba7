// {{ v.Top|req }}_axi: the accelerator with a mover for every stream, connected as in the block design.
module {{ v.Top|req }}_axi (
    input  logic ap_clk,
{%- for m in v.Movers %}
    input  logic [7:0] {{ m.Name|req }}_s_axi_control_awaddr,
    input  logic {{ m.Name|req }}_s_axi_control_awvalid,
    output logic {{ m.Name|req }}_s_axi_control_awready,
    input  logic [31:0] {{ m.Name|req }}_s_axi_control_wdata,
    input  logic [3:0] {{ m.Name|req }}_s_axi_control_wstrb,
    input  logic {{ m.Name|req }}_s_axi_control_wvalid,
    output logic {{ m.Name|req }}_s_axi_control_wready,
    output logic [1:0] {{ m.Name|req }}_s_axi_control_bresp,
    output logic {{ m.Name|req }}_s_axi_control_bvalid,
    input  logic {{ m.Name|req }}_s_axi_control_bready,
    input  logic [7:0] {{ m.Name|req }}_s_axi_control_araddr,
    input  logic {{ m.Name|req }}_s_axi_control_arvalid,
    output logic {{ m.Name|req }}_s_axi_control_arready,
    output logic [31:0] {{ m.Name|req }}_s_axi_control_rdata,
    output logic [1:0] {{ m.Name|req }}_s_axi_control_rresp,
    output logic {{ m.Name|req }}_s_axi_control_rvalid,
    input  logic {{ m.Name|req }}_s_axi_control_rready,
{%- if m.Write %}
    output logic [63:0] {{ m.Name|req }}_m_axi_gmem_awaddr,
    output logic [7:0] {{ m.Name|req }}_m_axi_gmem_awlen,
    output logic [2:0] {{ m.Name|req }}_m_axi_gmem_awsize,
    output logic [1:0] {{ m.Name|req }}_m_axi_gmem_awburst,
    output logic [3:0] {{ m.Name|req }}_m_axi_gmem_awcache,
    output logic [2:0] {{ m.Name|req }}_m_axi_gmem_awprot,
    output logic {{ m.Name|req }}_m_axi_gmem_awvalid,
    input  logic {{ m.Name|req }}_m_axi_gmem_awready,
    output logic [{{ m.High|req }}:0] {{ m.Name|req }}_m_axi_gmem_wdata,
    output logic [{{ m.Strobe|req }}:0] {{ m.Name|req }}_m_axi_gmem_wstrb,
    output logic {{ m.Name|req }}_m_axi_gmem_wlast,
    output logic {{ m.Name|req }}_m_axi_gmem_wvalid,
    input  logic {{ m.Name|req }}_m_axi_gmem_wready,
    input  logic [1:0] {{ m.Name|req }}_m_axi_gmem_bresp,
    input  logic {{ m.Name|req }}_m_axi_gmem_bvalid,
    output logic {{ m.Name|req }}_m_axi_gmem_bready,
{%- else %}
    output logic [63:0] {{ m.Name|req }}_m_axi_gmem_araddr,
    output logic [7:0] {{ m.Name|req }}_m_axi_gmem_arlen,
    output logic [2:0] {{ m.Name|req }}_m_axi_gmem_arsize,
    output logic [1:0] {{ m.Name|req }}_m_axi_gmem_arburst,
    output logic [3:0] {{ m.Name|req }}_m_axi_gmem_arcache,
    output logic [2:0] {{ m.Name|req }}_m_axi_gmem_arprot,
    output logic {{ m.Name|req }}_m_axi_gmem_arvalid,
    input  logic {{ m.Name|req }}_m_axi_gmem_arready,
    input  logic [{{ m.High|req }}:0] {{ m.Name|req }}_m_axi_gmem_rdata,
    input  logic [1:0] {{ m.Name|req }}_m_axi_gmem_rresp,
    input  logic {{ m.Name|req }}_m_axi_gmem_rlast,
    input  logic {{ m.Name|req }}_m_axi_gmem_rvalid,
    output logic {{ m.Name|req }}_m_axi_gmem_rready,
{%- endif %}
    output logic {{ m.Name|req }}_interrupt,
{%- endfor %}
{%- for p in v.Registers %}
    {{ p.Decl|req }}
{%- endfor %}
    input  logic ap_rst_n
);
{%- for m in v.Movers %}
    logic [{{ m.TDATA|req }}:0] {{ m.Stream|req }}_data;
    logic {{ m.Stream|req }}_valid, {{ m.Stream|req }}_ready, {{ m.Stream|req }}_last;
    {{ m.IP|req }} #(
{%- for p in m.Params %}
        .{{ p.Name|req }}({{ p.Value|req }}){% if not forloop.Last %},{% endif %}
{%- endfor %}
    ) {{ m.Name|req }} (
        .ap_clk(ap_clk), .ap_rst_n(ap_rst_n),
        .s_axi_control_awaddr({{ m.Name|req }}_s_axi_control_awaddr),
        .s_axi_control_awvalid({{ m.Name|req }}_s_axi_control_awvalid),
        .s_axi_control_awready({{ m.Name|req }}_s_axi_control_awready),
        .s_axi_control_wdata({{ m.Name|req }}_s_axi_control_wdata),
        .s_axi_control_wstrb({{ m.Name|req }}_s_axi_control_wstrb),
        .s_axi_control_wvalid({{ m.Name|req }}_s_axi_control_wvalid),
        .s_axi_control_wready({{ m.Name|req }}_s_axi_control_wready),
        .s_axi_control_bresp({{ m.Name|req }}_s_axi_control_bresp),
        .s_axi_control_bvalid({{ m.Name|req }}_s_axi_control_bvalid),
        .s_axi_control_bready({{ m.Name|req }}_s_axi_control_bready),
        .s_axi_control_araddr({{ m.Name|req }}_s_axi_control_araddr),
        .s_axi_control_arvalid({{ m.Name|req }}_s_axi_control_arvalid),
        .s_axi_control_arready({{ m.Name|req }}_s_axi_control_arready),
        .s_axi_control_rdata({{ m.Name|req }}_s_axi_control_rdata),
        .s_axi_control_rresp({{ m.Name|req }}_s_axi_control_rresp),
        .s_axi_control_rvalid({{ m.Name|req }}_s_axi_control_rvalid),
        .s_axi_control_rready({{ m.Name|req }}_s_axi_control_rready),
{%- if m.Write %}
        .m_axi_gmem_awaddr({{ m.Name|req }}_m_axi_gmem_awaddr),
        .m_axi_gmem_awlen({{ m.Name|req }}_m_axi_gmem_awlen),
        .m_axi_gmem_awsize({{ m.Name|req }}_m_axi_gmem_awsize),
        .m_axi_gmem_awburst({{ m.Name|req }}_m_axi_gmem_awburst),
        .m_axi_gmem_awcache({{ m.Name|req }}_m_axi_gmem_awcache),
        .m_axi_gmem_awprot({{ m.Name|req }}_m_axi_gmem_awprot),
        .m_axi_gmem_awvalid({{ m.Name|req }}_m_axi_gmem_awvalid),
        .m_axi_gmem_awready({{ m.Name|req }}_m_axi_gmem_awready),
        .m_axi_gmem_wdata({{ m.Name|req }}_m_axi_gmem_wdata),
        .m_axi_gmem_wstrb({{ m.Name|req }}_m_axi_gmem_wstrb),
        .m_axi_gmem_wlast({{ m.Name|req }}_m_axi_gmem_wlast),
        .m_axi_gmem_wvalid({{ m.Name|req }}_m_axi_gmem_wvalid),
        .m_axi_gmem_wready({{ m.Name|req }}_m_axi_gmem_wready),
        .m_axi_gmem_bresp({{ m.Name|req }}_m_axi_gmem_bresp),
        .m_axi_gmem_bvalid({{ m.Name|req }}_m_axi_gmem_bvalid),
        .m_axi_gmem_bready({{ m.Name|req }}_m_axi_gmem_bready),
        .s_axis_tdata({{ m.Stream|req }}_data), .s_axis_tvalid({{ m.Stream|req }}_valid), .s_axis_tready({{ m.Stream|req }}_ready), .s_axis_tlast({{ m.Stream|req }}_last),
{%- else %}
        .m_axi_gmem_araddr({{ m.Name|req }}_m_axi_gmem_araddr),
        .m_axi_gmem_arlen({{ m.Name|req }}_m_axi_gmem_arlen),
        .m_axi_gmem_arsize({{ m.Name|req }}_m_axi_gmem_arsize),
        .m_axi_gmem_arburst({{ m.Name|req }}_m_axi_gmem_arburst),
        .m_axi_gmem_arcache({{ m.Name|req }}_m_axi_gmem_arcache),
        .m_axi_gmem_arprot({{ m.Name|req }}_m_axi_gmem_arprot),
        .m_axi_gmem_arvalid({{ m.Name|req }}_m_axi_gmem_arvalid),
        .m_axi_gmem_arready({{ m.Name|req }}_m_axi_gmem_arready),
        .m_axi_gmem_rdata({{ m.Name|req }}_m_axi_gmem_rdata),
        .m_axi_gmem_rresp({{ m.Name|req }}_m_axi_gmem_rresp),
        .m_axi_gmem_rlast({{ m.Name|req }}_m_axi_gmem_rlast),
        .m_axi_gmem_rvalid({{ m.Name|req }}_m_axi_gmem_rvalid),
        .m_axi_gmem_rready({{ m.Name|req }}_m_axi_gmem_rready),
        .m_axis_tdata({{ m.Stream|req }}_data), .m_axis_tvalid({{ m.Stream|req }}_valid), .m_axis_tready({{ m.Stream|req }}_ready), .m_axis_tlast({{ m.Stream|req }}_last),
{%- endif %}
        .interrupt({{ m.Name|req }}_interrupt)
    );
{% endfor %}
    {{ v.Top|req }} accelerator (
{%- for m in v.Movers %}
        .{{ m.Stream|req }}_TDATA({{ m.Stream|req }}_data), .{{ m.Stream|req }}_TVALID({{ m.Stream|req }}_valid), .{{ m.Stream|req }}_TREADY({{ m.Stream|req }}_ready),
{%- if m.Packets %} .{{ m.Stream|req }}_TLAST({{ m.Stream|req }}_last),{% endif %}
{%- endfor %}
{%- for p in v.Registers %}
        .{{ p.Name|req }}(accelerator_{{ p.Name|req }}),
{%- endfor %}
        .ap_clk(ap_clk), .ap_rst_n(ap_rst_n)
    );
endmodule
