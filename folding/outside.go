package folding

import "hlsgen/internal/dataflow"

// Target is a board and a clock, with a name for other modules.
type Target = dataflow.Target
