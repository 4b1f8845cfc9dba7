package simulate

// TraceName is traceName, for tests outside the package.
var TraceName = traceName
