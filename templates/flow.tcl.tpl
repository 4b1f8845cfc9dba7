# Functions for the scripts of all layers. Each script calls synthesise with its layer's function.
set hls [file dirname [file dirname [file normalize [info script]]]]

# synthesise makes Verilog from one function. The modules are in build.ip/TOP/verilog, next to the tool's project. The
# list arguments has, for each argument, its name, the mode of its interface and the expected ports of the module;
# control lists the other ports. The script checks that these ports exist, because the top connects modules by them.
proc synthesise {top arguments control} {
    global hls
    file mkdir $hls/build.ip/$top
    cd $hls/build.ip/$top
    file delete -force verilog
    set component [expr {[info commands open_component] ne ""}]
    if {$component} {
        open_component -reset project -flow_target vivado
    } else {
        open_project -reset project
    }
    set_top $top
    add_files ../../layers/$top.cpp -cflags "-std=c++14"
    if {!$component} {
        open_solution -reset solution1 -flow_target vivado
    }
    set_part {{ v.Part|req }}
    create_clock -period {{ v.Period|req }} -name default
    foreach {name mode ports} $arguments {
        set_directive_interface -mode $mode $top $name
    }
    set_directive_interface -mode ap_ctrl_none $top return
    config_rtl -module_auto_prefix
    config_compile -pipeline_style flp
    # The sizes of loop bodies are limited already. A version that does not know the option keeps its own limit (HLS
    # 200-1471).
    catch {
        set_param hls.enable_hidden_option_error false
        config_compile -disable_unroll_code_size_check
    }
    csynth_design
    gather $top $arguments $control
}

# gather copies the Verilog of a function to one folder, because the folders of a project differ between versions of
# the tool.
proc gather {top arguments control} {
    set made [lsort [glob -nocomplain project/*/syn/verilog/*]]
    set module [lsearch -inline $made */$top.v]
    if {$module eq ""} {
        error "there is no $top.v below [pwd]/project: synthesis has failed"
    }
    set file [open $module]
    set text [read $file]
    close $file
    foreach {name mode ports} $arguments {
        lappend control {*}$ports
    }
    foreach port $control {
        if {![regexp "\\m(?:input|output)\\M\[^;\]*\\m$port\\M" $text]} {
            error "module $top has no port $port: this version of the tool names ports in another way"
        }
    }
    file mkdir verilog.new
    foreach file $made {
        file copy -force $file verilog.new
    }
    file rename verilog.new verilog
}
