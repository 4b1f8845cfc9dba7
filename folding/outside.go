package folding

import "hlsgen/internal/dataflow"

// Target is a board and a clock. Other modules need this name because they cannot import package dataflow.
type Target = dataflow.Target
