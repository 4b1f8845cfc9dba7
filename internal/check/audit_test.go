package check_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hlsgen/internal/check"
	"hlsgen/internal/diag"
	"hlsgen/internal/options"
	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
)

func audited(t *testing.T, model, bits, data string) (*check.Result, *diag.List) {
	t.Helper()
	asked, err := options.ParseAccBits(bits)
	if err != nil {
		t.Fatal(err)
	}
	d := &diag.List{}
	c, err := check.Run(context.Background(),
		check.Options{Source: options.Source{Model: model, SampleFiles: options.SampleFiles{Data: data}},
			AccBits: asked}, d)
	if err != nil || c.Imported.Model == nil {
		t.Fatal(model, err, d.Diags)
	}
	return c, d
}

// TestAuditOfA2Q: networks keep the promise that they were trained for; one that was not trained so, which is what an
// export looks like that has lost its cap, does not, and says what may have happened.
func TestAuditOfA2Q(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	shared := filepath.Join(tier.NeedsShared(t), "models/brevitas")
	for _, c := range []struct {
		name, bits string
		fits       bool
	}{
		{"a2q-base-cnn-w4a4", "hidden=10", false}, {"a2q-base-cnn-w4a4", "hidden=14", true},
		{"a2q-base-cnn-w4a4", "hidden=10,MVAU_1=13,MVAU_2=14,MVAU_3=13", true},
		{"a2q-cnn-w4a4-p10", "hidden=10", true}, {"a2q-cnn-w4a4-p10", "hidden=8", false},
		{"a2q-cnn-w4a4-p10", "hidden=9", true}, {"a2q-cnn-w4a4-p10", "10", false},
		{"a2qplus-cnn-w4a4-p8", "hidden=8", true}, {"a2qplus-mlp-signed-w4a4-p9", "hidden=9", true},
		{"a2q-cnn-w8a8-p12", "hidden=12", true}, {"a2q-base-cnn-w8a8", "hidden=16", false},
	} {
		t.Run(c.name+" "+c.bits, func(t *testing.T) {
			t.Parallel()
			got, d := audited(t, filepath.Join(shared, c.name, "model.onnx"), c.bits, "")
			if d.HasErrors() == c.fits {
				t.Fatalf("%v", d.Diags)
			}
			for _, r := range got.Audit {
				i := slices.IndexFunc(d.Diags, func(x diag.Diag) bool { return x.Node == r.Layer })
				if (len(r.Over) > 0) != (i >= 0) {
					t.Errorf("%s: %d channels do not fit: %v", r.Layer, len(r.Over), d.Diags)
				}
				if i >= 0 && (d.Diags[i].Code != diag.AskedAccBitsExceeded ||
					!strings.Contains(d.Diags[i].Hint, "lost the cap")) {
					t.Errorf("%v", d.Diags[i])
				}
			}
		})
	}
}

// TestBuiltIsNotWider compares the accumulators of the hardware with those that models declare, channel by channel, and
// what samples put into them with both.
func TestBuiltIsNotWider(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	compared := 0
	for _, m := range models.InRepository(t) {
		if refused, _ := m.Expect(t, m.Files[0]); refused != "" || m.HasOp(t, m.Files[0], models.Recurrent...) {
			continue
		}
		c, _ := audited(t, m.Path(m.Files[0]), "63", m.Path("inputs.npy"))
		for _, r := range c.Audit {
			if r.Declared == nil {
				continue
			}
			if r.Built.Exact > r.Declared.Exact || r.Declared.Exact > r.Declared.L1 ||
				r.Declared.L1 > r.Declared.DataType {
				t.Errorf("%s, %s: built %d, declared %d, by l1 %d, by data types %d", m.Name, r.Layer, r.Built.Exact,
					r.Declared.Exact, r.Declared.L1, r.Declared.DataType)
			}
			for i, x := range r.Declared.Channels {
				if compared++; r.Built.Channels[i].Exact > x.Exact || r.Built.Channels[i].Weights.L1 > x.L1 {
					t.Errorf("%s, %s, channel %d: built %+v, declared %+v", m.Name, r.Layer, i, r.Built.Channels[i], x)
				}
			}
			sums := 0
			for _, b := range r.Seen.Histogram {
				sums += b.Sums
			}
			if s := r.Seen; s.Sums == 0 || sums != s.Sums || s.Bits > r.Declared.Exact {
				t.Errorf("%s, %s: %d sums of %d bits, %d in the histogram; %d bits declared", m.Name, r.Layer, s.Sums,
					s.Bits, sums, r.Declared.Exact)
			}
		}
	}
	if compared < 500 {
		t.Errorf("%d channels were compared", compared)
	}
}
