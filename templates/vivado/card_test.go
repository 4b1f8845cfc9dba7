package vivado_test

import (
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hlsgen/boards"
	"hlsgen/hlslib/price/estimate"
	"hlsgen/internal/dataflow"
	"hlsgen/internal/testsupport/tier"
	"hlsgen/templates"
	"hlsgen/templates/deploy"
	"hlsgen/templates/vivado"
)

// A kernel has the parts of a kernel.xml that XRT reads (UG1393, RTL kernel XML file).
type kernel struct {
	Name     string `xml:"name,attr"`
	VLNV     string `xml:"vlnv,attr"`
	Language string `xml:"language,attr"`
	Protocol string `xml:"hwControlProtocol,attr"`
	Ports    []struct {
		Name  string `xml:"name,attr"`
		Mode  string `xml:"mode,attr"`
		Range string `xml:"range,attr"`
		Bits  int    `xml:"dataWidth,attr"`
		Type  string `xml:"portType,attr"`
	} `xml:"ports>port"`
	Args []struct {
		Name      string `xml:"name,attr"`
		Qualifier int    `xml:"addressQualifier,attr"`
		ID        int    `xml:"id,attr"`
		Port      string `xml:"port,attr"`
		Offset    string `xml:"offset,attr"`
		Size      string `xml:"size,attr"`
	} `xml:"args>arg"`
}

// A card has the files that are written for a card, parsed.
type card struct {
	kernels map[string]kernel
	units   map[string]string // compute units, each with its kernel
	banks   map[string]string // of a unit's memory port
	joins   [][2]string
}

var (
	unit   = regexp.MustCompile(`^(\w+):1:(\w+)$`)
	bankOf = regexp.MustCompile(`^(\w+\.\w+):((?:DDR|HBM)\[\d+\])$`)
	joined = regexp.MustCompile(`^(\w+\.\w+):(\w+\.\w+)$`)
)

// parsed reads the .cfg, by section and key as v++ does (UG1393, v++ configuration file), and the kernel.xml of each
// kernel.
func parsed(cfg string, texts map[string]string) (c card, f found) {
	c = card{kernels: map[string]kernel{}, units: map[string]string{}, banks: map[string]string{}}
	for _, name := range names(texts) {
		var root struct {
			Kernel kernel `xml:"kernel"`
		}
		if err := xml.Unmarshal([]byte(texts[name]), &root); err != nil || root.Kernel.Name != name {
			f.add("xml", "%s: %v, name %q", name, err, root.Kernel.Name)
		}
		c.kernels[name] = root.Kernel
	}
	section := ""
	for line := range strings.Lines(cfg) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		case section == "[connectivity]" && key == "nk" && unit.MatchString(value):
			m := unit.FindStringSubmatch(value)
			c.units[m[2]] = m[1]
		case section == "[connectivity]" && key == "sp" && bankOf.MatchString(value):
			m := bankOf.FindStringSubmatch(value)
			c.banks[m[1]] = m[2]
		case section == "[connectivity]" && key == "stream_connect" && joined.MatchString(value):
			m := joined.FindStringSubmatch(value)
			c.joins = append(c.joins, [2]string{m[1], m[2]})
		default:
			f.add("cfg", "%s in %s", line, section)
		}
	}
	return c, f
}

// graph returns the card as a block design, with its streams to check.
func (c card) graph(f *found) *graph {
	g := &graph{Cells: map[string]cell{}}
	for _, name := range names(c.units) {
		k, ok := c.kernels[c.units[name]]
		if !ok {
			f.add("no-kernel", "%s is a %s", name, c.units[name])
		}
		made := cell{VLNV: k.VLNV, Buses: map[string]bus{}}
		for _, p := range k.Ports {
			if p.Type == "stream" {
				mode := map[string]string{"read_only": "slave", "write_only": "master"}[p.Mode]
				made.Buses[p.Name] = bus{Mode: mode, Kind: "axis", Bits: p.Bits}
			}
		}
		g.Cells[name] = made
	}
	for _, l := range c.joins {
		var at [2]string
		for i, end := range l {
			at[i] = strings.Replace(end, ".", "/", 1)
			cell, port, _ := strings.Cut(at[i], "/")
			if _, ok := g.Cells[cell].Buses[port]; !ok {
				f.add("unknown-pin", "%s", end)
			}
		}
		g.Links = append(g.Links, at)
	}
	return g
}

