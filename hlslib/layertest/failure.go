package layertest

import (
	"errors"
	"fmt"
)

// The checks of the contract, by the names under which failures are reported.
const (
	checkBind        = "bind"        // Bind takes the case's types
	checkFolds       = "folds"       // Folds are some, each once, in a fixed order
	checkEval        = "eval"        // Eval leaves its arguments alone, and stays in the output types
	checkComputation = "computation" // the compiled engine makes of what the layer says of itself what Eval gives
	checkDependence  = "dependence"  // parts of outputs depend on the parts of inputs that the layer says
	checkRanges      = "ranges"      // every bound of the output types is attained
	checkParameters  = "parameters"  // parameters and the text form make the layer again
	checkPorts       = "ports"       // Ports and Loop move whole frames
	checkKernel      = "kernel"      // the simulated kernel gives what Eval gives
	checkClocks      = "clocks"      // at full speed, the simulator sees the clocks of Loop
	checkCost        = "cost"        // costs are sums of named parts, the same in every call
	checkStorage     = "storage"     // memories are priced where they lie, and bound there
	checkInstance    = "instance"    // what the templates rely on
	checkText        = "text"        // the lint of generated text
	checkCompiler    = "compiler"    // the C++ compiles without a warning
	checkOutput      = "output"      // the compiled C++ writes what Eval gives
	checkLoop        = "loop"        // its iterations, and the words they move, are those of Loop
	checkReset       = "reset"       // after a reset, frames are as after a start
	checkLatency     = "latency"     // every clock of a latency has something to do, and no stage is missing
	checkRTLBuild    = "RTL build"   // Verilator takes the SystemVerilog of a fold
	checkRTLText     = "RTL text"    // it has nothing to say of it
	checkRTLWords    = "RTL words"   // in it, every word is what Eval gives
	checkRTLClocks   = "RTL clocks"  // and moves in the clock in which the simulator moves it
	checkBand        = "band"        // costs lie in a band around what the C++ computes, moves and keeps
)

// A failure is what a check of the contract has found.
type failure struct {
	check string // one of the names above
	err   error
}

func (f *failure) Error() string { return f.check + ": " + f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// named is err as a failure of the check; nil where there is none, and err itself where it has a name.
func named(check string, err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{check, err}
}

// failed is a failure of the check.
func failed(check, format string, args ...any) error {
	return &failure{check, fmt.Errorf(format, args...)}
}

// checkOf is the name of the check that found err; empty where it has none.
func checkOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.check
	}
	return ""
}
