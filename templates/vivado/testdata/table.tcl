# What vivado.tcl knows of Vivado. Each row holds for the versions, and is from the source, that the `from` above it names.
#
#     command NAME {SWITCH TYPE ...} {TYPE ...}     flag: a switch without value; TYPE? may be left out; TYPE+: one or more
#     property KIND NAME TYPE ?readonly?            of an object
#     board BOARD_PART PART
#     interface NAME TYPE                           a parameter of an AXI bus, in X_INTERFACE_PARAMETER
#     connector BOARD_PART NAME OTHER_END           of a module, and what is at its other end
#     automation RULE IP {WORD ...} {NAME VALUE ...} words of its -config, and what a board's preset sets
#     ip VLNV {config NAME TYPE DEFAULT ...} {pin NAME DIRECTION KIND BITS | bus NAME MODE KIND CLOCK ?KEY VALUE ...?}
#
# Types: text, list, file (exists), int:LO:HI, real, size (1024, 64K, 0x10000), bool (0 or 1), hex64, one:A:B, part, or the
# kind of an object; slot is an interface that an ILA watches. Bits of a pin are N, or LO:HI where the IP takes as many as it is given. Keys of a bus: bits (of data),
# last (0 or 1: TLAST), segments (name base bytes ...), space 1 (an address space of its own), external 1 (a pin of the chip).

from "UG835, Vivado Tcl Command Reference: the command's own page" 2020.1-2024.2
command create_project {-force flag -part part} {text text?}
command close_project {} {}
command current_project {} {}
command get_board_parts {-quiet flag -latest_file_version flag} {text}
command get_ipdefs {-quiet flag} {text}
command get_property {} {text any}
command set_property {-dict list} {any+}
command update_ip_catalog {-rebuild flag} {}
command current_fileset {} {}
command add_files {-norecurse flag} {file+}
command update_compile_order {-fileset text} {}
command get_files {} {text}
command make_wrapper {-files file_object -top flag} {}
command launch_runs {-to_step one:write_bitstream -jobs int:1:64} {text}
command wait_on_run {} {text}
command get_runs {} {text}
command create_run {-flow text -parent_run text -strategy one:Performance_ExtraTimingOpt} {text}
command current_run {} {run}
command open_run {} {any}
command report_utilization {-hierarchical flag -file text} {}
command report_timing_summary {-file text} {}
command write_debug_probes {-force flag} {text}
command write_hw_platform {-fixed flag -include_bit flag -force flag} {text}
command write_checkpoint {-force flag} {text}
command open_checkpoint {} {file}
command read_saif {-strip_path text -out_file text} {file}
command report_power {-file text} {}
command create_bd_design {} {text}
command create_bd_cell {-type one:ip -vlnv text} {text}
command get_bd_pins {} {text}
command get_bd_intf_pins {} {text}
command connect_bd_net {} {pin+}
command connect_bd_intf_net {} {bus+}
command apply_bd_automation {-rule text -config text} {cell}
command get_bd_addr_spaces {} {text}
command get_bd_addr_segs {} {text}
command assign_bd_address {-offset size -range size -target_address_space space} {segment+}
command exclude_bd_addr_seg {-target_address_space space} {segment}
command validate_bd_design {} {}
command save_bd_design {} {}
command ipx::package_project {-root_dir text -vendor text -library text -taxonomy text -import_files flag -force flag} {}
command ipx::current_core {} {}
command ipx::open_core {} {file}
command ipx::create_xgui_files {} {core}
command ipx::update_checksums {} {core}
command ipx::save_core {} {core}
command ipx::get_user_parameters {-of_objects core} {}
command ipx::remove_user_parameter {} {text core}
command package_xo {-xo_path text -kernel_name text -ip_directory text -kernel_xml file} {}

