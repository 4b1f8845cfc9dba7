package layertest

import (
	"context"
	"fmt"
	"strings"

	"hlsgen/internal/testsupport/synthtest"
)

// runReset checks that the compiled C++ of some programs restarts correctly after a reset.
func runReset(ctx context.Context, dir string, programs []program) error {
	if len(programs) == 0 {
		return nil
	}
	trials, files, err := bench(programs)
	if err != nil {
		return err
	}
	err = synthtest.CheckReset(ctx, dir, files)
	if err == nil {
		return nil
	}
	var who strings.Builder
	for i, t := range trials {
		if strings.Contains(err.Error(), "FAIL "+t.Name) {
			fmt.Fprintf(&who, "\n%s is %q, fold %+v", t.Name, programs[i].Name, programs[i].fold)
		}
	}
	return failed(checkReset, "%w%s", err, who.String())
}
