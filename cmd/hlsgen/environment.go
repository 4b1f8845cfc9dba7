package main

import (
	"fmt"
	"slices"
	"strings"

	"hlsgen/internal/suggest"
)

// prefix begins the names of all environment variables of hlsgen.
const prefix = "HLSGEN_"

// others lists the variables that are no settings of a command. docs/cli.md shows this table.
var others = []struct{ name, what string }{
	{"HLSGEN_CONFIG", "the configuration file, as `--config`"},
	{"HLSGEN_DEBUG", "not empty: log every stage and every better design to stderr, and show where an " +
		"internal error happened"},
	{"HLSGEN_HLS", "`synth` and `synthesise.sh`: the program for HLS, `vitis_hls` or `vitis-run`"},
	{"HLSGEN_VIVADO", "`synth` and `synthesise.sh`: the program for synthesis; `synthesise.sh`: empty for none"},
	{"HLSGEN_SHARED", "tests: a folder with real models"},
	{"HLSGEN_LONG", "tests: more random cases"},
	{"HLSGEN_FULL", "tests: a tool that is missing is an error"},
	{"HLSGEN_CI", "tests: those that need services of a system, too"},
	{"HLSGEN_PICTURES", "tests: a folder for pictures that they draw"},
}

// variable returns the name of the environment variable for a setting: HLSGEN_ACC_BITS for acc-bits.
func variable(key string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// verifyVariables returns an error that names every variable with our prefix that hlsgen does not know.
func (w world) verifyVariables(keys []string) error {
	if w.environ == nil {
		return nil
	}
	var known, wrong []string
	for _, key := range keys {
		known = append(known, variable(key))
	}
	for _, o := range others {
		known = append(known, o.name)
	}
	for _, v := range w.environ() {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, prefix) || value == "" || slices.Contains(known, name) {
			continue
		}
		hint := suggest.DidYouMeanSuffix(name, known)
		if f := foreignFlag(strings.TrimPrefix(name, prefix)); f != nil {
			hint = f.meaning(variable)
		}
		wrong = append(wrong, fmt.Sprintf("there is no setting %s%s", name, hint))
	}
	if wrong == nil {
		return nil
	}
	slices.Sort(wrong)
	return usagef("%s", strings.Join(wrong, "\n"))
}
