package goose

import (
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	t.Run("databases", func(t *testing.T) {
		interoptest.Run(t, interoptest.Suite{
			Format: Format(), Dir: "testdata/databases", Tables: tables,
			Unheard: `INSERT INTO messages (session_id, role, content_json, created_timestamp, timestamp) SELECT id, 'unheard-of', '[' || ?1 || ',' || ?2 || ']', 1800000000, '2027-01-01 00:00:00' FROM sessions`,
		})
	})
	t.Run("files", func(t *testing.T) {
		interoptest.Run(t, interoptest.Suite{Format: files(), Dir: "testdata/files"})
	})
}

// files is the format without databases.
func files() interop.Format {
	f := Format()
	f.Unit, f.Look, f.Put = nil, nil, nil
	return f
}

func FuzzFile(f *testing.F) {
	interoptest.Fuzz(f, interoptest.Suite{Format: files(), Dir: "testdata/files"})
}
