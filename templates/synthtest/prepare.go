package synthtest

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"hlsgen/templates"
)

// streams is hls_stream.h with declarations alone: to the compiler, a word comes from anywhere and goes anywhere.
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
	// loopHead is where a loop begins, and the pragma behind it.
	loopHead = regexp.MustCompile(`(?m)\b(for|while) \((.*\{)\n( *#pragma HLS (PIPELINE|UNROLL)\b.*)$`)
	factor   = regexp.MustCompile(`\bfactor=(\w+)`)
	// shimLoop is a loop of our ap_int: a word of more than 64 bits has several parts. In hardware it is one word.
	shimLoop = regexp.MustCompile(`\b(for|while) \(`)
	// shimFail ends a simulation. Hardware goes on.
	shimFail = regexp.MustCompile(`(?s)(\binline void fail\([^)]*\)) \{.*?\n\}`)
)

// hinted is a loop with what its pragma asks, in clang's words.
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

// prepare is a copy of a project that clang reads as synthesis reads the project.
func prepare(files templates.Files) (templates.Files, error) {
	var ready templates.Files
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
		ready = append(ready, templates.File{Path: f.Path, Data: []byte(text)})
	}
	return ready, nil
}
