package qwen_test

import (
	"testing"

	"github.com/skein-dev/skein/interop/formats/qwen"
	"github.com/skein-dev/skein/interop/interoptest"
)

var suite = interoptest.Suite{Format: qwen.Format(), Dir: "testdata"}

func TestFormat(t *testing.T) { interoptest.Run(t, suite) }

func FuzzFormat(f *testing.F) { interoptest.Fuzz(f, suite) }
