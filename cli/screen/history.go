package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHistory is how much of a history file is read, in bytes from its end.
const maxHistory = 512 << 10

// A History is what a person has typed before, the oldest first. The file has one
// JSON string per line; several programs may append to it at the same time.
type History struct {
	path  string // "" if it is not stored
	lines []string
}

// OpenHistory reads the history at path, which need not exist; with "", it is only
// kept in memory. Damaged lines are left out. Errors are the disk's.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	if path == "" {
		return h, nil
	}
	b, err := tail(path, maxHistory)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	for line := range bytes.Lines(b) {
		var text string
		if json.Unmarshal(line, &text) == nil && text != "" {
			h.remember(text)
		}
	}
	return h, nil
}

// tail returns the last n bytes of a file, from the beginning of a line.
func tail(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(size-n, 0), io.SeekStart); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if size > n {
		b = b[bytes.IndexByte(b, '\n')+1:]
	}
	return b, err
}

// remember adds text at the end, and removes an older line with the same text.
func (h *History) remember(text string) {
	h.lines = append(slices.DeleteFunc(h.lines, func(s string) bool { return s == text }), text)
}

// Add adds text at the end, also in the file, which only its owner may read. Errors
// are the disk's; the text is remembered in any case.
func (h *History) Add(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	h.remember(text)
	if h.path == "" {
		return nil
	}
	line, err := json.Marshal(text)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n')) // one write, so that two programs' lines do not mix
	return errors.Join(err, f.Close())
}

// A recall walks through a history.
type recall struct {
	h     *History
	at    int    // line that is shown; len(h.lines) for the text being typed
	typed string // the text when the walk began
}

func newRecall(h *History) recall { return recall{h: h, at: len(h.lines)} }

// older returns the line before the one that is shown; text is the text in the
// editor.
func (r *recall) older(text string) (string, bool) {
	if r.at == 0 || r.at > len(r.h.lines) {
		return "", false
	}
	if r.at == len(r.h.lines) {
		r.typed = text
	}
	r.at--
	return r.h.lines[r.at], true
}

// newer returns the line after the one that is shown; after the last, the text that
// was being typed.
func (r *recall) newer() (string, bool) {
	if r.at >= len(r.h.lines) {
		return "", false
	}
	r.at++
	if r.at == len(r.h.lines) {
		return r.typed, true
	}
	return r.h.lines[r.at], true
}

// find returns the newest line with part in it, before the one that is shown.
func (r *recall) find(part string) (string, bool) {
	for i := r.at - 1; i >= 0; i-- {
		if strings.Contains(r.h.lines[i], part) {
			r.at = i
			return r.h.lines[i], true
		}
	}
	return "", false
}
