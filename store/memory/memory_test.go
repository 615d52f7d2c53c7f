package memory_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) skein.Store { return memory.New() }, storetest.Options{})
}
