package folding

import "testing"

// TestUse holds that a budget is written as briefly as it can be given, and reads back to itself.
func TestUse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"guideline":                    "guideline",
		"0.8":                          "0.8",
		"lut=0.7,bram=0.9":             "bram=0.9",
		"0.5,dsp=1":                    "0.5,dsp=1",
		"0.9,lut=0.5,dsp=0.6":          "0.9,lut=0.5,dsp=0.6",
		"0.9,lut=0.7,lutram=0.25,ff=1": "0.9,lut=0.7,lutram=0.25,ff=1",
	} {
		u, err := ParseMaxUse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := u.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if again, err := ParseMaxUse(u.String()); again != u || err != nil {
			t.Errorf("%s: %+v comes back as %+v, %v", text, u, again, err)
		}
	}
	if got := (Use{}).String(); got != Guideline {
		t.Error(got)
	}
}
