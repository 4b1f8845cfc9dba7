# A bitstream of {{ v.Top|req }} for {{ v.Board.Name|req }}: the block design, synthesis, implementation. In the folder vivado:
#     make bitstream
# which is, once accelerator and movers are packed as IPs,
#     vivado -mode batch -source block_design.tcl -tclargs FOLDER_OF_THE_IP JOBS
# build/{{ v.Top|req }}.bit, .hwh and .xsa come of it. No Vivado was at hand to try this file.
cd [file dirname [file normalize [info script]]]
set ip [expr {$argc > 0 ? [lindex $argv 0] : "{{ v.IP|req }}"}]
set jobs [expr {$argc > 1 ? [lindex $argv 1] : 4}]
set name {{ v.Top|req }}

# The newest version of an IP that this Vivado has.
proc newest {pattern} {
    set found [lsort -dictionary [get_ipdefs -quiet $pattern]]
    if {[llength $found] == 0} {
        error "there is no IP $pattern: make bitstream packs those of the design, the others come with Vivado"
    }
    return [get_property VLNV [lindex $found end]]
}

# A cell of an IP, with properties.
proc add {cell pattern config} {
    set made [create_bd_cell -type ip -vlnv [newest $pattern] $cell]
    configure $made $config
}

proc configure {cell config} {
    set properties {}
    foreach {name value} $config {
        lappend properties CONFIG.$name $value
    }
    if {[llength $properties] > 0} {
        set_property -dict $properties $cell
    }
}

# A wire from a pin to others.
proc wire {from args} {
    foreach to $args {
        connect_bd_net [get_bd_pins $from] [get_bd_pins $to]
    }
}

# A bus from its master to its slave.
proc link {master slave} {
    connect_bd_intf_net [get_bd_intf_pins $master] [get_bd_intf_pins $slave]
}

set board [get_board_parts -quiet -latest_file_version {{ "{" }}{{ v.Board.BoardPart|req }}{{ "}" }}]
if {[llength $board] == 0} {
    error {{ "{" }}this Vivado has no files of the board {{ v.Board.Name|req }} ({{ v.Board.BoardPart|req }}), which say how its processor is set up. They are had from {% if v.Board.BoardFiles %}{{ v.Board.BoardFiles|req }}{% else %}the board's vendor{% endif %}; put them into a folder, and name it: set_param board.repoPaths FOLDER, in Vivado_init.tcl{{ "}" }}
}
create_project -force -part {{ v.Board.Part|req }} system build/system
set_property board_part [lindex $board 0] [current_project]
{%- if v.Board.Connections %}
# The module's carrier, whose peripherals the .xsa has then.
set carrier {{ "{" }}{{ v.Board.Connections|req }}{{ "}" }}
if {[catch {set_property board_connections $carrier [current_project]}]} {
    puts "WARNING: this Vivado does not know $carrier: the .xsa lacks the peripherals of the carrier"
}
{%- endif %}
set_property ip_repo_paths [list [file normalize $ip] [file normalize build/ip]] [current_project]
update_ip_catalog -rebuild
create_bd_design system

# The processor, as the board's preset says, with a clock of {{ v.Clock|req }} MHz for the logic:
# {{ v.Clock.PLL|req }} MHz through dividers of {{ v.Clock.Div0|req }} and {{ v.Clock.Div1|req }}. The design was made for {{ v.Asked|req }} MHz.
set ps [create_bd_cell -type ip -vlnv [newest {{ v.PS|req }}] ps]
apply_bd_automation -rule {{ v.Rule|req }} -config {{ "{" }}{{ v.Automation|req }}{{ "}" }} $ps
configure $ps {
{%- for c in v.PSConfig %}
    {{ c.Name|req }} {{ "{" }}{{ c.Value|req }}{{ "}" }}
{%- endfor %}
}

# Reset, accelerator, a mover per stream, and what joins them to the processor.
{%- for c in v.Cells %}
add {{ c.Name|req }} {{ c.IP|req }} {{ "{" }}{% for p in c.Config %}{{ p.Name|req }} {{ p.Value|req }}{% if not forloop.Last %} {% endif %}{% endfor %}{{ "}" }}
{%- endfor %}
{% for w in v.Wires %}
wire {{ w.From|req }}{% for to in w.To %} {{ to|req }}{% endfor %}
{%- endfor %}
{% for l in v.Links %}
link {{ l.Master|req }} {{ l.Slave|req }}
{%- endfor %}

