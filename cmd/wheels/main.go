// Command wheels writes the wheels of the project, for Python's pip: hlsgen-driver, whose module hlsgen_driver is
// accelerator.py of every build, and hlsgen, the program with its Python package, one wheel for each platform.
//
//	go run ./cmd/wheels VERSION FOLDER [PLATFORM ...]
//
// It takes VERSION as git describe prints it, and runs in the module's root, which has the licence. A PLATFORM is
// linux/amd64 or another that package hlsgen.go lists, or own, this machine's, or all. Without one it writes the driver
// alone.
//
//	main.go    the driver's wheel, and the command
//	hlsgen.go  the wheels of hlsgen
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"hlsgen/internal/wheel"
	"hlsgen/templates/deploy"
)

// main writes the wheels, or ends with code 1 and the reason.
func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/wheels VERSION FOLDER [PLATFORM ...]")
		os.Exit(2)
	}
	paths, err := write(context.Background(), os.Args[1], os.Args[2], ".", os.Args[3:])
	for _, path := range paths {
		fmt.Println(path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// write writes the driver's wheel and those of platforms into a folder, and returns their paths. root is the module's
// root.
func write(ctx context.Context, version, folder, root string, platforms []string) (paths []string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	d, err := driver(version, root)
	if err != nil {
		return nil, err
	}
	path, err := save(d, folder)
	if err != nil {
		return nil, err
	}
	paths = append(paths, path)
	rows, err := chosen(platforms)
	for _, p := range rows {
		d, err := program(ctx, p, version, root)
		if err != nil {
			return paths, err
		}
		if path, err = save(d, folder); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, err
}

// save writes a wheel into a folder, and returns its path.
func save(d *wheel.Distribution, folder string) (path string, err error) {
	text, err := d.Bytes()
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, d.FileName())
	return path, os.WriteFile(path, text, 0o644)
}

// description is shown by package indexes.
const description = `The driver in Python of accelerators that hlsgen makes of quantised neural networks: a
bitstream on a board with PYNQ, or the generated C++ as a library. It is the file
deploy/accelerator.py of a build, as a module:

    from hlsgen_driver import Accelerator
    net = Accelerator("net.bit", host="deploy/host/host.json")
    y = net.predict(x)
`

// driver returns the distribution of the driver, with a version as git describe prints it.
func driver(version, root string) (*wheel.Distribution, error) {
	module, err := deploy.PythonDriver()
	if err != nil {
		return nil, err
	}
	if version, err = wheel.VersionOf(version); err != nil {
		return nil, err
	}
	d := &wheel.Distribution{Name: "hlsgen-driver", Version: version, Licence: "Apache-2.0",
		Summary:     "Runs quantised neural networks on FPGA accelerators that hlsgen made",
		Description: description, RequiresPython: ">=3.8", Requires: []string{"numpy>=1.17"},
		Platforms: []string{"any"}, Files: []wheel.File{{Path: "hlsgen_driver.py", Data: module}}}
	d.Licences, err = licences(root, "LICENSE", "NOTICE")
	return d, err
}

// licences returns files of the module's root as texts of licences.
func licences(root string, names ...string) (files []wheel.File, err error) {
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, wheel.File{Path: name, Data: text})
	}
	return files, nil
}