from "UG912, Vivado Properties Reference; UG835, report_property" 2020.1-2024.2
property project board_part text
property project ip_repo_paths list
property project board_connections list
property fileset top text
property ipdef VLNV text readonly
property run PROGRESS text readonly
property run STATS.WNS real readonly
property run STATS.WHS real readonly
property run FLOW text readonly
property run NAME text readonly
from "FINN, templates.py: post-route physical optimisation, with Performance_ExtraTimingOpt" 2020.1-2024.2
property run STEPS.POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED bool
from "PYNQ, boards/ZCU104/base/base.tcl and boards/Pynq-Z2/base/base.tcl: what the PS makes of the frequency asked" 2020.1-2024.2
property cell CONFIG.PSU__CRL_APB__PL0_REF_CTRL__ACT_FREQMHZ real readonly
property cell CONFIG.PCW_ACT_FPGA0_PERIPHERAL_FREQMHZ real readonly
from "UG1118, Creating and Packaging Custom IP" 2020.1-2024.2
property core name text
property core display_name text
property core version real
property core supported_families text
property core auto_family_support_level one:level_0:level_1:level_2
property parameter NAME text readonly
from "Vitis_Accel_Examples, rtl_kernels, package_kernel.tcl" 2020.1-2024.2
property core sdx_kernel one:true:false
property core sdx_kernel_type one:rtl

from "Vivado's template for AXI interfaces in HDL (Language Templates, IP Integrator HDL); PG247" 2020.1-2024.2
interface SUPPORTS_NARROW_BURST bool
interface READ_WRITE_MODE one:READ_WRITE:READ_ONLY:WRITE_ONLY
interface MAX_BURST_LENGTH int:1:256
interface NUM_READ_OUTSTANDING int:1:32
interface NUM_WRITE_OUTSTANDING int:1:32

from "AMD board store, board.xml: vendor, name, file_version and part_name; FINN, templates.py (PYNQ-Z1)" 2020.1-2024.2
board xilinx.com:zcu104:part0:1.0 xczu7ev-ffvc1156-2-e
board xilinx.com:zcu104:part0:1.1 xczu7ev-ffvc1156-2-e
board xilinx.com:kv260_som:part0:1.4 xck26-sfvc784-2LV-c
board xilinx.com:kr260_som:part0:1.1 xck26-sfvc784-2LV-c
connector xilinx.com:kv260_som:part0:1.4 som240_1_connector xilinx.com:kv260_carrier:som240_1_connector:1.3
connector xilinx.com:kr260_som:part0:1.1 som240_1_connector xilinx.com:kr260_carrier:som240_1_connector:1.0
connector xilinx.com:kr260_som:part0:1.1 som240_2_connector xilinx.com:kr260_carrier:som240_2_connector:1.0
board www.digilentinc.com:pynq-z1:part0:1.0 xc7z020clg400-1
part xcu250-figd2104-2L-e

from "FINN, templates.py; PG082, PG201: block automation" 2020.1-2024.2
automation xilinx.com:bd_rule:zynq_ultra_ps_e xilinx.com:ip:zynq_ultra_ps_e:3.3 {apply_board_preset} {
    PSU__USE__M_AXI_GP0 1 PSU__USE__M_AXI_GP1 1 PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ 100
}
automation xilinx.com:bd_rule:processing_system7 xilinx.com:ip:processing_system7:5.5 {make_external apply_board_preset Master Slave} {
    PCW_USE_M_AXI_GP0 1 PCW_FPGA0_PERIPHERAL_FREQMHZ 50
}

