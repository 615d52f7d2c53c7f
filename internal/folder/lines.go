package folder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unsafe"

	"github.com/skein-dev/skein/internal/lines"
)

// A Line is one line of a tree; see the package comment.
type Line struct {
	File   string  `json:"file,omitempty"`
	Folder string  `json:"folder,omitempty"`
	Line   *int    `json:"line,omitempty"` // number of a line in its file, from 0
	Mode   string  `json:"mode,omitempty"` // octal
	Mtime  int64   `json:"mtime,omitempty"`
	Lines  *int    `json:"lines,omitempty"` // how many lines the file has
	Text   *string `json:"text,omitempty"`
	Bytes  []byte  `json:"bytes,omitempty"`
	Damage string  `json:"damage,omitempty"` // why it could not be read

	quoted []byte      // the text between its quotes, instead of Text: see Peek
	rope   *lines.Rope // the text to be written, instead of Text: see Whole and PeekRope
}

// Data returns the bytes in the line. Nobody may write to them: a long text is not copied.
func (l Line) Data() []byte {
	if l.Text != nil && len(*l.Text) >= longText {
		b := unsafe.Slice(unsafe.StringData(*l.Text), len(*l.Text)) //nolint:gosec // nobody writes to it: see Data
		return slices.Clip(b)
	}
	if l.Text != nil {
		return []byte(*l.Text)
	}
	if l.rope != nil {
		return l.rope.Bytes()
	}
	if l.quoted != nil {
		text, _ := lines.Unquote(l.quoted) // Peek has tried it
		return []byte(text)
	}
	return l.Bytes
}

