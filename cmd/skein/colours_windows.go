package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// canColour makes the console of f interpret ANSI sequences, and reports whether it
// can: old consoles print them as text.
func canColour(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
