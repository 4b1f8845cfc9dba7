package browser

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hlsgen/internal/testsupport/models"
	"hlsgen/internal/testsupport/tier"
	pages "hlsgen/templates/report"
)

// The longest times of a page in milliseconds: until it is painted first, and of a change in What if.
const mostPaint, mostChange = 1000, 100

// BenchmarkPage measures how soon pages are painted, and how long a change in What if takes, as medians: of a network
// of the repository and, where shared models are, of ResNet-50 on a card.
func BenchmarkPage(b *testing.B) {
	packages := tier.Needs(b, "browser")[0]
	list := []struct{ name, model, board string }{
		{"digits-resnet", models.Find(b, "digits-resnet-w4a4").Path("model.onnx"), "zcu104"}}
	if shared := tier.Shared(b); shared != "" {
		list = append(list, struct{ name, model, board string }{"resnet50", drawn(b, shared, "resnet50"), "alveo-u250"})
	}
	for _, c := range list {
		page, err := pages.RenderHTML(pageOf(b, c.model, c.board))
		file := filepath.Join(b.TempDir(), "page.html")
		if err == nil {
			err = os.WriteFile(file, page, 0o666)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.name, func(b *testing.B) {
			var paint, change []float64
			for b.Loop() {
				for _, a := range open(b, packages, slices.Repeat([]sheet{{File: file, Timed: true}}, 5)) {
					paint, change = append(paint, a.Paint), append(change, a.Change)
				}
			}
			for _, x := range []struct {
				unit string
				list []float64
				most float64
			}{{"ms-paint", paint, mostPaint}, {"ms-change", change, mostChange}} {
				slices.Sort(x.list)
				middle := x.list[len(x.list)/2]
				b.ReportMetric(middle, x.unit)
				if middle > x.most {
					b.Errorf("%.0f %s, more than %.0f", middle, x.unit, x.most)
				}
			}
		})
	}
}
