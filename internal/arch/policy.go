// Package arch holds the import policy of the module, and checks it in a test. docs/ARCHITECTURE.md describes the
// rooms of the house. The table in this package says which packages each room may import.
//
// The tests also check names, comments and texts as far as counting can: TestNouns, TestOpenings, TestSentences and
// TestFigures. TestDraw draws names and comments at random for a reader.
package arch

// module is the module's path.
const module = "hlsgen"

// An address is the place of a package in the house. The package may import packages of lower floors, and packages of
// its own room on lower levels. It may not import packages of other rooms on its floor.
type address struct {
	floor int
	room  string
	level int
}

// support marks test support: it may import anything, and only tests may import it.
var support = address{floor: -1, room: "test support"}

// addresses gives the folder of every package its address. A star stands for any one folder name. A package without a
// row is an error: it needs an address before it is written.
var addresses = map[string]address{
	"cmd/hlsgen": {6, "cmd", 0},
	"cmd/wheels": {6, "wheels", 0}, // for Python's pip

	"folding/sweep":       {5, "commands", 9},
	"internal/synthesis":  {5, "commands", 8}, // the vendor's tools, and their reports
	"internal/formats":    {5, "commands", 8}, // number formats compared
	"internal/build":      {5, "commands", 7},
	"internal/picture":    {5, "commands", 6}, // of models and designs
	"internal/check":      {5, "commands", 6},
	"internal/simulate":   {5, "commands", 6},
	"internal/weights":    {5, "commands", 6},
	"internal/report":     {5, "commands", 5},
	"internal/audit":      {5, "commands", 4},
	"internal/verify":     {5, "commands", 4},
	"internal/source":     {5, "commands", 3}, // the model: read, quantised, imported
	"internal/datafile":   {5, "commands", 2}, // samples and labels
	"internal/folder":     {5, "commands", 2}, // folders that commands write
	"internal/options":    {5, "commands", 1},
	"internal/requests":   {0, "requests", 0},   // of other programs
	"internal/pageserver": {0, "pageserver", 0}, // to a browser
	"internal/backend":    {5, "commands", 0},   // the table of back ends
	"internal/backend/*":  {5, "commands", -1},  // one back end each
	"internal/engines":    {5, "commands", -2},
	"internal/samples":    {5, "commands", -3},
	"internal/examples":   {5, "commands", -3},

	"folding":        {4, "folding", 4}, // the door
	"folding/fit":    {4, "folding", 3}, // sizes FIFOs by simulation
	"folding/space":  {4, "folding", 2},
	"folding/goal":   {4, "folding", 1},
	"folding/finn":   {4, "folding", 0},
	"folding/search": {4, "folding", 0},

	"frontend/convert":        {3, "frontend", 13}, // proves by what the front end makes of both files
	"frontend":                {3, "frontend", 12},
	"frontend/lower":          {3, "frontend", 11},
	"frontend/lower/choose":   {3, "frontend", 8},
	"frontend/lower/find":     {3, "frontend", 9},
	"frontend/lower/place":    {3, "frontend", 7},
	"frontend/lower/recur":    {3, "frontend", 8},
	"frontend/lower/integers": {3, "frontend", 7},
	"frontend/lower/unmapped": {3, "frontend", 6},
	"frontend/onnxio":         {3, "frontend", 6},
	"frontend/onnxio/corpus":  {3, "frontend", 7}, // tests alone
	"frontend/canon":          {3, "frontend", 7},
	"frontend/canon/roll":     {3, "frontend", 6},
	"frontend/scaled":         {3, "frontend", 6},
	"frontend/stats":          {3, "frontend", 6},
	"frontend/quantise":       {3, "frontend", 7}, // after training
	"frontend/float":          {3, "frontend", 6}, // no meaning depends on it
	"frontend/axes":           {3, "frontend", 5},
	"frontend/operators":      {3, "frontend", 4},
	"frontend/execution":      {3, "frontend", 3},
	"frontend/program":        {3, "frontend", 2},
	"frontend/graph":          {3, "frontend", 1},
	"frontend/real":           {3, "frontend", 0},
	"rtlsim":                  {3, "rtlsim", 0},
	"internal/fast":           {3, "fast", 0},
	"templates/report":        {3, "report", 0},
	"templates/compared":      {3, "report", 1}, // several designs on a page
	"templates":               {3, "templates", 0},
	"templates/rtl":           {3, "templates", 1},
	"templates/deploy":        {3, "templates", 1},
	"templates/axi":           {3, "templates", 4},
	"templates/vivado":        {3, "templates", 3},
	"templates/mover":         {3, "templates", 2},

	"hlslib":                {2, "hlslib", 5}, // the table of kinds, and the C++ files
	"hlslib/*":              {2, "hlslib", 4},
	"hlslib/mac":            {2, "hlslib", 3},  // what layers with weights share
	"hlslib/layer":          {2, "hlslib", 2},  // what all layers share
	"hlslib/steps":          {2, "hlslib", 1},  // how step functions are built
	"hlslib/price/estimate": {2, "hlslib", 0},  // layers' figures to cost formulas
	"hlslib/price/luts":     {2, "hlslib", -1}, // circuits to what they take

	"internal/adders":   {1, "adders", 0},
	"internal/dataflow": {1, "dataflow", 1},
	"hlslib/price/cost": {1, "cost", 0},
	"frontend/pass":     {1, "pass", 0},

	"internal/num":           {0, "num", 0},
	"internal/circuit":       {1, "dataflow", 0},
	"hlslib/price/delay":     {0, "delay", 0},
	"internal/diag":          {0, "diag", 0},
	"frontend/onnxio/onnxpb": {0, "onnxpb", 0},
	"internal/npy":           {0, "npy", 0},
	"internal/wheel":         {0, "wheel", 0},
	"internal/ctc":           {0, "ctc", 0},
	"internal/outputdir":     {0, "outputdir", 0},
	"internal/crash":         {0, "crash", 0},
	"internal/arch":          {0, "arch", 0},
	"internal/chart":         {0, "chart", 1},
	"internal/layout":        {0, "chart", 0}, // places in a picture
	"boards":                 {0, "boards", 2},
	"boards/family/*":        {0, "boards", 1}, // one family of devices each
	"boards/family":          {0, "boards", 0}, // what a family says
	"docs":                   {0, "docs", 0},
	"internal/suggest":       {-1, "suggest", 0},  // words alone
	"internal/safefile":      {-1, "safefile", 0}, // bytes alone

	"internal/testsupport/circuittest": support,
	"internal/testsupport/graphtest":   support,
	"internal/testsupport/golden":      support,
	"internal/testsupport/layertest":   support,
	"internal/testsupport/maketest":    support,
	"internal/testsupport/models":      support,
	"internal/testsupport/onnxtest":    support,
	"internal/testsupport/pagetest":    support,
	"internal/testsupport/randomtest":  support,
	"internal/testsupport/rnntest":     support,
	"internal/testsupport/rtltest":     support,
	"internal/testsupport/samplefiles": support,
	"internal/testsupport/schema":      support,
	"internal/testsupport/simtest":     support,
	"internal/testsupport/slurmtest":   support,
	"internal/testsupport/synthtest":   support,
	"internal/testsupport/tier":        support,
	"internal/browser":                 support, // tests alone
	"internal/doctest":                 support, // tests alone
	"internal/measured":                support, // tests alone
	"internal/mutants":                 support, // tests alone
	"internal/setup":                   support, // tests alone
	"internal/training":                support, // tests alone

	"internal/testsupport/operatorlevel": support, // a trial
}

