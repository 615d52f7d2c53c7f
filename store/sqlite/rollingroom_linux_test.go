package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/disktest"
)

// Daily copies leave room on the disk for other files.
func TestNoCopyIsMadeWhereItsRoomIsNeeded(t *testing.T) {
	for size, enough := range map[string]bool{"200m": false, "400m": true} {
		dir := t.TempDir()
		disktest.Small(t, dir, size)
		s, later := aging(t, filepath.Join(dir, "x.db"))
		addText(t, s, "a", "one")
		later(25 * time.Hour)
		due, err := s.Due(t.Context(), 3)
		if due != enough || !enough && !errors.Is(err, skein.ErrFull) {
			t.Errorf("on a disk of %s, Due = %v, %v", size, due, err)
		}
		path, err := s.Roll(t.Context(), 3)
		if (path != "") != enough || !enough && !errors.Is(err, skein.ErrFull) {
			t.Errorf("on a disk of %s, Roll = %q, %v", size, path, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
