package safefile

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// TestWorded checks that errors of JSON name no Go types.
func TestWorded(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name string `json:"name"`
	}
	for text, want := range map[string]string{
		`[]`:                     "it holds JSON of another form: an array",
		`3`:                      "it holds JSON of another form: a number",
		`true`:                   "it holds JSON of another form: a truth value",
		`{"in": {"name": {}}}`:   `its "in.name" is not what belongs there: an object`,
		`{"count": "many"}`:      `its "count" is not what belongs there: a string`,
		`{"count": 3.5}`:         `its "count" is not what belongs there: a number 3.5`,
		`{"count"`:               "it is no JSON: unexpected end of JSON input, at byte 8",
		`{]`:                     "it is no JSON: invalid character ']'",
		`{"count": 3, "in": {}}`: "",
	} {
		var to struct {
			In    inner `json:"in"`
			Count int   `json:"count"`
		}
		err := SimplifyJSONError(json.Unmarshal([]byte(text), &to))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := SimplifyJSONError(json.NewDecoder(strings.NewReader("")).Decode(new(int))); err == nil ||
		err.Error() != "it is no JSON: it ends too early" || SimplifyJSONError(io.EOF) == io.EOF ||
		SimplifyJSONError(os.ErrClosed) != os.ErrClosed {
		t.Error(err)
	}
}
