package sessionlog

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
)

func TestAllWhoBeginAtOnceFindTheSameFolder(t *testing.T) {
	for range 100 {
		dir := t.TempDir()
		var all sync.WaitGroup
		begin := make(chan struct{})
		for range 16 {
			all.Go(func() {
				<-begin
				if got, err := makeFolder(dir, skein.Local); err != nil || got != filepath.Join(dir, "local") {
					t.Errorf("makeFolder = %s, %v; want %s", got, err, filepath.Join(dir, "local"))
				}
			})
		}
		close(begin)
		all.Wait()
	}
}
