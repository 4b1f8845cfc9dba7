package fast

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hlsgen/internal/testsupport/tier"
)

var update = flag.Bool("update", false, "write the words of assembly anew, by GNU's assembler")

// TestWords compares instructions that Go's assembler lacks, written as bytes, with GNU's assembler. The comment
// beside each has the instruction.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, as, options string
		line              *regexp.Regexp // text before a comment
		spelled           func(code []byte) string
	}{
		{"kernels_arm64.s", "aarch64-linux-gnu-as", "-march=armv8.6-a",
			regexp.MustCompile(`(?m)^\tWORD +(.*) // (.*)$`),
			func(code []byte) string { return fmt.Sprintf("$0x%08x", binary.LittleEndian.Uint32(code)) }},
		{"kernels_amd64.s", "x86_64-linux-gnu-as", "--64",
			regexp.MustCompile(`(?m)^\tBYTE +(.*) // (.*)$`),
			func(code []byte) string { return strings.ReplaceAll(fmt.Sprintf("$0x% x", code), " ", "; BYTE $0x") }},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			as := tier.Needs(t, c.as)[0]
			text, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			lines := c.line.FindAllSubmatch(text, -1)
			source := ""
			for _, line := range lines {
				source += string(line[2]) + "\n"
			}
			codes := assembled(t, as, c.options, source)
			if len(lines) == 0 || len(codes) != len(lines) {
				t.Fatalf("%d instructions, %d assembled", len(lines), len(codes))
			}
			i := -1
			made := c.line.ReplaceAllFunc(text, func(line []byte) []byte {
				i++
				m := lines[i]
				return bytes.Replace(line, m[1], []byte(c.spelled(codes[i])), 1)
			})
			if *update {
				if err := os.WriteFile(c.file, made, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			was, is := strings.Split(string(text), "\n"), strings.Split(string(made), "\n")
			for i := range was {
				if was[i] != is[i] {
					t.Errorf("%s:%d: %s, want %s", c.file, i+1, was[i], is[i])
				}
			}
		})
	}
}

// assembled returns the code of each line of a source, from the listing of GNU's assembler.
func assembled(t *testing.T, as, options, source string) (codes [][]byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "source.s")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(as, options, "-aln", "--listing-lhs-width=4", "-o", file+".o", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line := regexp.MustCompile(`(?m)^ *\d+ [0-9a-f?]{4} ([0-9A-F]+(?: [0-9A-F]+)*)[ \t]`)
	for _, m := range line.FindAllSubmatch(out, -1) {
		code, err := hex.DecodeString(strings.ReplaceAll(string(m[1]), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	return codes
}