from "PG201, Zynq UltraScale+ MPSoC PS; designs of PYNQ for ZCU104; addresses by UG1085, system addresses" 2020.1-2024.2
ip xilinx.com:ip:zynq_ultra_ps_e:3.3 {
    PSU__USE__M_AXI_GP0 bool 0          PSU__USE__M_AXI_GP1 bool 0          PSU__USE__M_AXI_GP2 bool 1
    PSU__FPGA_PL0_ENABLE bool 1         PSU__FPGA_PL1_ENABLE bool 0         PSU__USE__FABRIC__RST bool 1
    PSU__USE__IRQ0 bool 1               PSU__USE__IRQ1 bool 0
    PSU__CRL_APB__PL0_REF_CTRL__SRCSEL one:IOPLL:RPLL:DPLL IOPLL            PSU__CRL_APB__PL0_REF_CTRL__FREQMHZ real 100
    PSU__USE__S_AXI_GP2 bool 0          PSU__SAXIGP2__DATA_WIDTH one:32:64:128 128
    PSU__USE__S_AXI_GP3 bool 0          PSU__SAXIGP3__DATA_WIDTH one:32:64:128 128
    PSU__USE__S_AXI_GP4 bool 0          PSU__SAXIGP4__DATA_WIDTH one:32:64:128 128
    PSU__USE__S_AXI_GP5 bool 0          PSU__SAXIGP5__DATA_WIDTH one:32:64:128 128
} {
    foreach k {0 1} {
        if {[value PSU__FPGA_PL${k}_ENABLE]} { pin pl_clk$k out clock 1 }
    }
    if {[value PSU__USE__FABRIC__RST]} { pin pl_resetn0 out resetn 1 }
    foreach {gp bus clock window} {
        0 M_AXI_HPM0_FPD maxihpm0_fpd_aclk {0xA0000000 0x10000000}  1 M_AXI_HPM1_FPD maxihpm1_fpd_aclk {0xB0000000 0x10000000}
        2 M_AXI_HPM0_LPD maxihpm0_lpd_aclk {0x80000000 0x20000000}
    } {
        if {[value PSU__USE__M_AXI_GP$gp]} {
            pin $clock in clock 1
            bus $bus master aximm $clock bits 128 window $window
        }
    }
    for {set k 0} {$k < 4} {incr k} {
        set gp [expr {$k + 2}]
        if {[value PSU__USE__S_AXI_GP$gp]} {
            pin saxihp${k}_fpd_aclk in clock 1
            bus S_AXI_HP${k}_FPD slave aximm saxihp${k}_fpd_aclk bits [value PSU__SAXIGP${gp}__DATA_WIDTH] port SAXIGP$gp segments \
                "HP${k}_DDR_LOW 0x0 0x80000000 HP${k}_QSPI 0xC0000000 0x20000000 HP${k}_LPS_OCM 0xFF000000 0x1000000"
        }
    }
    foreach k {0 1} {
        if {[value PSU__USE__IRQ$k]} { pin pl_ps_irq$k in interrupt 1:8 optional }
    }
    space Data
}

from "PG082, Processing System 7; designs of PYNQ for Pynq-Z1; addresses by UG585, system-level address map" 2020.1-2024.2
ip xilinx.com:ip:processing_system7:5.5 {
    PCW_USE_M_AXI_GP0 bool 1            PCW_USE_M_AXI_GP1 bool 0            PCW_EN_CLK0_PORT bool 1  PCW_EN_RST0_PORT bool 1
    PCW_FCLK0_PERIPHERAL_CLKSRC one:IO\ PLL:ARM\ PLL:DDR\ PLL "IO PLL"      PCW_FPGA0_PERIPHERAL_FREQMHZ real 50
    PCW_USE_FABRIC_INTERRUPT bool 0
    PCW_USE_S_AXI_HP0 bool 0            PCW_S_AXI_HP0_DATA_WIDTH one:32:64 64
    PCW_USE_S_AXI_HP1 bool 0            PCW_S_AXI_HP1_DATA_WIDTH one:32:64 64
    PCW_USE_S_AXI_HP2 bool 0            PCW_S_AXI_HP2_DATA_WIDTH one:32:64 64
    PCW_USE_S_AXI_HP3 bool 0            PCW_S_AXI_HP3_DATA_WIDTH one:32:64 64
} {
    if {[value PCW_EN_CLK0_PORT]} { pin FCLK_CLK0 out clock 1 }
    if {[value PCW_EN_RST0_PORT]} { pin FCLK_RESET0_N out resetn 1 }
    foreach {gp window} {0 {0x40000000 0x40000000} 1 {0x80000000 0x40000000}} {
        if {[value PCW_USE_M_AXI_GP$gp]} {
            pin M_AXI_GP${gp}_ACLK in clock 1
            bus M_AXI_GP$gp master aximm M_AXI_GP${gp}_ACLK bits 32 window $window
        }
    }
    for {set k 0} {$k < 4} {incr k} {
        if {[value PCW_USE_S_AXI_HP$k]} {
            pin S_AXI_HP${k}_ACLK in clock 1
            bus S_AXI_HP$k slave aximm S_AXI_HP${k}_ACLK bits [value PCW_S_AXI_HP${k}_DATA_WIDTH] beats 16 port S_AXI_HP$k segments \
                "HP${k}_DDR_LOWOCM 0x0 0x20000000"
        }
    }
    if {[value PCW_USE_FABRIC_INTERRUPT]} { pin IRQ_F2P in interrupt 1:16 optional }
    bus DDR master ddrx "" external 1
    bus FIXED_IO master fixedio "" external 1
    space Data
}

