package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"hlsgen/internal/safefile"
	"hlsgen/internal/suggest"
)

// The name of the configuration file in the working folder, and the largest size of such a file in bytes.
const (
	configName = "hlsgen.yaml"
	maxConfig  = 1 << 20
)

// keys returns the names of the settings that hlsgen.yaml and the environment may have. These are the model, and the
// flags of the commands on a model except --config and --help.
func keys(root *cobra.Command) []string {
	names := []string{"model"}
	for _, c := range root.Commands() {
		if c.GroupID != onModel {
			continue
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "config" && f.Name != "help" && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		})
	}
	return names
}

// A settings holds the values of flags, and the model, that the configuration file and the environment give.
type settings struct {
	keys    []string
	texts   map[string][]string // by key
	file    string              // name of the file, as messages show it
	folder  string              // folder of the file, where its relative paths start
	dir     string              // folder where relative paths of the environment start
	fromEnv map[string]bool     // by key: the environment gave the text
	json    bool                // the file asks for JSON, even if the rest of it is wrong
	objects bool                // the file asks for JSON objects on stderr
}

// origin returns the origin of a setting, for messages: the variable of the environment, or the file and its key.
func (s *settings) origin(key string) string {
	if s.fromEnv[key] {
		return variable(key)
	}
	return s.file + ": " + key
}

// base returns the folder from which the relative path in a setting starts.
func (s *settings) base(key string) string {
	if s.fromEnv[key] {
		return s.dir
	}
	return s.folder
}

// settings reads the file at path, or hlsgen.yaml in the working folder if path is empty and the file exists.
// Variables of the environment replace the file's settings. With an error, the settings still tell whether JSON is
// asked for.
func (w world) settings(path string, keys []string) (*settings, error) {
	s := &settings{keys: keys, file: configName, folder: w.dir, dir: w.dir, fromEnv: map[string]bool{}}
	if w.plain {
		return s, nil
	}
	if err := w.verifyVariables(keys); err != nil {
		return s, err
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if path != "" {
		s.file, s.folder = path, filepath.Dir(under(w.dir, path))
	}
	text, err := safefile.ReadRegularFile(under(w.dir, s.file), maxConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path == "":
	case err != nil && !errors.Is(err, safefile.ErrEmptyFile):
		return s, usagef("%v", err)
	default:
		if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
			return s, usagef("%s: %v", s.file, err)
		}
		s.json, s.objects = v.GetBool("json"), v.GetString("log-format") == logJSON
		if err := s.verify(v); err != nil {
			return s, err
		}
	}
	for _, key := range keys {
		if text := w.env(variable(key)); text != "" {
			v.Set(key, text)
			s.fromEnv[key] = true
		}
	}
	// Without a hook, a text becomes a list of one text. The flag decides what a comma means.
	if err := v.Unmarshal(&s.texts, viper.DecodeHook(nil)); err != nil {
		return s, usagef("%s: %v", s.file, err)
	}
	return s, nil
}

// several lists the keys that may have several values, with an example of each.
var several = map[string]string{"dim": "[T=520, N=4]", "initial-state": "[h0=zero, c0=quant]",
	"shape": `["x=1,3,48,192", "y=1,8"]`}

// verify reports every unknown key of the file, and every list where the key takes a single value.
func (s *settings) verify(v *viper.Viper) error {
	var wrong []string
	all := v.AllSettings()
	for _, key := range slices.Sorted(slices.Values(v.AllKeys())) {
		top, _, nested := strings.Cut(key, ".")
		_, list := all[key].([]any)
		switch {
		case !slices.Contains(s.keys, top):
			wrong = append(wrong, fmt.Sprintf("%s: unknown key %q%s", s.file, key, s.unknown(top)))
		case several[top] != "" && nested:
			wrong = append(wrong, fmt.Sprintf("%s: %s: want a list, such as %s", s.file, top, several[top]))
		case top == "max-use" && nested:
			wrong = append(wrong, fmt.Sprintf("%s: max-use: want one text, such as lut=0.7,bram=0.9", s.file))
		case several[top] == "" && (nested || list):
			wrong = append(wrong, fmt.Sprintf("%s: %s: want a single value", s.file, top))
		}
	}
	if wrong = slices.Compact(wrong); wrong != nil {
		return usagef("%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// unknown returns a remark with the key that the user may have meant.
func (s *settings) unknown(key string) string {
	if f := foreignFlag(key); f != nil {
		return f.meaning(func(flag string) string { return flag })
	}
	return suggest.DidYouMeanSuffix(key, s.keys)
}

// configure sets the flags that the command line leaves open, from the environment or the file. It returns the path of
// the model, from the argument or from a setting. The path is empty if neither names a model.
func (a *app) configure(cmd *cobra.Command, args []string) (model string, err error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return "", err
	}
	if file == "" && !a.plain {
		file = a.env("HLSGEN_CONFIG")
	}
	s, err := a.settings(file, keys(cmd.Root()))
	a.byFile, a.objectsByFile = s.json, s.objects
	if err != nil {
		return "", err
	}
	if err := s.apply(cmd.Flags()); err != nil {
		return "", err
	}
	switch named := s.texts["model"]; {
	case len(args) > 1 && cmd.Args == nil: // else the command has looked at them
		return "", usagef("%s takes one model, not %d", cmd.CommandPath(), len(args))
	case len(args) >= 1:
		return under(a.dir, args[0]), nil
	case len(named) == 1 && named[0] != "":
		return under(s.base("model"), named[0]), nil
	}
	return "", nil
}

// apply sets the flags that the command line leaves open to their settings.
func (s *settings) apply(flags *pflag.FlagSet) error {
	for _, key := range s.keys {
		f := flags.Lookup(key)
		if f == nil || f.Changed {
			continue
		}
		if v, ok := f.Value.(*value); ok {
			v.base = s.base(key)
		}
		for _, text := range s.texts[key] {
			if text == "" {
				continue
			}
			if err := f.Value.Set(text); err != nil {
				return usagef("%s: %q: %v", s.origin(key), text, err)
			}
		}
	}
	return nil
}
