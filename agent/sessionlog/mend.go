package sessionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// mend repairs the file and makes the writer sound.
func (w *writer) mend(ctx context.Context) error {
	s, err := w.find(ctx)
	if err != nil {
		return err
	}
	done, err := w.takeUp(ctx, s)
	if err == nil && !done {
		err = w.renew(ctx, s)
	}
	w.sound = err == nil
	return err
}

// find returns the session, and determines where its log is.
func (w *writer) find(ctx context.Context) (skein.Session, error) {
	w.sound = false
	s, err := w.store.Session(ctx, w.id)
	if err != nil {
		return s, err
	}
	dir, err := makeFolder(w.dir, s.User)
	w.user, w.path = s.User, filepath.Join(dir, fileName(w.id))
	return s, err
}

// takeUp adds to the file what it lacks. It reports false if adding is not
// enough.
func (w *writer) takeUp(ctx context.Context, s skein.Session) (ok bool, err error) {
	f, err := os.OpenFile(w.path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	mark, there, err := lastPrompt(f, s)
	if err != nil || mark == nil {
		return false, err
	}
	lines := newKeeper(s, bytes.NewReader(there))
	lines.agent = mark.Data.Agent
	var should []byte
	last := mark.Seq - 1
	for e, err := range w.store.Events(ctx, w.id, last) {
		if err != nil {
			return false, err
		}
		if should, err = lines.add(should, e); err != nil {
			return false, err
		}
		if renews(e) || len(should) > maxTake {
			return false, nil
		}
		last = e.Seq
	}
	rest, ok := bytes.CutPrefix(should, there)
	if !ok {
		return false, nil
	}
	n, err := f.Write(rest)
	w.lines, w.last, w.size = lines.Encoder, last, mark.offset+int64(len(there)+n)
	return true, err
}

// maxTake is how much of a log is read before it is rewritten instead, in
// bytes.
const maxTake = 8 << 20

// A prompt is a line from which a log can be continued.
type prompt struct {
	Event    string          `json:"event"`
	Session  skein.SessionID `json:"session_id"`
	Seq      skein.Seq       `json:"seq"`
	Revision int             `json:"revision"`
	Data     struct {
		Agent string `json:"agent"`
	} `json:"data"`
	offset int64
}

// lastPrompt returns the last line of the file that begins a turn, and the
// file's content from there on; nil if there is none near the end.
func lastPrompt(f *os.File, s skein.Session) (*prompt, []byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	for n := int64(64 << 10); n <= maxTake; n *= 4 {
		from := max(0, info.Size()-n)
		b := make([]byte, info.Size()-from)
		if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, nil, err
		}
		if p, at := findPrompt(b, s); p != nil {
			p.offset = from + int64(at)
			return p, b[at:], nil
		}
		if from == 0 {
			break
		}
	}
	return nil, nil, nil
}

// findPrompt returns the last line of b that begins a turn of s, and its
// offset.
func findPrompt(b []byte, s skein.Session) (*prompt, int) {
	for end := len(b); ; {
		at := bytes.LastIndex(b[:end], []byte(`"event":"prompt:submit"`))
		if at < 0 {
			return nil, 0
		}
		begin := bytes.LastIndexByte(b[:at], '\n') + 1
		line, _, whole := bytes.Cut(b[begin:], []byte("\n"))
		var p prompt
		if whole && json.Unmarshal(line, &p) == nil && p.Event == "prompt:submit" && p.Session == s.ID && p.Revision == s.Revision && p.Seq > s.Base {
			return &p, begin
		}
		end = begin
	}
}
