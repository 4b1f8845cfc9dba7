package synthtest

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"hlsgen/templates"
)

// streams is hls_stream.h with declarations only. So the compiler can assume nothing about the words.
const streams = `#ifndef SYNTHTEST_STREAM_H
#define SYNTHTEST_STREAM_H
namespace hls {
template <class T, int DEPTH = 0> class stream {
public:
    stream();
    explicit stream(const char*);
    stream(const stream&) = delete;
    T read();
    void read(T&);
    void write(const T&);
    bool empty() const;
};
}
#endif
`

var (
	// loopHead matches the head of a loop, and the pragma behind it.
	loopHead = regexp.MustCompile(`(?m)\b(for|while) \((.*\{)\n( *#pragma HLS (PIPELINE|UNROLL)\b.*)$`)
	factor   = regexp.MustCompile(`\bfactor=(\w+)`)
	// shimLoop matches a loop of the project's ap_int.h over the parts of a word with more than 64 bits. Hardware has
	// no parts.
	shimLoop = regexp.MustCompile(`\b(for|while) \(`)
	// shimFail matches the function that ends a simulation. Hardware has no such function.
	shimFail = regexp.MustCompile(`(?s)(\binline void fail\([^)]*\)) \{.*?\n\}`)
)

// hinted returns a loop with its pragma translated to clang's.
func hinted(loop string) string {
	m := loopHead.FindStringSubmatch(loop)
	hint := "unroll(disable)"
	if f := factor.FindStringSubmatch(m[3]); m[4] == "UNROLL" && f != nil {
		hint = "unroll_count(" + f[1] + ")"
	} else if m[4] == "UNROLL" {
		hint = "unroll(full)"
	}
	return fmt.Sprintf("_Pragma(\"clang loop %s\") %s (%s\n%s", hint, m[1], m[2], m[3])
}

// prepare returns a copy of a project that clang reads in the same way as synthesis reads the project.
func prepare(files templates.ProjectFiles) (templates.ProjectFiles, error) {
	var ready templates.ProjectFiles
	for _, f := range files {
		text := string(f.Data)
		switch {
		case f.Path == "hls/csim/hls_stream.h":
			text = streams
		case f.Path == "hls/csim/ap_int.h":
			if !shimFail.MatchString(text) {
				return nil, fmt.Errorf("%s has no function fail", f.Path)
			}
			text = shimFail.ReplaceAllString(text, "$1 { __builtin_unreachable(); }")
			text = shimLoop.ReplaceAllString(text, `_Pragma("clang loop unroll(full)") $1 (`)
		case strings.HasPrefix(f.Path, "hls/tb/"):
			continue
		case path.Ext(f.Path) == ".hpp" || path.Ext(f.Path) == ".cpp":
			text = loopHead.ReplaceAllStringFunc(text, hinted)
		}
		ready = append(ready, templates.GeneratedFile{Path: f.Path, Data: []byte(text)})
	}
	return ready, nil
}