// check makes all checks of the texts for a card, for a design with the given host.json.
func (c card) check(d *dataflow.Design, host *deploy.HostFile) found {
	var f found
	g := c.graph(&f)
	g.wires(&f)
	g.links(&f)
	for k, s := range host.Send {
		c.mover(&f, g, "read_"+s.Port, "m_axis", s.HostStream, d.Target.Board.MemoryPorts[k%4])
	}
	for k, r := range host.Receive {
		c.mover(&f, g, "write_"+r.Port, "s_axis", r.HostStream, d.Target.Board.MemoryPorts[k%4])
	}
	if n := len(host.Send) + len(host.Receive); len(c.units) != n+1 || len(c.kernels) != n+1 || len(c.banks) != n {
		f.add("count", "%d units, %d kernels, %d banks of %d streams", len(c.units), len(c.kernels), len(c.banks), n)
	}
	movers := map[bool]int{}
	for _, kernel := range c.units {
		if name, _, ok := strings.Cut(strings.TrimPrefix(kernel, "hlsgen_"), "_"); ok && kernel != host.Top {
			movers[name == "write"]++
		}
	}
	have, want := estimate.DataMoversCost(d.Target, movers[false], movers[true]), estimate.HostInterfaceCost(d.Target,
		d.Model.Graph)
	if len(want) == 0 || !slices.Equal(have, want) {
		f.add("price", "the kernels cost %v, the budget has %v", have, want)
	}
	a := c.kernels[c.units["accelerator"]]
	if a.Protocol != "ap_ctrl_none" || a.VLNV != "hlsgen:hls:"+host.Top+":1.0" {
		f.add("accelerator", "%s, %s", a.Protocol, a.VLNV)
	}
	return f
}

// mover checks that the kernel at a stream starts as those of Vitis HLS do, and that its registers are at the mover's
// addresses.
func (c card) mover(f *found, g *graph, name, axis string, s deploy.HostStream, bank string) {
	k := c.kernels[c.units[name]]
	if k.Protocol != "ap_ctrl_hs" || k.VLNV != "hlsgen:kernels:"+k.Name+":1.0" {
		f.add("mover", "%s is a %s, %s", name, k.VLNV, k.Protocol)
	}
	if at := g.peer(name + "/" + axis); at != "accelerator/"+s.Port {
		f.add("stream", "%s is at %s, want %s", name, at, s.Port)
	}
	if c.banks[name+".m_axi_gmem"] != bank {
		f.add("bank", "%s has %s, want %s", name, c.banks[name+".m_axi_gmem"], bank)
	}
	ports := map[string]string{}
	for _, p := range k.Ports {
		ports[p.Name] = fmt.Sprint(p.Mode, " ", p.Type, " ", p.Bits)
	}
	way := map[string]string{"m_axis": "write_only", "s_axis": "read_only"}[axis]
	want := map[string]string{"s_axi_control": "slave addressable 32", "m_axi_gmem": "master addressable 512",
		axis: fmt.Sprint(way, " stream ", 8*s.Bytes)}
	if !maps.Equal(ports, want) {
		f.add("ports", "%s has %v, want %v", name, ports, want)
	}
	var args []string
	for i, a := range k.Args {
		args = append(args, fmt.Sprint(a.Name, " ", a.Qualifier, " ", a.Port, " ", a.Offset, " ", a.Size))
		if a.ID != i {
			f.add("arguments", "%s: %s is argument %d", name, a.Name, a.ID)
		}
	}
	registers := []string{"data 1 m_axi_gmem 0x10 0x8", "frames 0 s_axi_control 0x1c 0x4",
		"steps 1 m_axi_gmem 0x24 0x8", axis + " 4 " + axis + " 0x0 0x0"}
	if !slices.Equal(args, registers) {
		f.add("arguments", "%s has %v, want %v", name, args, registers)
	}
}

