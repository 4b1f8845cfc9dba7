package templates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hlsgen/internal/outputdir"
)

// A CSimOptions says with which compiler and limits the C simulation of a project is compiled and run. Its zero value
// is ready to use.
type CSimOptions struct {
	CXX     string        // compiler with flags; if empty, the first found of $CXX, g++, clang++ and c++
	Dir     string        // folder for the project; if empty, a temporary one that is removed
	Timeout time.Duration // for compiling and running together; 10 minutes if zero
}

// A CSimResult is the result of a C simulation. A layer that ends the program, such as by reading an empty stream,
// counts as failed, and no later layer has a verdict. A result that has not passed has at least one verdict that is not
// OK.
type CSimResult struct {
	Passed   bool
	Verdicts []LayerVerdict
	Words    map[string][]string // per AXI output: its words in hex, frame after frame
	Log      string
}

// A LayerVerdict is the result of a C simulation for one layer, or for the whole network under its top function's name.
// Message names the stream, frame and word of the first difference.
type LayerVerdict struct {
	Name    string
	OK      bool
	Message string
}

// A NoCompilerError is the error of RunCSim if there is no C++ compiler. Tried lists the commands that it looked for.
type NoCompilerError struct{ Tried []string }

// Error returns a message with the commands that were tried.
func (e *NoCompilerError) Error() string {
	return "no C++ compiler found: tried " + strings.Join(e.Tried, ", ")
}

// compiler returns the compiler's command and flags. The error is a *NoCompilerError.
func (c CSimOptions) compiler() ([]string, error) {
	tried := []string{"g++", "clang++", "c++"}
	if env := os.Getenv("CXX"); strings.TrimSpace(env) != "" {
		tried = []string{env} // only the user's compiler
	}
	if c.CXX != "" {
		tried = []string{c.CXX}
	}
	for _, t := range tried {
		if words := strings.Fields(t); len(words) > 0 {
			if _, err := exec.LookPath(words[0]); err == nil {
				return words, nil
			}
		}
	}
	return nil, &NoCompilerError{tried}
}

// RunCSim writes a project, compiles its test bench and runs it. The error is a *NoCompilerError, or says that the
// project could not be written, compiled in time, or run. A wrong output is no error but a CSimResult that has not
// passed.
func RunCSim(ctx context.Context, files ProjectFiles, c CSimOptions) (*CSimResult, error) {
	cxx, err := c.compiler()
	if err != nil {
		return nil, err
	}
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	if c.Dir == "" {
		dir, release, err := outputdir.MakeScratchFolder(scratch)
		if err != nil {
			return nil, err
		}
		defer release()
		c.Dir = dir
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, err
	}
	if err := files.write(ctx, c.Dir); err != nil {
		return nil, err
	}
	dir := filepath.Join(c.Dir, "hls")
	if err := os.MkdirAll(filepath.Join(dir, "build"), 0o777); err != nil {
		return nil, err
	}
	if err := build(ctx, dir, cxx, files); err != nil {
		return nil, err
	}

	var stdout, stderr bytes.Buffer
	program := command(ctx, dir, []string{filepath.Join(dir, "build", "csim"), "tb/data", "build/output.txt"})
	program.Stdout, program.Stderr = &stdout, &stderr
	err = program.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("simulate C++: %w", context.Cause(ctx))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("simulate C++: %w", err)
	}
	o := outcome(stdout.String(), stderr.String(), err)
	words, err := os.ReadFile(filepath.Join(dir, "build", "output.txt"))
	if err != nil && (o.Passed || !errors.Is(err, os.ErrNotExist)) {
		return nil, fmt.Errorf("simulate C++: %w", err)
	}
	for line := range strings.Lines(string(words)) {
		if port, word, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			o.Words[port] = append(o.Words[port], word)
		}
	}
	return o, nil
}

// scratch is the name of the temporary folders of C simulations.
const scratch = "hlsgen-csim"

// RemoveCSimFolders removes the temporary folders of RunCSim. A process calls it that ends before RunCSim has returned.
func RemoveCSimFolders() error { return outputdir.RemoveOwnScratchFolders(scratch) }

// units are the translation units of a C simulation, with their levels of optimisation. The test bench would take
// longer to optimise than it takes to run.
var units = []struct{ path, level string }{{"top.cpp", "-O1"}, {"layers.cpp", "-O1"}, {"tb/tb.cpp", "-Og"}}

// build compiles the project's translation units in the folder dir in parallel, and links them. cxx is the compiler
// with the user's flags, which override the level of optimisation.
func build(ctx context.Context, dir string, cxx []string, files ProjectFiles) error {
	var (
		wg      sync.WaitGroup
		objects []string
		errs    = make([]error, len(units))
	)
	for i, unit := range units {
		if files.ContentsOf("hls/"+unit.path) == nil {
			continue
		}
		object := filepath.Join("build", strings.TrimSuffix(filepath.Base(unit.path), ".cpp")+".o")
		objects = append(objects, object)
		args := append([]string{cxx[0], unit.level}, cxx[1:]...)
		args = append(args, "-std=c++14", "-Wno-unknown-pragmas", "-Icsim", "-c", "-o", object, unit.path)
		wg.Go(func() { errs[i] = compile(ctx, dir, args) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	link := append(cxx[:len(cxx):len(cxx)], "-pthread", "-o", filepath.Join("build", "csim"))
	return compile(ctx, dir, append(link, objects...))
}

// compile runs the compiler on the unit that is its last argument. An error holds the first lines of the output.
func compile(ctx context.Context, dir string, args []string) error {
	out, err := command(ctx, dir, args).CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("compile %s: %w", args[len(args)-1], context.Cause(ctx))
	}
	if err != nil {
		if len(out) > 4000 {
			out = append(out[:4000], " ..."...)
		}
		return fmt.Errorf("compile %s with %s: %w\n%s", args[len(args)-1], args[0], err, out)
	}
	return nil
}

// command returns NewKillableCommand for a compiler. A compiler that is killed leaves its temporary files, so they are
// put into the build folder.
func command(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := NewKillableCommand(ctx, dir, args)
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "build"))
	return cmd
}

// NewKillableCommand returns a command of the program args[0] that runs in dir. When ctx ends, the command is killed
// with all processes that it started. On systems without process groups, only the program itself is killed.
func NewKillableCommand(ctx context.Context, dir string, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	together(cmd)
	return cmd
}
