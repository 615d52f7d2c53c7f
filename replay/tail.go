package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
)

// A Line is a whole line of a file that grows.
type Line struct {
	Bytes []byte // without its line feed and a carriage return before it; the caller may keep it
	Anew  bool   // the file was replaced, cut or rewritten: this is the first line of its new content
	Lost  bool   // it was longer than a line of a log can be and was left out
}

// A Tail reads a file that grows, line by line. It yields whole lines only, so
// that no character and no record is ever cut, and begins again if the file has
// changed: replaced, shorter, or with other bytes where it has read. It keeps no
// file open, so that others may replace it. It is for one goroutine.
type Tail struct {
	path    string
	offset  int64       // up to where the file was read
	partial []byte      // of the last line, not yet ended
	scanned int         // bytes of partial known to have no line feed
	long    bool        // the last line is being left out
	seen    fs.FileInfo // nil before the first look
	end     []byte      // the last bytes before offset, to check that they are still there
	anew    bool
}

// NewTail returns a Tail of the file at path, from its beginning. The file need not
// exist yet.
func NewTail(path string) *Tail { return &Tail{path: path} }

// Bounds of what is read and remembered, in bytes.
const (
	tailChunk = 256 << 10
	tailCheck = 256
)

// Lines yields the lines completed since the last call, none while the file does
// not exist.
//
// It yields at most one error, last: the file's. The next call continues where
// this one ended.
func (t *Tail) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if err := t.read(yield); err != nil && !errors.Is(err, errStop) {
			yield(Line{}, fmt.Errorf("replay: tail: %w", err))
		}
	}
}

// errStop says that the caller has stopped the iteration.
var errStop = errors.New("stop")

func (t *Tail) read(yield func(Line, error) bool) (err error) {
	if !t.cut(yield) { // left by a caller that stopped
		return errStop
	}
	f, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := t.look(f); err != nil {
		return err
	}
	for {
		buf := make([]byte, tailChunk)
		n, err := f.ReadAt(buf, t.offset)
		t.take(buf[:n])
		if !t.cut(yield) {
			return errStop
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// look begins again if f is not the file that was read before.
func (t *Tail) look(f *os.File) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if now.IsDir() {
		return fmt.Errorf("%s is a folder", t.path)
	}
	same := t.seen == nil || os.SameFile(t.seen, now) && now.Size() >= t.offset
	if same && len(t.end) > 0 {
		there := make([]byte, len(t.end))
		if _, err := f.ReadAt(there, t.offset-int64(len(t.end))); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		same = bytes.Equal(there, t.end)
	}
	if !same {
		*t = Tail{path: t.path, anew: true}
	}
	t.seen = now
	return nil
}

// take adds b, which was read at offset.
func (t *Tail) take(b []byte) {
	t.offset += int64(len(b))
	t.partial = append(t.partial, b...)
	t.end = append(t.end, b[max(0, len(b)-tailCheck):]...)
	t.end = bytes.Clone(t.end[max(0, len(t.end)-tailCheck):])
}

// cut yields the complete lines.
func (t *Tail) cut(yield func(Line, error) bool) bool {
	for {
		n := bytes.IndexByte(t.partial[t.scanned:], '\n')
		if n < 0 && len(t.partial) > maxLine {
			t.partial, t.long = nil, true
		}
		if n < 0 {
			t.scanned = len(t.partial)
			return true
		}
		n += t.scanned
		l := Line{Bytes: bytes.TrimSuffix(t.partial[:n:n], []byte("\r")), Anew: t.anew, Lost: t.long}
		t.partial, t.anew, t.long = t.partial[n+1:], false, false
		t.scanned = 0
		if l.Lost {
			l.Bytes = nil
		}
		if !yield(l, nil) {
			return false
		}
	}
}
