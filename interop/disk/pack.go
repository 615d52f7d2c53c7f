package disk

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A file is unpacked up to these limits, in bytes. A short one is unpacked whatever its
// compression ratio.
const (
	maxUnpacked = 8 << 30
	maxRatio    = 500 // agents' lines come to 10 to 50
	freeOfRatio = 32 << 20
	maxWindow   = 64 << 20 // zstd's window: how far back it refers, all held in memory
)

// packings are how files are packed, by the suffix of their names, and how such a
// file begins.
var packings = [...]struct {
	suffix string
	magic  []byte
	open   func(io.Reader) (io.ReadCloser, error)
}{
	{".gz", []byte{0x1f, 0x8b}, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{".zst", []byte{0x28, 0xb5, 0x2f, 0xfd}, openZstd},
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// PlainName returns the name that a file has when it is unpacked, and whether
// that is a different one: whether it ends in .gz or .zst.
func PlainName(path string) (name string, packed bool) {
	for _, p := range packings {
		if name, ok := strings.CutSuffix(path, p.suffix); ok {
			return name, true
		}
	}
	return path, false
}

// Unpack returns the content of r, the file at path, if it is packed according to its
// name, as [PlainName] says, and false if it is not. The caller closes it.
//
// The error says that it is not packed that way. Reading ends with an error
// where the packing is damaged, and where the content becomes longer than a session can
// be: 8 GB, or, after the first 32 MB, 500 times as much as was read of r.
func Unpack(path string, r io.Reader) (io.ReadCloser, bool, error) {
	for _, p := range packings {
		if !strings.HasSuffix(path, p.suffix) {
			continue
		}
		u := &unpacked{how: p.suffix[1:], packed: &counter{r: r}}
		head := make([]byte, len(p.magic))
		n, err := io.ReadFull(u.packed, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return nil, true, err
		}
		if !bytes.Equal(head, p.magic) {
			return nil, true, fmt.Errorf("%w: it begins with %x", ErrNotPacked, head[:n])
		}
		if u.from, err = p.open(io.MultiReader(bytes.NewReader(head), u.packed)); err != nil {
			return nil, true, fmt.Errorf("%s: %w", u.how, err)
		}
		return u, true, nil
	}
	return nil, false, nil
}

// ErrNotPacked says that a file is not packed as its name says.
var ErrNotPacked = errors.New("it is not compressed as its name says")

// unpacked is a stream that ends with an error where it exceeds the limits.
type unpacked struct {
	how    string
	from   io.ReadCloser
	packed *counter
	n      int64 // bytes that came out
}

// Read implements [io.Reader]; errors are those of the packing, and of a stream that is
// too long.
func (u *unpacked) Read(b []byte) (int, error) {
	switch {
	case u.n >= maxUnpacked:
		return 0, fmt.Errorf("%s: more than %d bytes when unpacked; that is not a session", u.how, int64(maxUnpacked))
	case u.n > freeOfRatio && u.n > maxRatio*u.packed.n:
		return 0, fmt.Errorf("%s: %d bytes have become more than %d, over %d times as much; that is not a session", u.how, u.packed.n, u.n, maxRatio)
	}
	n, err := u.from.Read(b[:min(int64(len(b)), maxUnpacked-u.n)])
	u.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", u.how, err)
	}
	return n, err
}

// Close implements [io.Closer]; errors are those of the packing.
func (u *unpacked) Close() error { return u.from.Close() }

// A Readable is a packed stream that ends where it is damaged, so that everything
// before that is read; damage then says what is wrong.
type Readable struct {
	From   io.Reader
	Damage error
}

// Read implements [io.Reader]; the only errors besides [io.EOF] are those of a
// context that has ended.
func (d *Readable) Read(b []byte) (int, error) {
	n, err := d.From.Read(b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		d.Damage, err = err, io.EOF
	}
	return n, err
}

// A counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

// Read implements [io.Reader]; errors are those of what is read.
func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// PlainPath returns the path that a file would have if it were not packed.
func PlainPath(path string) string {
	path, _ = PlainName(path)
	return path
}

// Shadowed reports whether the unpacked file is beside a packed one, and is read
// instead. roots is where files are looked for, nil for everywhere.
func Shadowed(path string, roots []string) bool {
	name, packed := PlainName(path)
	if !packed {
		return false
	}
	in := roots == nil
	for _, root := range roots {
		in = in || Within(root, name)
	}
	_, there := Look(name)
	return in && there
}

// PlainHead returns what of a file is examined to find its format, unpacked if it is
// packed. A file that is named as packed but is not has no head.
//
// Errors are the system's.
func PlainHead(path string, f *os.File) ([]byte, bool, error) {
	r, packed, err := Unpack(path, f)
	switch {
	case errors.Is(err, ErrNotPacked):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !packed:
		b, err := examined(io.NewSectionReader(f, 0, MaxHead))
		return b, true, err
	}
	defer r.Close()
	b, err := examined(r)
	if errors.Is(err, io.EOF) || len(b) > 0 {
		err = nil // it is short, being written, or damaged further on
	}
	return b, true, err
}

// examined returns the first HeadLen bytes of r and, if that is JSON, the rest of a
// first line that is longer, up to MaxHead bytes in all.
func examined(r io.Reader) ([]byte, error) {
	b := make([]byte, 0, HeadLen)
	for {
		n, err := io.ReadFull(r, b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return b, nil
		}
		start := bytes.TrimLeft(b, "\xef\xbb\xbf \t\r\n")
		isJSON := bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("["))
		if err != nil || !isJSON || bytes.IndexByte(start, '\n') >= 0 || len(b) == MaxHead {
			return b, err
		}
		b = append(make([]byte, 0, 4*cap(b)), b...)
	}
}

// UnpackTo unpacks what can be read of the file at path; damage says why that is
// not all of it.
//
// Errors are the system's, those of writing the copy, and that the file is not packed.
func UnpackTo(ctx context.Context, at, path string) (damage, err error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, packed, err := Unpack(path, Cancelable(ctx, f))
	if err != nil {
		return nil, err
	}
	if !packed {
		return nil, fmt.Errorf("%s: %w", path, ErrNotPacked)
	}
	defer r.Close()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return nil, err
	}
	to, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	from := Readable{From: r}
	_, err = io.Copy(to, &from)
	if err = errors.Join(err, to.Close()); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return from.Damage, os.Chtimes(at, info.ModTime(), info.ModTime())
}

// HeadAt returns the first bytes of the file at path, unpacked; none if it cannot be read.
func HeadAt(path string) []byte {
	file, _, err := Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	b, _, err := PlainHead(path, file)
	if err != nil {
		return nil
	}
	return b
}
