package main

// ignoreLimits does nothing: Windows has no such signal.
func ignoreLimits() {}