from "PG164, Processor System Reset" 2020.1-2024.2
ip xilinx.com:ip:proc_sys_reset:5.0 {
    C_NUM_PERP_ARESETN int:1:16 1
} {
    pin slowest_sync_clk in clock 1
    pin ext_reset_in in resetn 1
    pin aux_reset_in in resetn 1 optional
    pin mb_debug_sys_rst in reset 1 optional
    pin dcm_locked in data 1 optional
    pin peripheral_aresetn out resetn [value C_NUM_PERP_ARESETN]
    pin interconnect_aresetn out resetn 1
    pin peripheral_reset out reset 1
}

from "PG247, SmartConnect" 2020.1-2024.2
ip xilinx.com:ip:smartconnect:1.0 {
    NUM_CLKS int:1:32 1  NUM_SI int:1:16 1  NUM_MI int:1:16 1
} {
    pin aclk in clock 1
    pin aresetn in resetn 1
    for {set k 0} {$k < [value NUM_SI]} {incr k} { bus [format S%02d_AXI $k] slave aximm aclk through 1 }
    for {set k 0} {$k < [value NUM_MI]} {incr k} { bus [format M%02d_AXI $k] master aximm aclk through 1 }
}

from "PG261, System ILA; ACCL, debug Tcl: slots and their pins" 2020.1-2024.2
set config {C_MON_TYPE one:INTERFACE:NATIVE:MIX INTERFACE  C_NUM_MONITOR_SLOTS int:1:16 1
    C_DATA_DEPTH one:1024:2048:4096:8192:16384:32768:65536:131072 1024}
for {set k 0} {$k < 16} {incr k} {
    lappend config C_SLOT_${k}_INTF_TYPE slot xilinx.com:interface:aximm_rtl:1.0 C_SLOT_${k}_AXIS_TDATA_WIDTH int:1:4096 32
}
ip xilinx.com:ip:system_ila:1.1 $config {
    pin clk in clock 1
    pin resetn in resetn 1
    for {set k 0} {$k < [value C_NUM_MONITOR_SLOTS]} {incr k} {
        if {[value C_SLOT_${k}_INTF_TYPE] eq "xilinx.com:interface:axis_rtl:1.0"} {
            bus SLOT_${k}_AXIS monitor axis clk bits [value C_SLOT_${k}_AXIS_TDATA_WIDTH]
        } else {
            bus SLOT_${k}_AXI monitor aximm clk
        }
    }
}

from "hlsgen's own: what joins interrupts" 2020.1-2024.2
for {set n 1} {$n <= 16} {incr n} {
    ip hlsgen:concat_$n:xlconcat:1.0 [list NUM_PORTS int:$n:$n $n] {
        for {set k 0} {$k < [value NUM_PORTS]} {incr k} { pin In$k in interrupt 1 }
        pin dout out interrupt [value NUM_PORTS]
    }
}

from "PG373, AXI Register Slice; ports are of its default shape" 2020.1-2024.2
ip xilinx.com:ip:axi_register_slice:2.1 {} {
    pin aclk in clock 1
    pin aresetn in resetn 1
    bus S_AXI slave aximm aclk bits 32
    bus M_AXI master aximm aclk bits 32
}

from "hlsgen's own: ports and parameters of the movers" 2020.1-2024.2
foreach {name write} {hlsgen_read 0 hlsgen_write 1} {
    ip hlsgen:kernels:$name:1.0 [concat [expr {$write ? {STEPS int:0:2147483647 0} : {PERIOD int:0:2147483647 0}}] {
        DATA_BITS one:32:64:128:256:512 64  STREAM_BYTES int:1:4096 4  MAX_BEATS one:2:4:8:16:32:64:128:256 16
        OUTSTANDING int:1:64 4              FRAME_BYTES int:1:2147483647 4  HASH hex64 0x0
    }] [string map [list @ $write] {
        pin ap_clk in clock 1
        pin ap_rst_n in resetn 1
        bus s_axi_control slave aximm ap_clk bits 32 segments {reg0 0x0 0x100}
        bus m_axi_gmem master aximm ap_clk bits [value DATA_BITS] space 1 beats [value MAX_BEATS]
        if {@} {
            bus s_axis slave axis ap_clk bits [expr {8 * [value STREAM_BYTES]}] last 1
        } else {
            bus m_axis master axis ap_clk bits [expr {8 * [value STREAM_BYTES]}] last 1
        }
        pin interrupt out interrupt 1
    }]
}
