package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"hlsgen/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"
)

// settings is what hlsgen.yaml and the environment may say: texts for the flags of the same names, and the model.
// Commands take those that they have a flag for.
type settings struct {
	Model       string   `mapstructure:"model"`
	Board       string   `mapstructure:"board"`
	FPS         string   `mapstructure:"fps"`
	Interval    string   `mapstructure:"interval"`
	Latency     string   `mapstructure:"latency"`
	Least       string   `mapstructure:"least"`
	SearchTime  string   `mapstructure:"search-time"`
	Clock       string   `mapstructure:"clock"`
	MaxUse      string   `mapstructure:"max-use"`
	OverBudget  string   `mapstructure:"over-budget"`
	IO          string   `mapstructure:"io"`
	Folding     string   `mapstructure:"folding"`
	FIFO        string   `mapstructure:"fifo"`
	Cost        string   `mapstructure:"cost"`
	Dim         []string `mapstructure:"dim"`
	InputType   string   `mapstructure:"input-type"`
	InputQuant  string   `mapstructure:"input-quant"`
	LSTMConfig  string   `mapstructure:"lstm-config"`
	AccBits     string   `mapstructure:"acc-bits"`
	Strict      string   `mapstructure:"strict"`
	Verify      string   `mapstructure:"verify"`
	NoCSim      string   `mapstructure:"no-csim"`
	Out         string   `mapstructure:"out"`
	Force       string   `mapstructure:"force"`
	DumpPasses  string   `mapstructure:"dump-passes"`
	PassesUntil string   `mapstructure:"passes-until"`
	JSON        string   `mapstructure:"json"`
	Input       string   `mapstructure:"input"`
	Output      string   `mapstructure:"output"`
	Engine      string   `mapstructure:"engine"`
	Trace       string   `mapstructure:"trace"`
	TraceVCD    string   `mapstructure:"trace-vcd"`
	Timeline    string   `mapstructure:"timeline"`
	Decode      string   `mapstructure:"decode"`
	Compare     string   `mapstructure:"compare"`
	Explain     string   `mapstructure:"explain"`
	Bound       string   `mapstructure:"bound"`
	Pareto      string   `mapstructure:"pareto"`
	Points      string   `mapstructure:"points"`
	Memory      string   `mapstructure:"memory"`
	Compute     string   `mapstructure:"compute"`
	Jobs        string   `mapstructure:"jobs"`
	Collect     string   `mapstructure:"collect"`
}

// keys are the names of the settings.
var keys = func() (names []string) {
	for f := range reflect.TypeFor[settings]().Fields() {
		names = append(names, f.Tag.Get("mapstructure"))
	}
	return names
}()

// texts are the values of the setting of that name, none where it is not set.
func (s *settings) texts(key string) []string {
	switch v := reflect.ValueOf(s).Elem().Field(slices.Index(keys, key)).Interface().(type) {
	case []string:
		return v
	case string:
		if v != "" {
			return []string{v}
		}
	}
	return nil
}

const (
	configName = "hlsgen.yaml"
	maxConfig  = 1 << 20
)

// A config is the settings and where they are from.
type config struct {
	settings
	file    string          // shown name of the file
	folder  string          // of the file: its relative paths start there
	fromEnv map[string]bool // by key
}

// origin says where the setting is from.
func (c *config) origin(key string) string {
	if c.fromEnv[key] {
		return variable(key)
	}
	return c.file + ": " + key
}

// base is where the setting's relative path starts.
func (c *config) base(key, dir string) string {
	if c.fromEnv[key] {
		return dir
	}
	return c.folder
}

// config reads the file at path, or hlsgen.yaml in the working folder if there is one, and what the environment sets
// instead.
func (a *app) config(path string) (*config, error) {
	if err := a.verifyVariables(); err != nil {
		return nil, err
	}
	c := &config{file: configName, folder: a.dir, fromEnv: map[string]bool{}}
	v := viper.New()
	v.SetConfigType("yaml")
	if path != "" {
		c.file, c.folder = path, filepath.Dir(under(a.dir, path))
	}
	text, err := readConfig(under(a.dir, c.file))
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == "":
	case err != nil:
		return nil, usagef("%v", err)
	default:
		if err := v.ReadConfig(strings.NewReader(text)); err != nil {
			return nil, usagef("%s: %v", c.file, err)
		}
		a.byFile = v.GetBool("json")
		if err := c.verify(v); err != nil {
			return nil, err
		}
	}
	for _, key := range keys {
		if text := a.env(variable(key)); text != "" {
			v.Set(key, text)
			c.fromEnv[key] = true
		}
	}
	if err := v.UnmarshalExact(&c.settings); err != nil {
		return nil, usagef("%s: %v", c.file, err)
	}
	return c, nil
}

func readConfig(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return "", fmt.Errorf("%s is no configuration file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig))
	return string(b), err
}

// verify reports every key of the file that is unknown, and every value that is not a single one.
func (c *config) verify(v *viper.Viper) error {
	var wrong []string
	all := v.AllSettings()
	found := v.AllKeys()
	slices.Sort(found)
	for _, key := range found {
		top, _, nested := strings.Cut(key, ".")
		_, list := all[key].([]any)
		switch {
		case !slices.Contains(keys, top):
			wrong = append(wrong, fmt.Sprintf("%s: unknown key %q%s", c.file, key, unknownKey(top)))
		case top == "dim" && nested:
			wrong = append(wrong, fmt.Sprintf("%s: dim: want a list, such as [T=520, N=4]", c.file))
		case top == "max-use" && nested:
			wrong = append(wrong, fmt.Sprintf("%s: max-use: want one text, such as lut=0.7,bram=0.9", c.file))
		case top != "dim" && (nested || list):
			wrong = append(wrong, fmt.Sprintf("%s: %s: want a single value", c.file, top))
		}
	}
	if wrong = slices.Compact(wrong); wrong != nil {
		return usagef("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// unknownKey says which key may be meant.
func unknownKey(key string) string {
	if f := foreignFlag(key); f != nil {
		return f.meaning(func(flag string) string { return flag })
	}
	return suggest.Meant(key, keys)
}

// configure gives the command's flags that the command line leaves open what the environment or the file says, and
// returns the model: the argument, a setting, or nothing.
func (a *app) configure(cmd *cobra.Command, args []string) (model string, err error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return "", err
	}
	if file == "" {
		file = a.env("HLSGEN_CONFIG")
	}
	c, err := a.config(file)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		f := cmd.Flags().Lookup(key)
		if f == nil || f.Changed {
			continue
		}
		if p, ok := f.Value.(rooted); ok {
			p.root(c.base(key, a.dir))
		}
		for _, text := range c.texts(key) {
			if err := f.Value.Set(text); err != nil {
				return "", usagef("%s: %q: %v", c.origin(key), text, err)
			}
		}
	}
	switch {
	case len(args) > 1:
		return "", usagef("%s takes one model, not %d", cmd.CommandPath(), len(args))
	case len(args) == 1:
		return under(a.dir, args[0]), nil
	case c.Model != "":
		return under(c.base("model", a.dir), c.Model), nil
	}
	return "", nil
}
