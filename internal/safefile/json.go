package safefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// SimplifyJSONError turns an error of encoding/json into a message for users, without the names of Go types. It returns
// other errors unchanged.
func SimplifyJSONError(err error) error {
	typed, syntax := new(json.UnmarshalTypeError), new(json.SyntaxError)
	switch {
	case errors.As(err, &typed) && typed.Field == "":
		return fmt.Errorf("it holds JSON of another form: %s", kind(typed.Value))
	case errors.As(err, &typed):
		return fmt.Errorf("its %q is not what belongs there: %s", typed.Field, kind(typed.Value))
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON: %w, at byte %d", err, syntax.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is no JSON: it ends too early")
	}
	return err
}

// kind returns a kind of JSON value, as json.UnmarshalTypeError names it, with an article for messages: "a number".
func kind(value string) string {
	switch value {
	case "bool":
		return "a truth value"
	case "array", "object":
		return "an " + value
	}
	return "a " + value
}
