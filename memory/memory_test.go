package memory_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/memory"
	"github.com/skein-dev/skein/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) skein.Store { return memory.New() }, storetest.Options{})
}
