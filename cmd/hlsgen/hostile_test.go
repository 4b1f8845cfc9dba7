package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"hlsgen/internal/testsupport/tier"
)

// These tests give hlsgen inputs that try to do harm. Whatever is in a file or an option, hlsgen ends with an exit code
// of its own and a reason. It leaves no file, and its memory stays in proportion. Hostile models are in
// hostilemodels_test.go, and among the seeds of frontend/onnxio's fuzzing.

// mostMemory limits the memory of hlsgen for a hostile file, in bytes. It is several times the memory for an ordinary
// file.
const mostMemory = 1 << 30

// unharmed runs hlsgen, checks how it ends, and returns its output. Where memory may be at stake, it runs hlsgen in a
// process of its own.
func unharmed(t *testing.T, dir string, code int, heavy bool, args ...string) string {
	t.Helper()
	if !heavy {
		before := entries(t, dir)
		got := say(dir, nil, args...)
		harmless(t, got, code)
		if after := entries(t, dir); after != before {
			t.Errorf("left: %s", after)
		}
		return got.stderr
	}
	cmd, temporary := process(t, dir, nil, args...)
	before := entries(t, dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	kib, err := peak(t, cmd)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	harmless(t, said{code: cmd.ProcessState.ExitCode(), stderr: out.String()}, code)
	if after := entries(t, dir); after != before || entries(t, temporary) != "" {
		t.Errorf("left: %s; %s", after, entries(t, temporary))
	}
	if runtime.GOOS == "linux" && kib*1024 > mostMemory { // elsewhere it counts in other units
		t.Errorf("it took %d KiB of memory: %s", kib, out.String())
	}
	return out.String()
}

// harmless checks the exit code. If it is not 0, there must be a reason.
func harmless(t *testing.T, got said, codes ...int) {
	t.Helper()
	for _, code := range codes {
		if got.code == code {
			said := func(s string) bool { return strings.Contains(got.stdout+got.stderr, s) }
			if code != exitOK && !said("error[") && !said(`"severity": "error"`) && !said("hlsgen: ") {
				t.Errorf("exit code %d without a reason: %+v", got.code, got)
			}
			return
		}
	}
	t.Errorf("exit code %d, want one of %v: %s", got.code, codes, got.stderr)
}

// A trap is a file that is none, or more than it seems. Every option that names a file is given each.
type trap struct {
	name  string
	make  func(path string) error
	want  string // in what is said
	heavy bool   // memory is at stake
}

var traps = []trap{
	{"nothing", func(string) error { return nil }, "no such file or directory", false},
	{"folder", func(path string) error { return os.Mkdir(path, 0o777) }, "is no regular file but a folder", false},
	{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o666) }, "is no regular file but a pipe", false},
	{"socket", listen, "is no regular file but a socket", false},
	{"terminal", link("/dev/tty"), "is no regular file but a device", false},
	{"zeros", link("/dev/zero"), "is no regular file but a device", true},
	{"system", link("/proc/self/maps"), "is a file of the system", true},
	{"loop", link("trap.json"), "too many levels", false},
	{"empty", holds(nil), "is empty", false},
	{"text", holds([]byte("hello: [}\n")), "", false},
	{"nested", holds(bytes.Repeat([]byte(`{"a":[`), 1<<17)), "", true},
	{"sparse", sparse(1 << 42), "bytes; at most ", true},
	{"sparse, as large as a model may be", sparse(1<<31 - 1), "", true},
	{"sparse, as large as settings may be", sparse(64 << 20), "", true},
	{"an archive of zeros", func(path string) error { return holds(bomb())(path) }, "", true},
	{"an array larger than its file", holds(arrayHeader("99999999999,")), "", true},
}

func link(to string) func(string) error {
	return func(path string) error { return os.Symlink(to, path) }
}

func holds(data []byte) func(string) error {
	return func(path string) error { return os.WriteFile(path, data, 0o666) }
}