// engines lists folders, with their subfolders, whose production code must not name a kind of layer, not even in a
// string. The package of a kind describes whatever is special to the kind. makers lists exceptions: packages that make
// layers, and the table of ONNX's operators, some of which share a name with a kind.
var (
	engines = []string{
		"cmd", "folding", "frontend", "rtlsim", "templates", "internal/dataflow",
		"hlslib/price/estimate",
		"internal/audit", "internal/build", "internal/check", "internal/datafile", "internal/engines",
		"internal/folder",
		"internal/options", "internal/picture", "internal/report", "internal/samples", "internal/simulate",
		"internal/source",
		"internal/verify",
		"internal/weights",
	}
	makers = []string{"frontend/lower", "frontend/operators"}
)

// operatorNames lists the kinds that share a name with an operator of ONNX.
var operatorNames = []string{"RNN"}

// A door is an import path that only a few packages may import.
type door struct {
	what   string   // import path, including the packages below it; a star stands for one folder name
	by     []string // folders that may import it, including their subfolders
	unless []string // import paths below what that every package may import
	tests  bool     // tests of other packages may import it, too
	why    string
}

// doors lists the import paths that only a few packages may import.
var doors = []door{
	{
		what: "github.com/owulveryck/onnx-go",
		by:   []string{"frontend/onnxio"},
		why:  "the ONNX file ends where graph.Graph begins",
	}, {
		what: "hlsgen/frontend/onnxio/onnxpb",
		by:   []string{"frontend/onnxio", "templates/deploy", "internal/testsupport/onnxtest"},
		why:  "the ONNX file ends where graph.Graph begins",
	}, {
		what: "google.golang.org/protobuf",
		by: []string{"frontend/onnxio", "frontend/onnxio/onnxpb", "templates/deploy",
			"internal/testsupport/onnxtest"},
		why: "the ONNX file ends where graph.Graph begins",
	}, {
		what: "gonum.org/v1/gonum/graph",
		by:   []string{"frontend/onnxio"},
		why:  "it is there to hold what onnx-go decodes; our graphs are our own",
	}, {
		what: "github.com/flosch/pongo2",
		by:   []string{"templates"},
		why:  "text is made in one room",
	}, {
		what: "gonum.org/v1/plot",
		by:   []string{"internal/chart"},
		why:  "pictures are drawn in one room",
	}, {
		what: "github.com/spf13/viper",
		by:   []string{"cmd/hlsgen"},
		why:  "below the command line, options are arguments",
	}, {
		what: "github.com/invopop/jsonschema",
		by:   []string{"internal/testsupport/schema"},
		why:  "schemas are made for tests, not in the binary",
	}, {
		what: "github.com/santhosh-tekuri/jsonschema",
		by:   []string{"internal/testsupport/schema"},
		why:  "JSON is held against schemas by tests, not in the binary",
	}, {
		what: "hlsgen/hlslib/*",
		unless: []string{
			"hlsgen/hlslib/price/cost", "hlsgen/hlslib/price/delay", "hlsgen/hlslib/price/estimate",
			"hlsgen/hlslib/mac",
			"hlsgen/hlslib/layer", "hlsgen/hlslib/steps",
		},
		by:    []string{"hlslib", "frontend/lower", "folding"},
		tests: true,
		why:   "engines know no layer by name; lowering makes layers, folding makes width converters",
	},
}

