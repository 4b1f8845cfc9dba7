package rtl

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// The sizes in bytes of texts that are compiled at once. Optimised units are small, because twice the text takes more
// than twice as long. Other units are larger, but small enough to give every core a share and to limit memory.
const (
	unitBytes  = 1 << 20
	plainBytes = 8 << 20
)

// A unit is a group of C++ texts that are compiled as one.
type unit struct {
	args  []string // options of the compiler
	text  string   // source that includes the texts
	bytes int64
}

// objects compiles the C++ that Verilator made from a design.
func (p *CompiledBench) objects(ctx context.Context, made *prebuilt, include string,
	optimise bool) (objects []string, err error) {
	texts, err := filepath.Glob(filepath.Join(p.dir, "obj", "Vbench*.cpp"))
	if err != nil {
		return nil, err
	}
	slices.Sort(texts)
	// There are as few units as possible, because reading the headers takes longer than compiling most texts. Code in
	// files that Verilator calls slow runs only once.
	plain := []string{"-O0", "-include", made.headers}
	units := []unit{{args: plain, text: "#include \"main.cpp\"\n"}}
	last := map[bool]int{} // by optimisation: the unit that still grows
	for _, text := range texts {
		info, err := os.Stat(text)
		if err != nil {
			return nil, err
		}
		fast := optimise && !strings.HasSuffix(text, "Slow.cpp")
		args, most := plain, int64(plainBytes)
		if fast {
			args, most = []string{"-O1"}, unitBytes
		}
		if to, there := last[fast]; fast && !there || units[to].bytes > 0 && units[to].bytes+info.Size() > most {
			last[fast], units = len(units), append(units, unit{args: args})
		}
		u := &units[last[fast]]
		u.text += fmt.Sprintf("#include \"%s\"\n", filepath.Base(text))
		u.bytes += info.Size()
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, u := range units {
		name := fmt.Sprintf("obj/unit%d", i)
		objects = append(objects, name+".o")
		if err := os.WriteFile(filepath.Join(p.dir, name+".cpp"), []byte(u.text), 0o666); err != nil {
			return nil, err
		}
		g.Go(func() error {
			args := slices.Concat(u.args, []string{"-c"}, flags(include), []string{"-o", name + ".o", name + ".cpp"})
			_, err := p.run(ctx, made.compiler, args...)
			if err != nil && ctx.Err() == nil && u.args[0] == plain[0] {
				// clang++ refuses precompiled headers after a change of the system's headers. Another process may
				// have removed them already.
				_ = os.Remove(made.headers + ".gch")
				_, err = p.run(ctx, made.compiler, args...)
			}
			return err
		})
	}
	return objects, g.Wait()
}

// flags returns the options of every compilation. include is the folder of Verilator's headers.
func flags(include string) []string {
	return []string{"-std=gnu++17", "-I", include, "-I", filepath.Join(include, "vltstd"), "-I", "obj", "-I", "bench",
		"-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0", "-w", "-pthread"}
}
