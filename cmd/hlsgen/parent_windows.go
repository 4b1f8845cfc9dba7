package main

import "context"

// stopWithParent does nothing: on Windows standard input ends with the parent.
func stopWithParent(context.Context, func()) {}
