package templates

import (
	"regexp"
	"strings"
	"testing"
)

func TestTopName(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"tfc-w1a1":                  "tfc_w1a1_top",
		"":                          "network_top",
		"___":                       "network_top",
		"4bit":                      "net_4bit_top",
		"int":                       "int_top",
		"a__b..c":                   "a_b_c_top",
		"x\"); system(\"rm -rf /":   "x_system_rm_rf_top",
		"модель":                    "network_top",
		strings.Repeat("long_", 40): strings.Repeat("long_", 8) + "top",
	} {
		got := topName(model)
		if got != want || !IsIdentifier(got) {
			t.Errorf("%q: got %q, want %q", model, got, want)
		}
	}
}

func TestIdentifier(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"MVAU_0": true, "a": true, "a1": true, "a_b_1": true,
		"": false, "1a": false, "_a": false, "a_": false, "a__b": false, "a-b": false, "a b": false, "ä": false,
	} {
		if IsIdentifier(name) != want {
			t.Errorf("%q: got %v", name, !want)
		}
	}
}

// TestComment checks that no name can end a comment of either form, or join it to the next line, after it was cleaned.
func TestComment(t *testing.T) {
	t.Parallel()
	plain := regexp.MustCompile(`^[ -~]*$`)
	for text, want := range map[string]string{
		"/fc1/MatMul_output_0": "/fc1/MatMul_output_0",
		"a*/ int x; /*":        "a* / int x; / *",
		"ends\\":               "ends|",
		"ends??/":              "ends? ?/",
		"two\nlines\r\n":       "two lines",
		"tab\tand ü":           "tab and ?",
		"**//":                 "** //",
	} {
		if got := comment(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{strings.Repeat("x", 5000), strings.Repeat("*/", 300), strings.Repeat("?", 99),
		"\x00\xff\u2028"} {
		got := comment(text)
		for _, bad := range []string{"*/", "/*", "??", "\\"} {
			if strings.Contains(got, bad) || len(got) > 100 || !plain.MatchString(got) {
				t.Errorf("%q: got %q", text, got)
			}
		}
	}
}

func TestToolWord(t *testing.T) {
	t.Parallel()
	for word, ok := range map[string]bool{
		"xczu7ev-ffvc1156-2-e": true, "xc7z020clg400-1": true,
		"": false, "a b": false, "[exec ls]": false, "a;b": false, "$x": false, "-force": false, "a\nb": false,
		"{": false,
	} {
		if err := toolWord("part", word); (err == nil) != ok {
			t.Errorf("%q: %v", word, err)
		}
	}
}
