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

// How much text is compiled at once: optimised, for twice as much takes more than twice as long; and not, for that
// every core has its share, and memory.
const (
	unitBytes  = 1 << 20
	plainBytes = 8 << 20
)

// A unit is texts that are compiled as one.
type unit struct {
	args  []string // how
	text  string   // that includes them
	bytes int64
}

// objects compiles what Verilator has made of a design.
func (p *Program) objects(ctx context.Context, made *prebuilt, include string,
	optimise bool) (objects []string, err error) {
	texts, err := filepath.Glob(filepath.Join(p.dir, "obj", "Vbench*.cpp"))
	if err != nil {
		return nil, err
	}
	slices.Sort(texts)
	// As few units as can be: to read the headers takes longer than to compile most texts. What Verilator calls slow
	// runs once.
	plain := []string{"-O0", "-include", made.headers}
	units := []unit{{args: plain, text: "#include \"main.cpp\"\n"}}
	last := map[bool]int{} // the unit that grows, of those that are optimised and of the others
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
				// clang++ refuses headers that were compiled before the system's own have changed. Another process may
				// have removed them first.
				_ = os.Remove(made.headers + ".gch")
				_, err = p.run(ctx, made.compiler, args...)
			}
			return err
		})
	}
	return objects, g.Wait()
}

// flags are those of all that is compiled.
func flags(include string) []string {
	return []string{"-std=gnu++17", "-I", include, "-I", filepath.Join(include, "vltstd"), "-I", "obj", "-I", "bench",
		"-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0", "-w", "-pthread"}
}
