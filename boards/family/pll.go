package family

// A PLL returns the frequency nearest to the wanted one that a device's PLL makes of an oscillator's, all in MHz. cell
// is the SystemVerilog of the PLL, from the signal clk to the signals clock and locked.
type PLL func(oscillator, wanted float64) (mhz float64, cell string)
