package prose

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/skein-dev/skein/render"
)

// A Stream shows Markdown that comes in pieces. What Add returned, then what
// End returns, are the lines that Render makes of the whole, if that is no
// more than it reads as Markdown. Make one with [NewStream].
type Stream struct {
	m     *Markdown
	line  string // the last line, as far as it has come, as it came
	open  string // the lines before it of the block that may still change, cleaned
	shown int    // lines of that block that were returned already
	later bool   // another block stands before it
}

// NewStream returns one that shows what m does.
func NewStream(m *Markdown) *Stream { return &Stream{m: m} }

// Use lets m show what follows, as when the terminal's width has changed.
func (s *Stream) Use(m *Markdown) { s.m = m }

// Add takes the next piece and returns the lines that it makes sure.
func (s *Stream) Add(piece string) (lines []string) {
	s.line += piece
	end := strings.LastIndexByte(s.line, '\n') + 1
	if end == 0 {
		return nil
	}
	s.open += render.CleanMarkdown(s.line[:end])
	s.line = s.line[end:]
	if tooMuch(s.open) {
		return s.close(plainLines(s.open), "")
	}
	b := s.blocks(s.open)
	doc := b.read()
	if at := b.last(doc); at > 0 {
		lines = s.close(b.of(doc, s.m.width), s.open[at:])
		b = s.blocks(s.open)
		doc = b.read()
	}
	// Of code that is not at its end yet, all lines but the last stay.
	if n, ok := doc.FirstChild().(*ast.FencedCodeBlock); ok {
		code := b.code(n)
		lines = append(lines, s.next(code[:len(code)-1])...)
	}
	return lines
}

// last takes the last block, which may still change, out of doc, and returns
// where its first line begins; 0 if there is no other. A table and the words
// right above it are one block: goldmark lets them begin at the same line.
func (b *blocks) last(doc ast.Node) (at int) {
	for n := doc.LastChild(); n != nil; n = doc.LastChild() {
		begin := bytes.LastIndexByte(b.src[:n.Pos()], '\n') + 1
		if at > 0 && begin != at {
			return at
		}
		at = begin
		if n == doc.FirstChild() {
			return 0
		}
		doc.RemoveChild(doc, n)
	}
	return 0
}

// Open returns the lines of what is not sure yet, as far as it has come.
func (s *Stream) Open() []string {
	shown := s.shown
	defer func() { s.shown = shown }()
	return s.End()
}

// End returns the lines that are left when no more comes.
func (s *Stream) End() []string {
	rest := s.open + render.CleanMarkdown(s.line)
	if tooMuch(rest) {
		return s.next(plainLines(rest))
	}
	b := s.blocks(rest)
	return s.next(b.of(b.read(), s.m.width))
}

func (s *Stream) blocks(src string) *blocks { return &blocks{s.m, []byte(src), false} }

// close returns what is left of lines, which are the block that was open and
// others, and goes on with rest.
func (s *Stream) close(lines []string, rest string) []string {
	lines = s.next(lines)
	s.open, s.shown, s.later = rest, 0, s.later || s.shown > 0
	return lines
}

// next returns those of the open block's lines that were not returned yet,
// after a blank one if another block stands before it.
func (s *Stream) next(lines []string) []string {
	if len(lines) <= s.shown {
		return nil
	}
	fresh := lines[s.shown:]
	if s.shown == 0 && s.later {
		fresh = append([]string{""}, fresh...)
	}
	s.shown = len(lines)
	return fresh
}

func plainLines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }
