package diag

import (
	"bytes"
	"slices"
	"testing"
)

// strictness lists the severities, and how a normal and a strict list treat them.
var strictness = []struct {
	severity             Severity
	failed, strictFailed bool
	printed              string // by a strict list
}{
	{SeverityNote, false, false, "note[data-invalid]: m\n"},
	{SeverityWarning, false, true,
		"error[data-invalid]: m\n   also: n\n   also: this is a warning, which --strict makes an error\n"},
	{SeverityError, true, true, "error[data-invalid]: m\n   also: n\n"},
}

// TestStrict checks that a strict list treats warnings as errors, and nothing else, wherever they come from.
func TestStrict(t *testing.T) {
	t.Parallel()
	for _, c := range strictness {
		d := Diag{Severity: c.severity, Code: InputDataInvalid, Msg: "m"}
		if c.severity != SeverityNote {
			d.Notes = []string{"n"}
		}
		var added, strict List
		added.Add(d)
		strict.Strict = true
		strict.Diags = append(strict.Diags, added.Diags...) // joined as the lists of single steps are
		var b bytes.Buffer
		strict.Write(&b)
		if added.HasErrors() != c.failed || strict.HasErrors() != c.strictFailed || b.String() != c.printed {
			t.Errorf("%s: failed %t, strictly %t:\n%s", c.severity, added.HasErrors(), strict.HasErrors(), &b)
		}
		if told := strict.WithStrictApplied(); told[0].Level != told[0].Severity.String() ||
			strict.Diags[0].Severity != c.severity ||
			!slices.Equal(strict.Diags[0].Notes, d.Notes) {
			t.Errorf("%s: told %+v of %+v", c.severity, told, strict.Diags)
		}
	}
	if told := (&List{}).WithStrictApplied(); told == nil || len(told) > 0 {
		t.Errorf("nothing is told as %v", told)
	}
}
