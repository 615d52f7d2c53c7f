package interop_test

import "testing"

func pipe(*testing.T, string) bool { return false }

func unreadable(*testing.T, *place, string) bool { return false }
