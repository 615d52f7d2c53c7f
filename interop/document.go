package interop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop/disk"
)

// MaxDocument is the longest document that is read, in bytes.
const MaxDocument = 48 << 20

// TornFor is how long a document that is cut off is assumed to be still being
// written.
const TornFor = 10 * time.Second

// ErrTooLong says that a document is longer than [MaxDocument].
var ErrTooLong = errors.New("too long a document")

// longHead is how much of a document that is too long is shown to the formats that
// may recognize it, in bytes.
const longHead = 256 << 10

// ErrTorn says that a document is cut off, and was written just now.
var ErrTorn = errors.New("another program is writing it")

// IsFresh reports whether a file that was changed at mtime, in nanoseconds since
// 1970, may be cut off because it is being written: it was changed within [TornFor].
func IsFresh(mtime int64) bool {
	age := time.Since(time.Unix(0, mtime))
	return age >= 0 && age < TornFor
}

// OpenDocument returns the file at path, which is not JSON Lines, as a unit: one
// that its program writes again each time, such as a JSON document. Its source,
// "", has a line for each piece that cut makes of it; [Piece] returns the bytes
// of a piece. So only the changed pieces of a document are stored again. The
// pieces, one after the other, must be the file; whole is false if the file is
// cut off; for 10 seconds it is then taken for one that is being written.
//
// The error wraps [ErrOther] for a database, [ErrTorn] for such a file, and
// [ErrTooLong] for one longer than [MaxDocument], of which cut is given the first
// 256 KB, so that its caller can recognize it; others are those of reading it.
func OpenDocument(ctx context.Context, path string, cut func(data []byte) (pieces [][]byte, whole bool)) (_ Unit, err error) {
	defer skein.Wrapf(&err, "file %s", path)
	f, is, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if b, err := disk.Head(f); err != nil || startsDatabase(b) {
		return nil, cmp.Or(err, ErrOther)
	}
	if is.Size > MaxDocument {
		head, err := io.ReadAll(io.LimitReader(f, longHead))
		if err != nil {
			return nil, err
		}
		cut(head)
		return nil, longError{is.Size}
	}
	b := bytes.NewBuffer(make([]byte, 0, is.Size+bytes.MinRead)) // allocated at once: growing would take twice the memory
	if _, err := b.ReadFrom(io.LimitReader(disk.Cancelable(ctx, f), MaxDocument)); err != nil {
		return nil, err
	}
	pieces, whole := cut(b.Bytes())
	if !whole && IsFresh(is.Mtime) {
		return nil, ErrTorn
	}
	return document{path, b.Bytes(), pieces}, nil
}

// A longError says how long a document is, and what to do about it.
type longError struct{ size int64 } // bytes

func (e longError) Error() string {
	return fmt.Sprintf("%.1f MB; a document may have at most %.1f MB: split it, or save it as JSON Lines (.jsonl), which may have any length, if its program can",
		float64(e.size)/1e6, float64(MaxDocument)/1e6)
}
func (e longError) Unwrap() error { return ErrTooLong }

type document struct {
	path   string
	data   []byte
	pieces [][]byte
}

// Sources implements [Unit]; there are no errors.
func (d document) Sources(context.Context) ([]Source, error) {
	sum := sha256.Sum256(d.data)
	return []Source{{Stamp: hex.EncodeToString(sum[:]), Size: int64(len(d.data))}}, nil
}

// Open implements [Unit]; the error says that there is no such source.
func (d document) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name != "" {
		return nil, fmt.Errorf("document %s has no source %q", d.path, name)
	}
	return io.NopCloser(&pieceLines{rest: d.pieces}), nil
}

// Skips implements [Unit]; it returns nothing.
func (d document) Skips() []Skip { return nil }

// Close implements [Unit]; there are no errors.
func (d document) Close() error { return nil }

// pieceLines makes the lines of pieces, a portion at a time.
type pieceLines struct {
	rest [][]byte
	now  []byte // what is left of a piece that was begun; nil if none was
	text bool   // it is written as text, else in base64
	out  bytes.Reader
}

// portion is how many bytes of a piece are made at a time: a multiple of 3, for
// base64.
const portion = 3 << 18

// Read implements [io.Reader]; there are no errors.
func (r *pieceLines) Read(p []byte) (int, error) {
	for r.out.Len() == 0 {
		if len(r.rest) == 0 && r.now == nil {
			return 0, io.EOF
		}
		r.out.Reset(r.next())
	}
	return r.out.Read(p)
}