// mostUps gives, for each package of more than five files, the number of pairs of files in the wrong order. In such a
// pair the first file uses what the second declares, although the package's map names the second one later.
var mostUps = map[string]int{
	"cmd/hlsgen":              81,
	"folding":                 24,
	"folding/finn":            6,
	"folding/fit":             4,
	"folding/goal":            7,
	"folding/search":          16,
	"folding/space":           19,
	"folding/sweep":           13,
	"frontend":                25,
	"frontend/axes":           2,
	"frontend/canon":          10,
	"frontend/canon/roll":     5,
	"frontend/convert":        12,
	"frontend/execution":      8,
	"frontend/float":          17,
	"frontend/graph":          2,
	"frontend/lower":          35,
	"frontend/lower/choose":   9,
	"frontend/lower/find":     7,
	"frontend/lower/integers": 3,
	"frontend/lower/place":    7,
	"frontend/lower/recur":    13,
	"frontend/onnxio":         7,
	"frontend/operators":      23,
	"frontend/program":        4,
	"frontend/quantise":       23,
	"frontend/real":           14,
	"frontend/stats":          6,
	"hlslib/layer":            3,
	"hlslib/mac":              15,
	"hlslib/price/cost":       19,
	"hlslib/price/luts":       25,
	"hlslib/requant":          4,
	"hlslib/rnn":              13,
	"hlslib/steps":            10,
	"hlslib/swg":              11,
	"internal/circuit":        4,
	"internal/samples":        4,
	"internal/dataflow":       25,
	"internal/fast":           20,
	"internal/num":            2,
	"internal/outputdir":      10,
	"internal/source":         1,
	"internal/synthesis":      11,
	"rtlsim":                  87,
	"templates":               56,
	"templates/deploy":        9,
	"templates/rtl":           18,
}