// ofCard has mistakes in the files for a card: old becomes new in the .cfg or in a kernel.xml.
var ofCard = []mistake{
	{"a kernel that there is not", "nk=hlsgen_read_s_axis_0:1:", "nk=hlsgen_reader:1:", "no-kernel"},
	{"two units of one kernel", "nk=hlsgen_read_s_axis_0:1:", "nk=hlsgen_read_s_axis_0:2:", "cfg"},
	{"a misspelt key", "stream_connect=read_s_axis_0", "stream_conect=read_s_axis_0", "cfg"},
	{"lines in another section", "[connectivity]", "[clock]", "cfg"},
	{"a clock that cannot be lowered", "[connectivity]", "[clock]\ndefaultFreqHz=200000000\n[connectivity]", "cfg"},
	{"a stream that is left open", "stream_connect=accelerator.m_axis_0:write_m_axis_0.s_axis\n", "", "open-bus"},
	{"a stream that there is not", "accelerator.m_axis_0:", "accelerator.m_axis_1:", "unknown-pin"},
	{"a stream the wrong way round", "accelerator.m_axis_0:write_m_axis_0.s_axis",
		"write_m_axis_0.s_axis:accelerator.m_axis_0", "direction"},
	{"a stream past the accelerator", "read_s_axis_0.m_axis:accelerator.s_axis_0",
		"read_s_axis_0.m_axis:write_m_axis_0.s_axis", "two-links"},
	{"another bank", "write_m_axis_0.m_axi_gmem:DDR[0]", "write_m_axis_0.m_axi_gmem:DDR[1]", "bank"},
	{"no bank", "sp=write_m_axis_0.m_axi_gmem:DDR[0]\n", "", "bank"},
	{"a register at another address", `port="s_axi_control" size="0x4" offset="0x1c"`,
		`port="s_axi_control" size="0x4" offset="0x18"`, "arguments"},
	{"a buffer that is a value", `name="data" addressQualifier="1"`, `name="data" addressQualifier="0"`, "arguments"},
	{"a stream of another width", `name="m_axis" mode="write_only" dataWidth="8"`,
		`name="m_axis" mode="write_only" dataWidth="16"`, "width"},
	{"an accelerator that waits to be started", `hwControlProtocol="ap_ctrl_none"`, `hwControlProtocol="ap_ctrl_hs"`,
		"accelerator"},
	{"an IP that is not packed", `vlnv="hlsgen:kernels:hlsgen_read_s_axis_0`, `vlnv="hlsgen:kernels:hlsgen_read`,
		"mover"},
	{"text that is no XML", "</args>", "<args>", "xml"},
}

// ofXO are mistakes in the script that packs kernels.
var ofXO = []mistake{
	{"a kernel of another name", "-kernel_name $name", "-kernel_name ${name}_1", "kernel-name"},
	{"an IP that is no kernel", "    set_property sdx_kernel true $core\n", "", "not-a-kernel"},
	{"a description that there is not", "kernels/$name.xml", "$name.xml", "no-file"},
	{"a value that there is not", "auto_family_support_level level_2", "auto_family_support_level 2", "wrong-type"},
}

// vpp is a stand-in for v++ of the version VITIS. Kernels and configuration must exist, and options must be those of
// the version (UG1393, v++ General Options; --freqhz is new in 2023.2). It writes the clock into the file it makes.
const vpp = `#!/bin/sh
version=${VITIS:-2022.2}
fail() { echo "CHECK $1: $2"; exit 1; }
out= clock=
while [ $# -gt 0 ]; do
    case $1 in
    --version) echo "****** v++ v$version (64-bit)"; exit ;;
    --link | --save-temps) ;;
    --target | --platform | --temp_dir | --log_dir | --report_dir | --jobs) shift ;;
    -o) shift; out=$1 ;;
    --config) shift; [ -f "$1" ] || fail no-file "$1" ;;
    *.xo) [ -f "$1" ] || fail no-file "$1" ;;
    --kernel_frequency)
        clock="$1 $2"
        shift
        case $1 in *[!0-9]* | ????*) fail wrong-type "$1 MHz" ;; esac ;;
    --freqhz=*)
        clock=$1
        expr "$version" ">=" 2023.2 >/dev/null || fail unknown-switch "$1"
        case ${1#*=} in *[!0-9]* | ?????? | ?????) fail wrong-type "$1" ;; esac ;;
    *) fail unknown-switch "$1" ;;
    esac
    shift
done
[ -n "$clock" ] || fail no-clock "the platform's own"
echo "$clock" > "$out"
`

