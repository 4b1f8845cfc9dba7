package layertest

import (
	"errors"
	"fmt"
)

// The names of the contract's checks, under which failures are reported.
const (
	checkBind        = "bind"        // Bind accepts the case's types
	checkFolds       = "folds"       // there are folds, each once, always in the same order
	checkEval        = "eval"        // Eval does not change its arguments, and stays within the output types
	checkComputation = "computation" // the compiled engine, which uses Computation, gives what Eval gives
	checkDependence  = "dependence"  // parts of outputs depend on parts of inputs as Dependence says
	checkRanges      = "ranges"      // every bound of the output types is attained
	checkParameters  = "parameters"  // the parameters, and the text form, make an equal layer
	checkPorts       = "ports"       // Ports and Loop move whole frames
	checkKernel      = "kernel"      // the simulated kernel gives what Eval gives
	checkClocks      = "clocks"      // at full speed, the simulator needs the clocks of Loop
	checkCost        = "cost"        // costs are sums of named parts, the same in every call
	checkStorage     = "storage"     // memories have the price of their place, and the C++ binds them to it
	checkInstance    = "instance"    // the instance fulfils the assumptions of the templates
	checkText        = "text"        // the generated text passes the lint
	checkCompiler    = "compiler"    // the C++ compiles without a warning
	checkOutput      = "output"      // the compiled C++ writes what Eval gives
	checkLoop        = "loop"        // the C++ has the iterations and moves of Loop
	checkReset       = "reset"       // frames after a reset are as frames after a start
	checkLatency     = "latency"     // every clock of a latency has work, and no stage is missing
	checkCircuit     = "circuit"     // every fold's circuit gives what Kernel and Eval give, and moves what Loop says
	checkOperators   = "operators"   // the operator graphs of three kinds give the same, too
	checkRTLBuild    = "RTL build"   // Verilator compiles the SystemVerilog of a fold
	checkRTLText     = "RTL text"    // Verilator and Yosys have no warnings
	checkRTLWords    = "RTL words"   // in SystemVerilog, every word is what Eval gives
	checkRTLClocks   = "RTL clocks"  // each word moves in the same clock as in the simulator
	checkBand        = "band"        // costs are in proportion to what the C++ computes, moves and stores
)

// A failure is the error of one check of the contract.
type failure struct {
	check string // one of the names above
	err   error
}

// Error returns the name of the check and its error.
func (f *failure) Error() string { return f.check + ": " + f.err.Error() }

// Unwrap returns the error of the check.
func (f *failure) Unwrap() error { return f.err }

// named wraps err as a failure of the check. It returns nil for nil, and err itself if it already is a failure.
func named(check string, err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{check, err}
}

// failed returns a failure of the check.
func failed(check, format string, args ...any) error {
	return &failure{check, fmt.Errorf(format, args...)}
}

// checkOf returns the name of the check that found err, or "" if err is no failure.
func checkOf(err error) string {
	var f *failure
	if errors.As(err, &f) {
		return f.check
	}
	return ""
}