// next returns the next portion of a line.
func (r *pieceLines) next() (line []byte) {
	if r.now == nil {
		r.now, r.rest = r.rest[0], r.rest[1:]
		if len(r.now) <= portion {
			line, r.now = PieceLine(r.now), nil
			return line
		}
		line = append(line, `{"base64":"`...)
		if r.text = utf8.Valid(r.now); r.text {
			line = append(line[:0], `{"text":"`...)
		}
	}
	n := min(portion, len(r.now))
	if r.text {
		for n < len(r.now) && !utf8.RuneStart(r.now[n]) {
			n--
		}
		quoted := skein.AppendQuoted(nil, string(r.now[:n]))
		line = append(line, quoted[1:len(quoted)-1]...)
	} else {
		line = base64.StdEncoding.AppendEncode(line, r.now[:n])
	}
	if r.now = r.now[n:]; len(r.now) == 0 {
		r.now = nil
		line = append(line, "\"}\n"...)
	}
	return line
}

// PieceRope returns the line for a piece of a document that is a rope.
func PieceRope(piece lines.Rope) lines.Rope {
	if !piece.IsValid() {
		return lines.RopeOf(PieceLine(piece.Bytes()))
	}
	r := lines.RopeOf([]byte(`{"text":`))
	r.AppendQuoted(piece, quoted)
	r.Append([]byte("}\n"))
	return r
}

// PieceLine returns the line for a piece of a document.
func PieceLine(piece []byte) []byte {
	if !utf8.Valid(piece) {
		return append(skein.MustJSON(pieceLine{Bytes: base64.StdEncoding.EncodeToString(piece)}), '\n')
	}
	line := append(make([]byte, 0, len(piece)+len(piece)/8+16), `{"text":`...)
	text := unsafe.String(unsafe.SliceData(piece), len(piece)) //nolint:gosec // it is only read: a copy could be of a long message
	return append(skein.AppendQuoted(line, text), "}\n"...)
}

type pieceLine struct {
	Text  skein.Text `json:"text,omitempty"`
	Bytes string     `json:"base64,omitempty"`
}

// ropePiece is Piece for a line that is a rope.
func ropePiece(line lines.Rope) (lines.Rope, error) {
	if outline, texts, ok := line.Outline(); ok && len(texts) > 0 {
		if quoted, ok := cutPiece(outline); ok {
			if piece, _, ok := lines.UnquoteOutline(quoted, texts); ok {
				return piece, nil
			}
		}
	}
	piece, err := Piece(line.Bytes())
	return lines.RopeOf(piece), err
}

// cutPiece returns a piece as it is quoted in a line; false if it is not text.
func cutPiece(line []byte) (quoted []byte, ok bool) {
	quoted, ok = bytes.CutPrefix(bytes.TrimSpace(line), []byte(`{"text":"`))
	if !ok || !utf8.Valid(quoted) {
		return nil, false
	}
	return bytes.CutSuffix(quoted, []byte(`"}`))
}

// Piece returns the piece of a document that a line, or a record, holds.
//
// The error says what the line is instead.
func Piece(line []byte) ([]byte, error) {
	if quoted, ok := cutPiece(line); ok {
		if text, ok := lines.Unquote(quoted); ok {
			return unsafe.Slice(unsafe.StringData(text), len(text)), nil //nolint:gosec // nobody else has it, and it may be long
		}
	}
	var p pieceLine
	if err := json.Unmarshal(line, &p); err != nil {
		return nil, fmt.Errorf("no piece of a document: %w", err)
	}
	if p.Bytes != "" {
		return base64.StdEncoding.DecodeString(p.Bytes)
	}
	return []byte(p.Text), nil
}

// PutDocument writes the document held by the lines of the only part to path,
// replacing the one that is there. It is a Format.Put.
//
// The error wraps [ErrChanged] if a document is there that is not as Was says, or
// [ErrTooLong] if it would be too long to be read; then nothing has been written. Others
// are the system's.
func PutDocument(_ context.Context, path string, parts []Part) (err error) {
	defer skein.Wrapf(&err, "file %s", path)
	if len(parts) != 1 {
		return fmt.Errorf("%d sources, a document is one", len(parts))
	}
	var was *lines.Lines
	if parts[0].Was != nil {
		if was, err = pieces(parts[0].Was); err != nil {
			return err
		}
	}
	now, err := pieces(parts[0].Lines)
	if err != nil {
		return err
	}
	if n := now.Len(); n > MaxDocument {
		return fmt.Errorf("%w: it would have %.1f MB, and at most %.1f MB could be read again; a format of JSON Lines may have any length", ErrTooLong, float64(n)/1e6, float64(MaxDocument)/1e6)
	}
	there, err := os.ReadFile(path)
	switch {
	case err == nil && now.Equal(there):
		return nil
	case err == nil && (was == nil && len(there) > 0 || was != nil && !was.Equal(there)):
		return ErrChanged
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case err != nil && was != nil:
		return ErrChanged
	}
	root, err := disk.OpenHome(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return disk.ReplaceFile(root, filepath.Base(path), now)
}

// pieces returns the content of a document's lines.
func pieces(r io.Reader) (*lines.Lines, error) {
	all, err := lines.Of(r)
	if err != nil {
		return nil, err
	}
	var out []lines.Rope
	for line, ok := all.NextRope(); ok; line, ok = all.NextRope() {
		p, err := ropePiece(line)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return lines.OfRopes(out...), nil
}