// TestCardClock checks the clock that a card's kernels get from each version of v++, and that mistakes there are found.
func TestCardClock(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	tier.Needs(t, "tclsh", "make", "sh")
	s, verilog, _ := wide(t)
	var err error
	if s.Board, err = boards.FindBoard("alveo-u250"); err != nil {
		t.Fatal(err)
	}
	s.Clock = vivado.PLLClock{Asked: 187.5}
	for i := range s.Movers {
		s.Movers[i].Port, s.Movers[i].Base, s.Movers[i].DataBits = s.Board.MemoryPorts[0], 0, 512
	}
	w := opened(t, s, vivado.IPBackendRTL, []byte(verilog))
	w.write(t, filepath.Join(w.tools, "v++"), vpp)
	made := filepath.Join(w.dir, "vivado/build", s.Top+".xclbin")
	makefile, err := os.ReadFile(filepath.Join(w.dir, "vivado/Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	hertz, mhz := "--freqhz=187500000\n", "--kernel_frequency 187\n"
	for _, c := range []struct{ version, old, new, want, check string }{
		{version: "2020.1", want: mhz},
		{version: "2022.2", want: mhz},
		{version: "2023.1", want: mhz},
		{version: "2023.1.1", want: mhz},
		{version: "2023.2", want: hertz},
		{version: "2024.1", want: hertz},
		{version: "2026.1", want: hertz},
		{"2023.1", " 2023.1 2023.1.%", "", "", "unknown-switch"},
		{"2022.2", "--kernel_frequency 187", "--kernel_frequency 187500000", "", "wrong-type"},
		{"2024.1", "--freqhz=187500000", "--freqhz=187.5", "", "wrong-type"},
		{"2024.1", "--freqhz=", "--clock.freqhz=", "", "unknown-switch"},
		{"2022.2", "$(CLOCK) ", "", "", "no-clock"},
	} {
		if !strings.Contains(string(makefile), c.old) {
			t.Fatalf("the Makefile has no %q", c.old)
		}
		w.write(t, filepath.Join(w.dir, "vivado/Makefile"), strings.Replace(string(makefile), c.old, c.new, 1))
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
		said, failed := w.run([]string{"VITIS=" + c.version}, "make", "xclbin")
		got, _ := os.ReadFile(made)
		if string(got) != c.want || failed != (c.check != "") || !strings.Contains(said, "CHECK "+c.check) && failed {
			t.Errorf("%s with %q for %q: %q, want %q, %s; %s", c.version, c.new, c.old, got, c.want, c.check, said)
		}
	}
}

// TestCard checks that kernel.xml and link.cfg parse, and agree with host.json, which drivers read. The scripts must
// run, and each planted mistake must be found by the check that it names.
func TestCard(t *testing.T) {
	t.Parallel()
	tier.Needs(t, "tclsh", "make", "sh")
	type way struct {
		model string
		flow  vivado.IPBackend
	}
	var cases []way
	for _, flow := range []vivado.IPBackend{vivado.IPBackendHLS, vivado.IPBackendRTL} {
		for _, model := range networks {
			cases = append(cases, way{model, flow})
		}
	}
	for i, c := range soon(cases, func(c way) bool { return takesLong(c.model, c.flow) }) {
		t.Run(fmt.Sprint(c.model, " ", c.flow), func(t *testing.T) {
			t.Parallel()
			d := designOf(t, c.model, "alveo-u250", c.flow, false)
			w := open(t, d, c.flow, verilogOf(t, d, c.flow))
			w.write(t, filepath.Join(w.tools, "v++"), vpp)
			if said, failed := w.run(nil, "make", "xclbin"); failed {
				t.Fatal(said)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "vivado/build", w.system.Top+".xclbin")); err != nil {
				t.Error(err)
			}
			for _, m := range w.system.Movers {
				if m.Reports != m.Writes {
					t.Errorf("%s reports: %t", m.Name, m.Reports)
				}
			}
			face, err := templates.IPInterfaceOf(d, templates.Options{})
			if err != nil {
				t.Fatal(err)
			}
			host, err := deploy.HostFileOf(d, face)
			if err != nil {
				t.Fatal(err)
			}
			cfg, texts := w.texts(t)
			c, f := parsed(cfg, texts)
			for _, wrong := range append(f, c.check(d, host)...) {
				t.Error(wrong)
			}
			if i == 0 {
				for _, m := range ofCard {
					plant(t, m, cfg, texts, func(c card) found { return c.check(d, host) })
				}
				w.catch(t, "package_xo.tcl", ofXO, nil)
			}
		})
	}
}

// texts are link.cfg and the descriptions of kernels.
func (w workshop) texts(t *testing.T) (cfg string, texts map[string]string) {
	t.Helper()
	files, err := w.system.GenerateFiles(vivado.IPBackendHLS)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, file := range files {
		if name, ok := strings.CutSuffix(filepath.Base(file.Path), ".xml"); ok {
			texts[name] = string(file.Data)
		}
		if filepath.Base(file.Path) == "link.cfg" {
			cfg = string(file.Data)
		}
	}
	return cfg, texts
}

// plant plants a mistake in the text that contains its old text, and requires the mistake's check to fail.
func plant(t *testing.T, m mistake, cfg string, texts map[string]string, check func(card) found) {
	t.Helper()
	texts = maps.Clone(texts)
	changed := strings.Replace(cfg, m.old, m.new, 1)
	planted := changed != cfg
	for _, name := range names(texts) {
		if !planted && strings.Contains(texts[name], m.old) {
			texts[name], planted = strings.Replace(texts[name], m.old, m.new, 1), true
		}
	}
	c, f := parsed(changed, texts)
	f = append(f, check(c)...)
	if !planted || !slices.ContainsFunc(f, func(s string) bool { return strings.HasPrefix(s, m.check+":") }) {
		t.Errorf("%s: planted %t, found %v, want %s", m.what, planted, f, m.check)
	}
}
