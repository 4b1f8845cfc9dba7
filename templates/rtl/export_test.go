package rtl

// Parted is for tests, whose circuits are small.
var Parted = parted
