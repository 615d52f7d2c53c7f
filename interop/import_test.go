package interop_test

import "testing"

func TestX(t *testing.T) {}