// listen leaves a socket at a path whose folder may have a long name.
func listen(path string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.Remove(short)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(l.Close(), os.Rename(filepath.Join(short, "s"), path))
}

func sparse(size int64) func(string) error {
	return func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, size)) }
}

// arrayHeader is the header of a .npy file of bytes.
func arrayHeader(shape string) []byte {
	h := "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + "), }\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(h)))
	return append(b, h...)
}

// bomb is an .npz file of 8 MB whose one array, "x", has 8 GiB of zeros, as its header says.
var bomb = sync.OnceValue(func() []byte {
	const repeats, mebibytes = 128, 64
	head := arrayHeader(strconv.Itoa(repeats * mebibytes << 20))
	var first, zeros bytes.Buffer
	for _, part := range []struct {
		to   *bytes.Buffer
		data []byte
	}{{&first, head}, {&zeros, make([]byte, mebibytes<<20)}} {
		w, err := flate.NewWriter(part.to, flate.BestSpeed)
		if err == nil {
			_, err = w.Write(part.data)
		}
		if err = errors.Join(err, w.Flush()); err != nil { // ends at a byte, so it can be repeated
			panic(err)
		}
	}
	data := append(first.Bytes(), bytes.Repeat(zeros.Bytes(), repeats)...)
	return zipped("x.npy", data, uint64(len(head)+repeats*mebibytes<<20))
})

// zipped is a zip archive of one file that is deflated already, of a size and of some checksum.
func zipped(name string, deflated []byte, size uint64) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: size,
		CompressedSize64: uint64(len(deflated))})
	if err == nil {
		_, err = w.Write(deflated)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// written are the options that name a file to write.
var written = []string{"out", "output", "plot", "save-model", "timeline", "trace-vcd", "codes"}

// needed has the other arguments of each command, by its name.
var needed = map[string]string{
	"check":    iris,
	"stats":    iris + " --data " + irisInputs,
	"build":    iris + " --board pynq-z1 --input " + irisInputs + " --no-csim --verify 1 --out out",
	"convert":  iris + " --to qcdq --out out.onnx",
	"graph":    iris + " --out out.svg",
	"simulate": iris + " --input " + irisInputs + " --engine cycle",
	"sweep":    iris + " --board pynq-z1 --input " + irisInputs + " --labels " + irisLabels + " --fps 1000 --out out",
	"weights":  iris + " --for " + loaded + " --out out",
}

// loaded is a folder with the files of a build that hlsgen weights reads.
var loaded, _ = filepath.Abs("testdata/loaded")

// TestTraps gives every option that names a file every trap.
func TestTraps(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	for _, cmd := range bare().root().Commands() {
		if cmd.GroupID != onModel {
			continue
		}
		if needed[cmd.Name()] == "" {
			t.Errorf("what does hlsgen %s need?", cmd.Name())
		}
		options := []string{"", "board"} // "" is the model
		if cmd.Flags().Lookup("board") == nil {
			options = options[:1]
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if (f.Value.Type() == "FILE" || f.Name == "config") && !slices.Contains(written, f.Name) {
				options = append(options, f.Name)
			}
		})
		for i, option := range options {
			for k, x := range traps {
				if tier.Quick() && cmd.Name() != "simulate" && (x.heavy || (i+k)%3 > 0) {
					continue // simulate has all of these options
				}
				t.Run(strings.Join([]string{cmd.Name(), option, x.name}, "/"), func(t *testing.T) {
					t.Parallel()
					x.spring(t, cmd.Name(), option)
				})
			}
		}
	}
}

