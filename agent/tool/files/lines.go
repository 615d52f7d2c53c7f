package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/internal/lines"
)

// page answers with the lines of p, read from r, that in selects.
func page(ctx context.Context, r *bufio.Reader, p place, in reading, size int64) (out tool.Output, err error) {
	first, limit := max(in.Offset, 1), in.Limit
	if limit == 0 {
		limit = usualLines
	}
	var b strings.Builder
	v := lineView{}
	n, last := 0, 0
	for {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		line, long, err := readLine(r, maxWidth)
		if err != nil && !errors.Is(err, io.EOF) {
			return out, fmt.Errorf("read %s: %w", p.named, err)
		}
		if err != nil && len(line) == 0 {
			break
		}
		if n++; n >= first && n-first < limit && b.Len() < maxShown {
			last = n
			fmt.Fprintf(&b, "%6d\t%s\n", n, v.show(line, long))
		} else if last > 0 && size > maxCounted {
			n = 0 // too many to count
			break
		}
	}
	if last == 0 {
		return out, fmt.Errorf("offset %d: %s has %d lines", first, p.named, n)
	}
	out.Text = b.String()
	switch {
	case n == 0:
		out.Text += fmt.Sprintf("[lines %d to %d of a file of %d bytes; read on with offset %d]\n", first, last, size, last+1)
	case last < n:
		out.Text += fmt.Sprintf("[lines %d to %d of %d; read on with offset %d]\n", first, last, n, last+1)
	case first > 1:
		out.Text += fmt.Sprintf("[lines %d to %d of %d]\n", first, last, n)
	}
	out.Text += v.notes()
	return out, nil
}

// A lineView shows lines and remembers what it changed or cut.
type lineView struct{ crlf, mended, cut bool }

func (v *lineView) show(line []byte, long int64) string {
	line, _ = bytes.CutSuffix(line, []byte("\n"))
	if rest, ok := bytes.CutSuffix(line, []byte("\r")); ok && long == 0 {
		line, v.crlf = rest, true
	}
	s := string(line)
	if long > 0 {
		for i := 0; i < utf8.UTFMax && s != "" && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]); i++ {
			s, long = s[:len(s)-1], long+1
		}
		v.cut = true
		s += fmt.Sprintf("… [%d more bytes]", long)
	}
	if !utf8.ValidString(s) {
		v.mended = true
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return s
}

func (v *lineView) notes() (s string) {
	if v.crlf {
		s += "[lines end with CR LF]\n"
	}
	if v.mended {
		s += "[bytes that are not UTF-8 are shown as \ufffd]\n"
	}
	if v.cut {
		s += "[long lines are cut; use search_files or shell to see all of them]\n"
	}
	return s
}

// readLine reads a line, at most limit bytes of it, and returns how many more
// bytes it had. The error is io.EOF after the last.
func readLine(r *bufio.Reader, limit int) (line []byte, more int64, err error) {
	line, err = lines.Append(nil, r, limit)
	if !errors.Is(err, lines.ErrLong) {
		return line, 0, err
	}
	n, err := lines.Skip(r)
	if err == nil {
		n-- // the line feed
	}
	return line, n, err
}