# Where the processor sees the movers' registers.
{%- for w in v.Windows %}
assign_bd_address -offset {{ w.Base|req }} -range {{ w.Bytes|req }} -target_address_space [get_bd_addr_spaces ps/Data] \
    [get_bd_addr_segs {{ w.Name|req }}/s_axi_control/*]
{%- endfor %}

# What the movers see of the processor's memory: no registers of the processor.
proc memory {mover pattern all} {
    set space [get_bd_addr_spaces $mover/m_axi_gmem]
    set memory [get_bd_addr_segs ps/$pattern]
    assign_bd_address -target_address_space $space $memory
    foreach segment [get_bd_addr_segs ps/$all] {
        if {$segment ni $memory} {
            exclude_bd_addr_seg -target_address_space $space $segment
        }
    }
}
{%- for m in v.Memory %}
memory {{ m.Mover|req }} {{ m.Has|req }} {{ m.All|req }}
{%- endfor %}

validate_bd_design
# The clock that results: another PLL than the one above would make another.
set actual [get_property {{ v.Actual|req }} $ps]
if {abs($actual - {{ v.Clock|req }}) > 0.001 * {{ v.Clock|req }}} {
    error "the processor makes $actual MHz for the logic, not {{ v.Clock|req }}: build again with --clock $actual, or with a board file whose pll_mhz is that of this board"
}
save_bd_design
add_files -norecurse [make_wrapper -files [get_files system.bd] -top]
set_property top system_wrapper [current_fileset]
update_compile_order -fileset sources_1

# A run of the implementation, through to the bitstream.
proc implement {name jobs} {
    launch_runs -to_step write_bitstream -jobs $jobs $name
    wait_on_run $name
    return [get_runs $name]
}

# The slacks of a run in ns: of setup (WNS) and of hold (WHS).
proc slacks {run} {
    return [list [get_property STATS.WNS $run] [get_property STATS.WHS $run]]
}

# What a build before has left is not taken for the result of this one.
file delete -force build/$name.bit build/$name.hwh build/$name.xsa
file delete -force build/${name}_missed.bit build/${name}_missed.hwh build/${name}_missed.xsa
{%- if v.ILA %}
file delete -force build/$name.ltx build/${name}_missed.ltx
{%- endif %}
set run [implement impl_1 $jobs]
if {[get_property PROGRESS $run] ne "100%"} {
    error "no bitstream: build/system/system.runs/impl_1/runme.log, or synth_1/runme.log, says why"
}
lassign [slacks $run] wns whs
puts "WNS $wns ns, WHS $whs ns"
if {min($wns, $whs) < 0} {
    # The strategy of FINN's builds for boards. The better result of the two is taken.
    puts "the clock is missed: a second run, with the strategy Performance_ExtraTimingOpt"
    create_run -flow [get_property FLOW $run] -parent_run synth_1 -strategy Performance_ExtraTimingOpt impl_2
    set_property STEPS.POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED 1 [get_runs impl_2]
    set second [implement impl_2 $jobs]
    if {[get_property PROGRESS $second] eq "100%"} {
        lassign [slacks $second] setup hold
        puts "WNS $setup ns, WHS $hold ns"
        if {min($setup, $hold) > min($wns, $whs)} {
            set run $second
            set wns $setup
            set whs $hold
        }
    }
}
current_run $run
open_run $run
report_utilization -hierarchical -file build/utilization.rpt
report_timing_summary -file build/timing.rpt
write_checkpoint -force build/routed.dcp

# The .hwh says to PYNQ what is in the .bit: they have one name, and lie side by side.
set hwh [glob -nocomplain build/system/system.{gen,srcs}/sources_1/bd/system/hw_handoff/system.hwh]
if {[llength $hwh] != 1} {
    error "Vivado has put system.hwh elsewhere: [list $hwh]"
}
if {min($wns, $whs) < 0} {
    append name _missed
}
file copy -force [lindex $hwh 0] build/$name.hwh
write_hw_platform -fixed -include_bit -force build/$name.xsa
file copy -force build/system/system.runs/[get_property NAME $run]/system_wrapper.bit build/$name.bit
{%- if v.ILA %}
write_debug_probes -force build/$name.ltx
{%- endif %}
close_project
if {min($wns, $whs) < 0} {
    set hint [expr {$whs < 0 ? "no clock helps against a hold that is missed (WHS)" : "build with a lower --clock"}]
    error "the clock is missed: WNS $wns ns, WHS $whs ns; build/timing.rpt says where. build/$name.bit is the design as it is, which may compute wrong results: $hint"
}
