package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	interoptest.Back{Format: Format(), Session: threadOne, From: 17, Seeds: 8, Lay: func(t testing.TB) string {
		home := t.TempDir()
		at := filepath.Join(home, filepath.FromSlash(threadAt))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(strings.Join(turns(), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return home
	}}.Run(t)
}
