// {{ v.Name|req }}: {{ v.IP|req }} in Verilog, which Vivado wants the top of an IP to be in.
`default_nettype none

module {{ v.Name|req }} #(
{%- for p in v.Params %}
    parameter {% if p.Name == "HASH" %}[63:0] {% endif %}{{ p.Name|req }} = {{ p.Value|req }}{% if not forloop.Last %},{% endif %}
{%- endfor %}
) (
    (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 ap_clk CLK", X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axi_control:m_axi_gmem:{% if v.Write %}s_axis{% else %}m_axis{% endif %}, ASSOCIATED_RESET ap_rst_n" *)
    input  wire                      ap_clk,
    (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 ap_rst_n RST", X_INTERFACE_PARAMETER = "POLARITY ACTIVE_LOW" *)
    input  wire                      ap_rst_n,
    input  wire [7:0]                s_axi_control_awaddr,
    input  wire                      s_axi_control_awvalid,
    output wire                      s_axi_control_awready,
    input  wire [31:0]               s_axi_control_wdata,
    input  wire [3:0]                s_axi_control_wstrb,
    input  wire                      s_axi_control_wvalid,
    output wire                      s_axi_control_wready,
    output wire [1:0]                s_axi_control_bresp,
    output wire                      s_axi_control_bvalid,
    input  wire                      s_axi_control_bready,
    input  wire [7:0]                s_axi_control_araddr,
    input  wire                      s_axi_control_arvalid,
    output wire                      s_axi_control_arready,
    output wire [31:0]               s_axi_control_rdata,
    output wire [1:0]                s_axi_control_rresp,
    output wire                      s_axi_control_rvalid,
    input  wire                      s_axi_control_rready,
{%- if v.Write %}
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWADDR", X_INTERFACE_PARAMETER = "{{ v.Burst|req }}" *)
    output wire [63:0]               m_axi_gmem_awaddr,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWLEN" *)
    output wire [7:0]                m_axi_gmem_awlen,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWSIZE" *)
    output wire [2:0]                m_axi_gmem_awsize,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWBURST" *)
    output wire [1:0]                m_axi_gmem_awburst,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWCACHE" *)
    output wire [3:0]                m_axi_gmem_awcache,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWPROT" *)
    output wire [2:0]                m_axi_gmem_awprot,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWVALID" *)
    output wire                      m_axi_gmem_awvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem AWREADY" *)
    input  wire                      m_axi_gmem_awready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem WDATA" *)
    output wire [DATA_BITS-1:0]      m_axi_gmem_wdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem WSTRB" *)
    output wire [DATA_BITS/8-1:0]    m_axi_gmem_wstrb,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem WLAST" *)
    output wire                      m_axi_gmem_wlast,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem WVALID" *)
    output wire                      m_axi_gmem_wvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem WREADY" *)
    input  wire                      m_axi_gmem_wready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem BRESP" *)
    input  wire [1:0]                m_axi_gmem_bresp,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem BVALID" *)
    input  wire                      m_axi_gmem_bvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem BREADY" *)
    output wire                      m_axi_gmem_bready,
    input  wire [8*STREAM_BYTES-1:0] s_axis_tdata,
    input  wire                      s_axis_tlast,
    input  wire                      s_axis_tvalid,
    output wire                      s_axis_tready,
{%- else %}
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARADDR", X_INTERFACE_PARAMETER = "{{ v.Burst|req }}" *)
    output wire [63:0]               m_axi_gmem_araddr,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARLEN" *)
    output wire [7:0]                m_axi_gmem_arlen,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARSIZE" *)
    output wire [2:0]                m_axi_gmem_arsize,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARBURST" *)
    output wire [1:0]                m_axi_gmem_arburst,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARCACHE" *)
    output wire [3:0]                m_axi_gmem_arcache,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARPROT" *)
    output wire [2:0]                m_axi_gmem_arprot,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARVALID" *)
    output wire                      m_axi_gmem_arvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem ARREADY" *)
    input  wire                      m_axi_gmem_arready,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RDATA" *)
    input  wire [DATA_BITS-1:0]      m_axi_gmem_rdata,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RRESP" *)
    input  wire [1:0]                m_axi_gmem_rresp,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RLAST" *)
    input  wire                      m_axi_gmem_rlast,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RVALID" *)
    input  wire                      m_axi_gmem_rvalid,
    (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi_gmem RREADY" *)
    output wire                      m_axi_gmem_rready,
    output wire [8*STREAM_BYTES-1:0] m_axis_tdata,
    output wire                      m_axis_tlast,
    output wire                      m_axis_tvalid,
    input  wire                      m_axis_tready,
{%- endif %}
    (* X_INTERFACE_INFO = "xilinx.com:signal:interrupt:1.0 interrupt INTERRUPT", X_INTERFACE_PARAMETER = "SENSITIVITY LEVEL_HIGH" *)
    output wire                      interrupt
);
    {{ v.IP|req }} #(
{%- for p in v.Params %}
        .{{ p.Name|req }}({{ p.Name|req }}){% if not forloop.Last %},{% endif %}
{%- endfor %}
    ) mover (
        .ap_clk(ap_clk), .ap_rst_n(ap_rst_n),
        .s_axi_control_awaddr(s_axi_control_awaddr), .s_axi_control_awvalid(s_axi_control_awvalid),
        .s_axi_control_awready(s_axi_control_awready), .s_axi_control_wdata(s_axi_control_wdata),
        .s_axi_control_wstrb(s_axi_control_wstrb), .s_axi_control_wvalid(s_axi_control_wvalid),
        .s_axi_control_wready(s_axi_control_wready), .s_axi_control_bresp(s_axi_control_bresp),
        .s_axi_control_bvalid(s_axi_control_bvalid), .s_axi_control_bready(s_axi_control_bready),
        .s_axi_control_araddr(s_axi_control_araddr), .s_axi_control_arvalid(s_axi_control_arvalid),
        .s_axi_control_arready(s_axi_control_arready), .s_axi_control_rdata(s_axi_control_rdata),
        .s_axi_control_rresp(s_axi_control_rresp), .s_axi_control_rvalid(s_axi_control_rvalid),
        .s_axi_control_rready(s_axi_control_rready),
{%- if v.Write %}
        .m_axi_gmem_awaddr(m_axi_gmem_awaddr), .m_axi_gmem_awlen(m_axi_gmem_awlen), .m_axi_gmem_awsize(m_axi_gmem_awsize),
        .m_axi_gmem_awburst(m_axi_gmem_awburst), .m_axi_gmem_awcache(m_axi_gmem_awcache),
        .m_axi_gmem_awprot(m_axi_gmem_awprot), .m_axi_gmem_awvalid(m_axi_gmem_awvalid),
        .m_axi_gmem_awready(m_axi_gmem_awready), .m_axi_gmem_wdata(m_axi_gmem_wdata), .m_axi_gmem_wstrb(m_axi_gmem_wstrb),
        .m_axi_gmem_wlast(m_axi_gmem_wlast), .m_axi_gmem_wvalid(m_axi_gmem_wvalid), .m_axi_gmem_wready(m_axi_gmem_wready),
        .m_axi_gmem_bresp(m_axi_gmem_bresp), .m_axi_gmem_bvalid(m_axi_gmem_bvalid), .m_axi_gmem_bready(m_axi_gmem_bready),
        .s_axis_tdata(s_axis_tdata), .s_axis_tlast(s_axis_tlast), .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
{%- else %}
        .m_axi_gmem_araddr(m_axi_gmem_araddr), .m_axi_gmem_arlen(m_axi_gmem_arlen), .m_axi_gmem_arsize(m_axi_gmem_arsize),
        .m_axi_gmem_arburst(m_axi_gmem_arburst), .m_axi_gmem_arcache(m_axi_gmem_arcache),
        .m_axi_gmem_arprot(m_axi_gmem_arprot), .m_axi_gmem_arvalid(m_axi_gmem_arvalid),
        .m_axi_gmem_arready(m_axi_gmem_arready), .m_axi_gmem_rdata(m_axi_gmem_rdata), .m_axi_gmem_rresp(m_axi_gmem_rresp),
        .m_axi_gmem_rlast(m_axi_gmem_rlast), .m_axi_gmem_rvalid(m_axi_gmem_rvalid), .m_axi_gmem_rready(m_axi_gmem_rready),
        .m_axis_tdata(m_axis_tdata), .m_axis_tlast(m_axis_tlast), .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready),
{%- endif %}
        .interrupt(interrupt)
    );
endmodule

`default_nettype wire
