package folder

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/skein-dev/skein/internal/lines"
)

// Rope returns the line, with its line feed, as a rope: a long text is quoted when the
// rope is read.
func (l Line) Rope() (r lines.Rope) {
	text := l.rope
	if text == nil && l.Text != nil && len(*l.Text) >= longText {
		is := lines.RopeOfText(*l.Text)
		text = &is
	}
	if text == nil {
		return lines.RopeOf(l.Append(nil))
	}
	l.rope, l.Text = nil, nil
	head := l.Append(nil)
	r = lines.RopeOf(append(head[:len(head)-len("}\n")], `,"text":`...))
	r.AppendQuoted(*text, quoted[[]byte])
	r.Append([]byte("}\n"))
	return r
}

// Append appends the line, with its line feed.
func (l Line) Append(b []byte) []byte {
	if l.rope != nil || l.Text != nil && len(*l.Text) >= longText {
		line := l.Rope()
		return line.AppendTo(slices.Grow(b, line.Len()))
	}
	if l.Text != nil {
		b = slices.Grow(b, len(l.File)+len(*l.Text)+len(*l.Text)/8+96)
	}
	b = append(b, '{')
	switch {
	case l.Folder != "":
		b = appendString(append(b, `"folder":`...), l.Folder)
	default:
		b = appendString(append(b, `"file":`...), l.File)
	}
	if l.Line != nil {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(*l.Line), 10)
	}
	if l.Mode != "" {
		b = appendString(append(b, `,"mode":`...), l.Mode)
		b = strconv.AppendInt(append(b, `,"mtime":`...), l.Mtime, 10)
	}
	switch {
	case l.Damage != "":
		b = appendString(append(b, `,"damage":`...), l.Damage)
	case l.Lines != nil:
		b = strconv.AppendInt(append(b, `,"lines":`...), int64(*l.Lines), 10)
	case l.Text != nil:
		b = appendString(append(b, `,"text":`...), *l.Text)
	case l.Bytes != nil:
		b = append(b, `,"bytes":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, l.Bytes), '"')
	}
	return append(b, "}\n"...)
}

// appendPiece appends the line that Piece makes of data.
func appendPiece(b []byte, name string, n int, data []byte) []byte {
	if len(data) >= longText || !utf8.Valid(data) {
		return Piece(name, n, data).Append(b)
	}
	b = slices.Grow(b, len(name)+len(data)+len(data)/8+64)
	b = appendString(append(b, `{"file":`...), name)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(n), 10)
	return append(appendString(append(b, `,"text":`...), data), "}\n"...)
}

// appendString appends text as a JSON string, byte for byte as [json.Encoder] writes
// one without the escapes for HTML: what is stored of a file must be the same every
// time it is read.
func appendString[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(quoted(append(b, '"'), text), '"')
}

// quoted appends text as it stands between the quotation marks of a JSON string: it is
// the [lines.Quote] of a line.
func quoted[T ~string | ~[]byte](b []byte, text T) []byte {
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, text[done:i]...), c)
			i++
			done = i
			continue
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, text[done:i]...), `\ufffd`...)
			done = i + 1
		case r == '\u2028', r == '\u2029':
			b = append(append(b, text[done:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			done = i + n
		}
		i += n
	}
	return append(b, text[done:]...)
}

const hexDigits = "0123456789abcdef"

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// Parse parses a line.
//
// The error says what is wrong with the line.
func Parse(line []byte) (l Line, err error) {
	if l, ok := parseText(bytes.TrimSpace(line)); ok {
		return l, nil
	}
	var of struct{ File, Folder string } // checked before the text, which may be long and not of a tree
	if err := json.Unmarshal(line, &of); err != nil {
		return l, err
	}
	if of.File == "" && of.Folder == "" {
		return l, fmt.Errorf("neither file nor folder: %.60q", line[:min(len(line), 240)])
	}
	return l, json.Unmarshal(line, &l)
}

// longText is the length in bytes from which a text is not held twice.
const longText = 64 << 10

// Peek is [Parse] for a line whose bytes are only written somewhere: a long text has no
// Text, and is unquoted piece by piece by [Line.WriteData], from line, which must not
// change until then.
//
// The error says what is wrong with the line.
func Peek(line []byte) (Line, error) {
	if len(line) > longText {
		if l, quoted, ok := parseHead(bytes.TrimSpace(line)); ok && lines.WriteUnquoted(io.Discard, quoted) == nil {
			l.quoted = quoted
			return l, nil
		}
	}
	return Parse(line)
}

// PeekRope is [Peek] for a rope. The texts of a line that is not a folder's are not
// quoted.
//
// The error says what is wrong with the line.
func PeekRope(line lines.Rope) (Line, error) {
	if outline, texts, ok := line.Outline(); ok && len(texts) > 0 {
		if l, quoted, ok := parseHead(bytes.TrimSpace(outline)); ok {
			if text, rest, ok := lines.UnquoteOutline(quoted, texts); ok && len(rest) == 0 {
				l.rope = &text
				return l, nil
			}
		}
		if _, err := Parse(line.Gist()); err != nil {
			return Line{}, err
		}
	}
	return Peek(line.Bytes())
}

// parseText parses the line of a file, or of a line of a file, as Append writes it if
// it has text, and returns false for all others: nearly all lines are like that, and
// encoding/json takes five times as long, and twice the memory of the text.
func parseText(line []byte) (l Line, ok bool) {
	l, quoted, ok := parseHead(line)
	if !ok {
		return l, false
	}
	text, ok := lines.Unquote(quoted)
	if !ok {
		return Line{}, false
	}
	l.Text = &text
	return l, true
}

// parseHead is parseText, but returns the text as it is between its quotes.
func parseHead(line []byte) (l Line, quoted []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"file":"`))
	if !ok || !utf8.Valid(line) {
		return l, nil, false
	}
	if l.File, rest, ok = cutPlain(rest); !ok || l.File == "" {
		return Line{}, nil, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"line":`)); ok {
		n, after, ok := cutNumber(rest, 9)
		if !ok {
			return Line{}, nil, false
		}
		at := int(n)
		l.Line, rest = &at, after
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"mode":"`)); ok {
		if l.Mode, rest, ok = cutPlain(rest); !ok {
			return Line{}, nil, false
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"mtime":`)); !ok {
			return Line{}, nil, false
		}
		if l.Mtime, rest, ok = cutNumber(rest, 19); !ok {
			return Line{}, nil, false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"text":"`)); !ok {
		return Line{}, nil, false
	}
	if rest, ok = bytes.CutSuffix(rest, []byte(`"}`)); !ok {
		return Line{}, nil, false
	}
	return l, rest, true
}

// cutPlain returns what is before the quote that ends a JSON string, and what is after
// it, if the string has no escapes.
func cutPlain(b []byte) (text string, rest []byte, ok bool) {
	at := bytes.IndexByte(b, '"')
	if at < 0 || !isPlain(b[:at]) {
		return "", nil, false
	}
	return string(b[:at]), b[at+1:], true
}

// cutNumber returns the number of at most this many digits before a comma, and the
// rest, which begins with the comma.
func cutNumber(b []byte, digits int) (n int64, rest []byte, ok bool) {
	at := bytes.IndexByte(b, ',')
	if at <= 0 || at > digits || b[0] == '0' && at > 1 {
		return 0, nil, false
	}
	for _, c := range b[:at] {
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, b[at:], n >= 0 // of 19 digits, what is too large has wrapped
}

// isPlain reports whether b needs no escape in a JSON string.
func isPlain(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c == '"' || c == '\\' })
}