// spring gives an option of a command the trap.
func (x trap) spring(t *testing.T, command, option string) {
	dir := filesIn(t, nil)
	if err := x.make(filepath.Join(dir, "trap.json")); err != nil {
		t.Fatal(err)
	}
	args := append([]string{command}, strings.Fields(needed[command])...)
	if option == "" {
		args[1] = "trap.json"
	} else {
		args = append(args, "--"+option, "trap.json")
	}
	code := exitDiagnostics
	switch {
	case option == "config" && x.name == "empty":
		return // no settings, which is fine
	case option == "config":
		code = exitUsage
	}
	if got := unharmed(t, dir, code, x.heavy, args...); !strings.Contains(got, x.want) {
		t.Errorf("it says %s, want %s", got, x.want)
	}
}

// TestHostileNumbers gives every option for a number or a share texts that are no numbers, or numbers that make no
// sense.
func TestHostileNumbers(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	texts := []string{"", " ", "0", "-0", "-1", "1e-400", "5e-324", "1e-9", "0.0001", "1e308", "1e400", "NaN", "Inf",
		"-Inf", "0x1p-1074", "99999999999999999999", "1099511627776", "1/0", "0/1", "1_0", "1e999999999", "٣",
		"1,1,1", strings.Repeat("9", 10000)}
	texts = append(texts, "0.0000000000000000000000000000001", "1h", "-1s", "1000000h")
	before := map[string][]string{ // what may stand before a number
		"max-use": {"", "lut=", "mean=", "dsp=0,lut="},
		"shape":   {"", "x=", "=", "1,", "x=1,2,"},
		"dim":     {"", "T=", "="}, "input-type": {"", "UINT8:", "INT"}, "input-quant": {"", "INT8:", "INT"},
		"initial-state": {"", "h0=", "="}, "input-mean": {"", "1,", "x="}, "input-std": {"", "1,", "="},
	}
	for _, cmd := range bare().root().Commands() {
		if cmd.GroupID != onModel || cmd.Name() == "simulate" { // whose flags are those of build
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if slices.Contains([]string{"bool", "FILE", "DIR", "string", "BOARD", "BOARD,...", "TENSOR,..."},
				f.Value.Type()) {
				return
			}
			t.Run(cmd.Name()+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				dir := filesIn(t, nil)
				starts := before[f.Name]
				if starts == nil {
					starts = []string{""}
				}
				for _, start := range starts {
					for i, text := range texts {
						if tier.Quick() && i%4 != 0 {
							continue
						}
						args := append(append([]string{cmd.Name()}, strings.Fields(needed[cmd.Name()])...),
							"--json", "--force", "--"+f.Name, start+text)
						if cmd.Flags().Lookup("force") == nil {
							args = slices.DeleteFunc(args, func(s string) bool { return s == "--force" })
						}
						got := say(dir, nil, args...)
						harmless(t, got, exitOK, exitDiagnostics, exitUsage)
						if got.code != exitUsage && object(t, got)["version"] == nil {
							t.Errorf("%v: %s", args, got.stdout)
						}
					}
				}
			})
		})
	}
}

// TestShares checks that a share of nothing gives a diagnostic where every design takes some, for any goal.
func TestShares(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	dir := filesIn(t, nil)
	for _, kind := range []string{"lut", "ff", "bram", "mean"} { // the host's port takes some of each
		for _, share := range []string{"0", "-0", "5e-324", "1e-9"} {
			for i, wanted := range []string{"", "--fps 1000", "--latency", "--least lut", "--least bram", "--pareto",
				"--cost finn --pareto --fps 10", "--over-budget"} {
				if kind != "lut" && strings.Contains(wanted, "finn") {
					continue // these formulas have no port
				}
				args := strings.Fields("build " + iris + " --board zcu104 --no-csim --verify 1 " + wanted +
					" --max-use " + kind + "=" + share + " --force --out out-" + kind + strconv.Itoa(i))
				got, over := say(dir, nil, args...), wanted == "--over-budget"
				if (got.code == exitOK) != over || !over && got.code != exitDiagnostics ||
					!strings.Contains(got.stderr, "[budget-exceeded]") {
					t.Errorf("%v: %+v", args, got)
				}
			}
		}
	}
}