// WriteData writes the bytes in the line, without copying all of them.
//
// The error is w's.
func (l Line) WriteData(w io.Writer) error {
	if l.quoted != nil {
		return lines.WriteUnquoted(w, l.quoted)
	}
	if l.rope != nil {
		for b := range l.rope.All() {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		return nil
	}
	if l.Text == nil {
		_, err := w.Write(l.Bytes)
		return err
	}
	const some = 64 << 10
	for rest := *l.Text; rest != ""; {
		n := min(some, len(rest))
		if _, err := io.WriteString(w, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// Whole returns the line of a file that is one line. It does not copy data.
func Whole(f File, data []byte) Line { return WholeRope(f, lines.RopeOf(data)) }

// WholeRope is [Whole] for a rope, which is read when the line is.
func WholeRope(f File, data lines.Rope) Line {
	l := meta(f)
	l.File = f.Name
	return l.with(data)
}

// Piece returns line n, from 0, of a file of lines, with its line feed. It does not
// copy data.
func Piece(name string, n int, data []byte) Line { return PieceRope(name, n, lines.RopeOf(data)) }

// PieceRope is [Piece] for a rope, which is read when the line is.
func PieceRope(name string, n int, data lines.Rope) Line {
	return Line{File: name, Line: &n}.with(data)
}

// End returns the line of a file of n lines.
func End(f File, n int) Line {
	l := meta(f)
	l.File, l.Lines = f.Name, &n
	return l
}

// Dir returns the line of a folder.
func Dir(f File) Line {
	l := meta(f)
	l.Folder = f.Name
	return l
}

func meta(f File) Line {
	return Line{Mode: fmt.Sprintf("%04o", uint32(f.Mode.Perm())), Mtime: f.Mtime}
}

func (l Line) with(data lines.Rope) Line {
	if !data.IsValid() {
		l.Bytes = data.Bytes()
	} else if b := data.Gist(); data.IsPlain() {
		s := unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody writes to it: see Whole and Piece
		l.Text = &s
	} else {
		l.rope = &data
	}
	return l
}

// Lines returns the lines of these files of the tree, in this order; for a file for
// which byLine returns true, one for each of its lines. Files are read as the lines
// are read, one at a time. A file that is gone has no line; one that cannot be read
// has "damage".
func (t *Tree) Lines(files []File, byLine func(name string) bool) *Reader {
	return &Reader{t: t, files: files, byLine: byLine}
}

// Dirs returns the lines of the folders.
func (t *Tree) Dirs() io.Reader {
	var b []byte
	for _, f := range t.Folders {
		b = Dir(f).Append(b)
	}
	return bytes.NewReader(b)
}

// maxKept is how long the buffer of a line may be, in bytes, to be reused.
const maxKept = 4 << 20

// A Reader returns the lines of files: with Read as a stream, or with Next one by
// one.
type Reader struct {
	t      *Tree
	files  []File
	byLine func(string) bool
	out    []byte // not yet returned by Read
	buf    []byte // the buffer of a line
	piece  []byte // the buffer of what cut returns
	in     *os.File
	cut    *bufio.Reader
	n      int
	err    error // of cut, including io.EOF: the line of the file comes next
}

// Read implements [io.Reader]. Its only error is [io.EOF].
func (r *Reader) Read(b []byte) (int, error) {
	if len(r.out) == 0 {
		r.out = r.Next()
		if r.out == nil {
			return 0, io.EOF
		}
	}
	n := copy(b, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		r.out = nil // it may be long, and the next line needs memory
	}
	return n, nil
}

// Next returns the next line, with its line feed; nil after the last. The line is
// valid until the next call.
func (r *Reader) Next() []byte {
	for len(r.files) > 0 {
		if cap(r.buf) > maxKept {
			r.buf = nil
		}
		if r.buf = r.next(r.buf[:0]); len(r.buf) > 0 {
			return r.buf
		}
	}
	return nil
}

// next appends the next line.
func (r *Reader) next(b []byte) []byte {
	f := r.files[0]
	if r.in == nil {
		in, err := r.t.file(f.Name)
		if err != nil {
			r.files = r.files[1:]
			return refuse(b, f, err)
		}
		if r.byLine == nil || !r.byLine(f.Name) {
			defer in.Close()
			r.files = r.files[1:]
			return whole(b, f, in)
		}
		r.in, r.cut, r.n = in, bufio.NewReaderSize(io.LimitReader(in, MaxFile), 1<<16), 0
	}
	if r.err == nil {
		var line []byte
		if line, r.err = r.line(); len(line) > 0 {
			r.n++
			b = appendPiece(b, f.Name, r.n-1, line)
			if cap(r.piece) > maxKept {
				r.piece = nil
			}
			return b
		}
	}
	err := r.err
	r.in.Close()
	r.in, r.err, r.files = nil, nil, r.files[1:]
	if !errors.Is(err, io.EOF) {
		return refuse(b, f, err)
	}
	return End(f, r.n).Append(b)
}

// line returns the next line of the current file, or a piece of one that is too long.
// It is valid until the next call.
func (r *Reader) line() (piece []byte, err error) {
	if r.piece, err = lines.Append(r.piece[:0], r.cut, maxKept); errors.Is(err, lines.ErrLong) {
		r.piece = slices.Grow(r.piece, r.rest()) // at once: growing would take twice the memory
		r.piece, err = lines.Append(r.piece, r.cut, MaxWhole)
	}
	if errors.Is(err, lines.ErrLong) {
		err = nil
	}
	return r.piece, err
}

// rest returns how many bytes of the current file are still to be read, and 0 if that is
// not known; at most what a line can still have.
func (r *Reader) rest() int {
	at, err := r.in.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return int(max(0, min(r.files[0].Size-at+int64(r.cut.Buffered()), MaxWhole-maxKept)))
}

func whole(b []byte, f File, in io.Reader) []byte {
	all := bytes.NewBuffer(make([]byte, 0, min(f.Size, MaxWhole)+bytes.MinRead)) // at once: see line
	_, err := all.ReadFrom(io.LimitReader(in, MaxWhole+1))
	data := all.Bytes()
	if err == nil && len(data) > MaxWhole {
		err = fmt.Errorf("more than %d bytes", MaxWhole)
	}
	if err != nil {
		return refuse(b, f, err)
	}
	return Whole(f, data).Append(b)
}

// refuse appends the line of a file that cannot be read; nothing if it is gone.
func refuse(b []byte, f File, err error) []byte {
	if errors.Is(err, fs.ErrNotExist) {
		return b
	}
	l := meta(f)
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	l.File, l.Damage = f.Name, strings.ToValidUTF8(err.Error(), "?")
	return l.Append(b)
}
