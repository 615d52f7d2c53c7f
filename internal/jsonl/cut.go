package jsonl

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// LongLine is the prefix of the Damage of the pieces of a line that is too long: the
// pieces follow each other and are one line.
const LongLine = "line longer"

// cut returns the piece that line begins with. line is the rest of a line and not
// empty.
func (r *Reader) cut(line []byte) Piece {
	if r.long {
		return Piece{Raw: line, Damage: fmt.Sprintf("%s than %d bytes", LongLine, r.limits.Bytes)}
	}
	lead, nuls := leading(line)
	if lead == len(line) {
		return Piece{Raw: line, Damage: nulDamage(nuls)}
	}
	if c := line[lead]; c != '{' && c != '[' {
		return r.broken(line, lead, fmt.Sprintf("no JSON object: %.20q", line[lead:]))
	}
	n, depth, ok := value(line[lead:])
	if !ok {
		return r.broken(line, lead, "cut off")
	}
	end := lead + n
	trail, more := leading(line[end:])
	if rest := line[end+trail:]; !r.ended && bytes.HasPrefix(bom, rest) { // the rest of the byte order mark may still come
		trail += len(rest)
	}
	p := Piece{Raw: line[: end+trail : end+trail], Body: line[lead:end:end], Damage: nulDamage(nuls + more)}
	if depth > r.limits.Depth {
		p.Body, p.Damage = nil, fmt.Sprintf("nested %d deep", depth)
		return p
	}
	if !utf8.Valid(p.Body) {
		p.Body, p.Damage = bytes.ToValidUTF8(p.Body, []byte("\ufffd")), "invalid UTF-8"
	}
	return p
}

// broken returns what is not JSON at the start of line. It is Torn if the stream
// ended in it, because the rest may still come.
func (r *Reader) broken(line []byte, lead int, why string) Piece {
	if !r.ended {
		return Piece{Raw: line, Damage: "torn: the file ends in it", Torn: true}
	}
	n := lead + salvage(line[lead:])
	return Piece{Raw: line[:n:n], Damage: why}
}

func nulDamage(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d NUL bytes", n)
}
