// Command wheels writes the wheels of the project, for Python's pip: hlsgen-driver, whose module hlsgen_driver is
// accelerator.py of every build.
//
//	go run ./cmd/wheels VERSION FOLDER
//
// It takes VERSION as git describe prints it, and runs in the module's root, which has the licence.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"hlsgen/internal/wheel"
	"hlsgen/templates/deploy"
)

// main writes the wheels, or ends with code 1 and the reason.
func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/wheels VERSION FOLDER")
		os.Exit(2)
	}
	path, err := write(os.Args[1], os.Args[2], ".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

// write writes the wheel of the driver into a folder, and returns its path. root is the module's root.
func write(version, folder, root string) (path string, err error) {
	d, err := driver(version, root)
	if err != nil {
		return "", err
	}
	text, err := d.Bytes()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
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
	for _, name := range []string{"LICENSE", "NOTICE"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		d.Licences = append(d.Licences, wheel.File{Path: name, Data: text})
	}
	return d, nil
}
