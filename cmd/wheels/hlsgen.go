package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hlsgen/internal/wheel"
)

// A platform is a system for which there is a wheel of hlsgen.
type platform struct {
	os, arch string
	tags     []string // names of the platforms on which the program runs, as pip has them
}

// platforms lists the wheels. The program is static, so that one for Linux runs with either C library. Go 1.26 needs
// macOS 12.
var platforms = []platform{
	{"linux", "amd64", []string{"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	{"linux", "arm64", []string{"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}},
	{"windows", "amd64", []string{"win_amd64"}},
}

// String returns the platform's name.
func (p platform) String() string { return p.os + "/" + p.arch }

// chosen returns the platforms with these names.
func chosen(names []string) (rows []platform, err error) {
	for _, name := range names {
		if name == "all" {
			return platforms, nil
		}
		if name == "own" {
			name = runtime.GOOS + "/" + runtime.GOARCH
		}
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no wheel for %q: want own, all, or one of %v", name, platforms)
		}
		rows = append(rows, platforms[i])
	}
	return rows, nil
}

// packaged is the folder of the Python package, from the module's root.
const packaged = "python/hlsgen"

// about is shown by package indexes.
const about = `hlsgen turns a quantised ONNX network (QONNX or QCDQ, as Brevitas and others write it) into a
streaming FPGA accelerator, and checks it bit for bit:

    import hlsgen
    m = hlsgen.load("net.onnx")
    m.check()
    y = m.predict(x)
    d = m.build("pynq-z1", fps=10_000)

The wheel has the program hlsgen, which is on the PATH after it was installed, and the Python package.
`

// program returns the distribution of hlsgen for a platform: the program, which it compiles, and the Python package.
func program(ctx context.Context, p platform, version, root string) (*wheel.Distribution, error) {
	name, err := wheel.VersionOf(version)
	if err != nil {
		return nil, err
	}
	binary, err := compiled(ctx, p, version, root)
	if err != nil {
		return nil, err
	}
	d := &wheel.Distribution{Name: "hlsgen", Version: name, Licence: "Apache-2.0",
		Summary:     "Quantised neural networks as streaming FPGA accelerators, checked bit for bit",
		Description: about, RequiresPython: ">=3.9",
		Requires: []string{"numpy>=1.20", "hlsgen-driver", `pandas; extra == "pandas"`, `matplotlib; extra == "plot"`,
			`onnx; extra == "onnx"`, `torch; extra == "torch"`},
		Extras: []string{"pandas", "plot", "onnx", "torch"}, Platforms: p.tags,
		Scripts: map[string]string{"hlsgen": "hlsgen.__main__:main"}}
	modules, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(packaged), "*"))
	if err != nil {
		return nil, err
	}
	for _, path := range modules {
		base := filepath.Base(path)
		if filepath.Ext(base) != ".py" && base != "py.typed" {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if base == "_version.py" {
			text = fmt.Appendf(nil, "\"\"\"The version of the package.\"\"\"\n\n__version__ = %q\n__program__ = %q\n",
				name, version)
		}
		d.Files = append(d.Files, wheel.File{Path: "hlsgen/" + base, Data: text})
	}
	file := "hlsgen/bin/hlsgen"
	if p.os == "windows" {
		file += ".exe"
	}
	d.Files = append(d.Files, wheel.File{Path: file, Data: binary, Mode: 0o755})
	d.Licences, err = licences(root, "LICENSE", "NOTICE", "THIRD_PARTY_LICENSES")
	return d, err
}

// compiled returns the program for a platform.
func compiled(ctx context.Context, p platform, version, root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "hlsgen-wheel-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, "hlsgen")
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w -X main.release="+version,
		"-o", to, "./cmd/hlsgen")
	c.Dir = root
	c.Env = append(c.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	if said, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w\n%s", p, err, strings.TrimSpace(string(said)))
	}
	return os.ReadFile(to)
}
