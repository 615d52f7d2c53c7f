package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// Bounds of the output of read_file.
const (
	usualLines = 2000
	maxWidth   = 2000      // bytes of a line that are shown
	maxShown   = 60 << 10  // bytes of text
	maxImage   = 3_750_000 // bytes: 5 MB when written as base64, which is what providers take
	maxCounted = 256 << 20 // bytes of a file whose lines are counted
)

type reading struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"` // first line; 0 means 1
	Limit  int    `json:"limit"`  // number of lines; 0 means usualLines
}

func (o Options) readTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "read_file",
			Doc:  "Read a text file, with line numbers, or look at an image. Returns at most 2000 lines or 60 KB at once; for more, use offset and limit. The line numbers and the tabs after them are not part of the file.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "relative to the session's folder, or absolute"},
    "offset": {"type": "integer", "minimum": 1, "description": "number of the first line to read; 1 if not given"},
    "limit": {"type": "integer", "minimum": 1, "description": "how many lines; 2000 if not given"}
  },
  "required": ["path"],
  "additionalProperties": false
}`),
		},
		Safe:  true,
		Title: pathTitle(),
		Ask: func(c tool.Call) string {
			var in reading
			if tool.Read(c.Input, &in) != nil { // Run reports the error
				return ""
			}
			p, err := o.place(c, in.Path)
			if err != nil {
				return ""
			}
			return p.askRead()
		},
		Run: o.read,
	}
}

func (o Options) read(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	var in reading
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	if in.Offset < 0 || in.Limit < 0 {
		return out, fmt.Errorf("offset %d, limit %d: want 1 or more", in.Offset, in.Limit)
	}
	p, err := o.place(c, in.Path)
	if err != nil {
		return out, err
	}
	f, size, err := o.seen(ctx, p)
	if err != nil {
		return out, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(8 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return out, fmt.Errorf("read %s: %w", p.named, err)
	}
	media := http.DetectContentType(head)
	switch {
	case strings.HasPrefix(media, "image/") && viewable(media):
		return image(p, r, size, media)
	case binary(head):
		out.Text = fmt.Sprintf("[%s is not text: %d bytes of %s]\n", p.named, size, media)
		return out, nil
	case len(head) == 0:
		out.Text = fmt.Sprintf("[%s is empty]\n", p.named)
		return out, nil
	}
	return page(ctx, r, p, in, size)
}

// open opens p, which must be a regular file.
func (o Options) open(p place) (*os.File, int64, error) {
	s, err := os.Stat(p.real) // first: opening a pipe would wait for a writer
	switch {
	case err != nil:
		return nil, 0, err
	case s.IsDir():
		return nil, 0, fmt.Errorf("%s is a folder; to see what is in it, use list_files", p.named)
	case !s.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is not a file but a %s", p.named, s.Mode().Type())
	}
	if err := o.shut().err(p, s); err != nil {
		return nil, 0, err
	}
	f, err := os.Open(p.real)
	return f, s.Size(), err
}

// seen opens p as a person sees it, see Buffers.
func (o Options) seen(ctx context.Context, p place) (io.ReadCloser, int64, error) {
	f, size, err := o.open(p)
	if o.Editor == nil || !p.inside() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, size, err
	}
	if err == nil {
		head := make([]byte, 8<<10)
		n, rerr := f.ReadAt(head, 0)
		if rerr != nil && !errors.Is(rerr, io.EOF) || binary(head[:n]) {
			return f, size, nil // what reads it reports the error
		}
	}
	text, ok := o.Editor.ReadText(ctx, p.path)
	if !ok {
		return f, size, err
	}
	if err == nil {
		err = f.Close()
	} else {
		err = nil
	}
	return io.NopCloser(strings.NewReader(text)), int64(len(text)), err
}

// binary reports whether a file that begins with head is not a text.
func binary(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	bad := 0
	for b := head; len(b) > 0; {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(b) {
			bad++
		}
		b = b[n:]
	}
	return bad > len(head)/10
}

func viewable(media string) bool {
	return media == "image/png" || media == "image/jpeg" || media == "image/gif" || media == "image/webp"
}

// image answers with an image.
func image(p place, r io.Reader, size int64, media string) (out tool.Output, err error) {
	if size > maxImage {
		out.Text = fmt.Sprintf("[%s is an image of %d bytes; at most %d can be shown]\n", p.named, size, maxImage)
		return out, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxImage))
	if err != nil {
		return out, fmt.Errorf("read %s: %w", p.named, err)
	}
	b := skein.NewBlob(data)
	out.Text = fmt.Sprintf("[%s: %s, %d bytes]\n", p.named, media, len(data))
	out.Files = []skein.File{{Name: p.relative(), Media: media, Blob: b.Hash, Size: int64(len(data))}}
	out.Blobs = []skein.Blob{b}
	return out, nil
}
