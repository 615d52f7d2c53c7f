//go:build !windows

package main

import "os"

// canColour reports whether the terminal of f understands ANSI sequences.
func canColour(*os.File) bool { return true }
