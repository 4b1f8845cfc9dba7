package arch

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"hlsgen/hlslib"
	"hlsgen/internal/testsupport/tier"
)

func kinds() (names []string) {
	for _, k := range hlslib.LayerKinds {
		names = append(names, k.Name)
	}
	return names
}

func TestModule(t *testing.T) {
	t.Parallel()
	tier.NotQuick(t)
	breaches, err := findPolicyBreaches(os.DirFS("../.."), kinds())
	none(t, breaches, err)
}

// none fails the test if anything was found.
func none(t *testing.T, found []string, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, imports, want string }{
		{"internal/num/a.go", "math/big", ""},
		{"internal/num/a.go", "hlsgen/internal/diag", "floor 0 does not see floor 0"},
		{"internal/num/a_test.go", "hlsgen/internal/diag", ""},
		{"internal/dataflow/a.go", "hlsgen/boards", ""},
		{"internal/dataflow/a.go", "hlsgen/hlslib/price/cost", "floor 1 does not see floor 1"},
		{"internal/dataflow/a.go", "hlsgen/hlslib/mvau", "only hlslib and frontend/lower and folding may"},
		{"internal/dataflow/a_test.go", "hlsgen/hlslib", ""},
		{"internal/dataflow/a_test.go", "hlsgen/hlslib/mvau", ""},
		{"hlslib/mvau/a.go", "hlsgen/internal/dataflow", ""},
		{"hlslib/mvau/a.go", "hlsgen/hlslib/swg", "level 4 of room hlslib does not see level 4"},
		{"hlslib/mvau/a.go", "hlsgen/hlslib", "level 4 of room hlslib does not see level 5"},
		{"hlslib/mvau/a.go", "hlsgen/hlslib/price/estimate", ""},
		{"rtlsim/a.go", "hlsgen/hlslib/mvau", "only hlslib and frontend/lower and folding may"},
		{"internal/dataflow/a.go", "hlsgen/hlslib/price/estimate", "floor 1 does not see floor 2"},
		{"hlslib/mvau/a.go", "hlsgen/internal/testsupport/layertest", "it is there for tests"},
		{"hlslib/mvau/a_test.go", "hlsgen/internal/testsupport/layertest", ""},
		{"internal/testsupport/layertest/a.go", "hlsgen/rtlsim", ""},
		{"internal/testsupport/layertest/a.go", "hlsgen/hlslib/dwc", ""},
		{"hlslib/kinds.go", "hlsgen/hlslib/mvau", ""},
		{"rtlsim/a.go", "hlsgen/internal/dataflow", ""},
		{"rtlsim/a.go", "hlsgen/hlslib/mvau", "engines know no layer by name"},
		{"rtlsim/a_test.go", "hlsgen/hlslib/mvau", ""},
		{"rtlsim/a.go", "hlsgen/folding", "floor 3 does not see floor 4"},
		{"templates/a.go", "hlsgen/hlslib", ""},
		{"templates/a.go", "hlsgen/hlslib/threshold", "engines know no layer by name"},
		{"templates/a.go", "github.com/flosch/pongo2/v6", ""},
		{"folding/a.go", "hlsgen/folding/search", ""},
		{"folding/search/a.go", "hlsgen/folding", "level 0 of room folding does not see level 4"},
		{"frontend/a.go", "hlsgen/frontend/lower", ""},
		{"frontend/lower/a.go", "hlsgen/frontend", "level 11 of room frontend does not see level 12"},
		{"frontend/lower/a.go", "hlsgen/frontend/scaled", ""},
		{"frontend/lower/a.go", "hlsgen/hlslib/mvau", ""},
		{"frontend/scaled/a.go", "hlsgen/frontend/canon", "level 6 of room frontend does not see level 7"},
		{"frontend/canon/a.go", "hlsgen/hlslib/mvau", "only hlslib and frontend/lower and folding may"},
		{"frontend/onnxio/a.go", "hlsgen/frontend/onnxio/onnxpb", ""},
		{"frontend/onnxio/a.go", "github.com/owulveryck/onnx-go/internal/x", ""},
		{"internal/testsupport/onnxtest/a.go", "hlsgen/frontend/onnxio/onnxpb", ""},
		{"frontend/canon/a.go", "hlsgen/frontend/onnxio/onnxpb",
			"only frontend/onnxio and templates/deploy and internal/testsupport/onnxtest may"},
		{"frontend/canon/a_test.go", "hlsgen/frontend/onnxio/onnxpb",
			"only frontend/onnxio and templates/deploy and internal/testsupport/onnxtest may"},
		{"frontend/canon/a_test.go", "hlsgen/internal/testsupport/onnxtest", ""},
		{"frontend/graph/a.go", "gonum.org/v1/gonum/graph/topo", "only frontend/onnxio may"},
		{"frontend/graph/a.go", "gonum.org/v1/gonum/mat", ""},
		{"frontend/onnxio/onnxpb/a.go", "google.golang.org/protobuf/proto", ""},
		{"internal/build/a.go", "hlsgen/rtlsim", ""},
		{"internal/build/a.go", "hlsgen/cmd/hlsgen", "floor 5 does not see floor 6"},
		{"internal/build/a.go", "github.com/spf13/viper", "only cmd/hlsgen may"},
		{"internal/build/a.go", "github.com/spf13/viperish", ""},
		{"cmd/hlsgen/a.go", "github.com/spf13/viper", ""},
		{"cmd/hlsgen/a.go", "hlsgen/docs", ""},
		{"docs/a.go", "hlsgen/internal/diag", "floor 0 does not see floor 0"},
		{"internal/build/a.go", "hlsgen/internal/magic", "it has no address"},
		{"internal/magic/a.go", "fmt", "its package has no address"},
		{"internal/magic/a_test.go", "fmt", "its package has no address"},
		{"internal/num/testdata/a.go", "hlsgen/cmd/hlsgen", ""},
		{".hidden/a.go", "fmt", ""},
		{"internal/num/a.txt", "hlsgen/cmd/hlsgen", ""},
	} {
		got, err := findPolicyBreaches(fstest.MapFS{c.file: {
			Data: []byte("//go:build never\n\npackage p\n\nimport \"" + c.imports +
				"\"\n")}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 1 || (len(got) == 1) != (c.want != "") || len(got) == 1 && !strings.Contains(got[0], c.want) {
			t.Errorf("%s imports %s: %q, want %q", c.file, c.imports, got, c.want)
		}
	}
}

func TestCheckStrings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, literal string
		breach        bool
	}{
		{"folding/a.go", `"MVAU"`, true},
		{"folding/search/a.go", "`like \"MVAU_0\"`", true},
		{"folding/a.go", `"MVAUs"`, false},
		{"folding/a_test.go", `"MVAU"`, false},
		{"frontend/canon/a.go", `"MVAU"`, true},
		{"frontend/lower/a.go", `"MVAU"`, false},
		{"hlslib/mvau/a.go", `"MVAU"`, false},
		{"internal/build/a.go", `"RNN"`, true},
		{"internal/build/a.go", `"an RNN of ONNX"`, false},
		{"frontend/operators/a.go", `"RNN"`, false},
	} {
		got, err := findPolicyBreaches(fstest.MapFS{c.file: {Data: []byte("package p\n\nconst s = " + c.literal +
			"\n")}}, kinds())
		if err != nil || (len(got) == 1) != c.breach {
			t.Errorf("%s says %s: %q, %v", c.file, c.literal, got, err)
		}
	}
}

func TestCheckRefusesWhatDoesNotParse(t *testing.T) {
	t.Parallel()
	if _, err := findPolicyBreaches(fstest.MapFS{"internal/num/a.go": {Data: []byte("package p\nimport fmt")}},
		nil); err == nil {
		t.Error("no error")
	}
}
