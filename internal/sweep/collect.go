package sweep

// A Report is what the vendor's tools say of a design.
type Report struct{}

var reportColumns []column
