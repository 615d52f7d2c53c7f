package folder

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Append appends the line, with its line feed.
func (l Line) Append(b []byte) []byte {
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

// appendPiece appends what Piece makes of data.
func appendPiece(b []byte, name string, n int, data []byte) []byte {
	if !utf8.Valid(data) {
		return Piece(name, n, data).Append(b)
	}
	b = slices.Grow(b, len(name)+len(data)+len(data)/8+64)
	b = appendString(append(b, `{"file":`...), name)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(n), 10)
	return append(appendString(append(b, `,"text":`...), data), "}\n"...)
}

// appendString appends text as a JSON string, byte for byte as [json.Encoder]
// writes one without the escapes for HTML: what is stored of a file must be the
// same each time it is read.
func appendString[T ~string | ~[]byte](b []byte, text T) []byte {
	b = append(b, '"')
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
	return append(append(b, text[done:]...), '"')
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

// Parse reads a line.
//
// The error says what is wrong with it.
func Parse(line []byte) (l Line, err error) {
	if l, ok := parsePiece(line); ok {
		return l, nil
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return l, err
	}
	if l.File == "" && l.Folder == "" {
		return l, fmt.Errorf("neither file nor folder: %.60q", line)
	}
	return l, nil
}

// parsePiece reads the line of a line of a file as Append writes it, and reports
// false of all others: nearly all lines are such, and json takes five times as
// long.
func parsePiece(line []byte) (l Line, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"file":"`))
	if !ok || !utf8.Valid(line) {
		return l, false
	}
	at := bytes.IndexByte(rest, '"')
	if at <= 0 || !isPlain(rest[:at]) {
		return l, false
	}
	name := string(rest[:at])
	if rest, ok = bytes.CutPrefix(rest[at:], []byte(`","line":`)); !ok {
		return l, false
	}
	at = bytes.IndexByte(rest, ',')
	if at <= 0 || at > 9 || rest[0] == '0' && at > 1 {
		return l, false
	}
	n := 0
	for _, c := range rest[:at] {
		if c < '0' || c > '9' {
			return l, false
		}
		n = 10*n + int(c-'0')
	}
	if rest, ok = bytes.CutPrefix(rest[at:], []byte(`,"text":"`)); !ok {
		return l, false
	}
	if rest, ok = bytes.CutSuffix(rest, []byte(`"}`)); !ok {
		return l, false
	}
	text, ok := unquote(rest)
	if !ok {
		return l, false
	}
	return Line{File: name, Line: &n, Text: &text}, true
}

// isPlain reports whether b stands for itself within a JSON string.
func isPlain(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c == '"' || c == '\\' })
}

// unquote returns what b, which is valid UTF-8, stands for between the quotes of
// a JSON string. It knows the escapes of appendString but for \u, and reports
// false if there is anything else.
func unquote(b []byte) (string, bool) {
	var out strings.Builder
	out.Grow(len(b))
	done := 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c != '\\' || i+1 == len(b) {
			return "", false
		}
		out.Write(b[done:i])
		i++
		switch b[i] {
		case '"', '\\':
			done = i // it stands for itself
			continue
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		default:
			return "", false
		}
		done = i + 1
	}
	out.Write(b[done:])
	return out.String(), true
}
