package codex

import (
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// isIndex reports whether path is the file of thread names.
func isIndex(path string) bool {
	return filepath.Base(path) == "session_index.jsonl"
}

// An indexReader reads session_index.jsonl: names for the sessions of other files,
// newest last.
type indexReader struct{}

// Read implements [interop.Reader]; the error says that the record is not a JSON
// object.
func (*indexReader) Read(in interop.Line) (interop.Made, error) {
	e, err := unmarshal[struct {
		ID   string     `json:"id"`
		Name skein.Text `json:"thread_name"`
		Time string     `json:"updated_at"`
	}](in.Body)
	if err != nil {
		return interop.Made{}, plain(err)
	}
	title := strings.TrimSpace(e.Name.UTF8())
	if e.ID == "" || title == "" {
		return interop.Made{}, nil
	}
	at, err := skein.ParseTime(e.Time)
	if err != nil {
		at = 0
	}
	ev := skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: title, By: skein.BySource})
	return interop.Made{Apart: []interop.Apart{{Of: threadKey(e.ID), Event: ev}}}, nil
}
