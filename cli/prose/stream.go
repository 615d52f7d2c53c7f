package prose

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/skein-dev/skein/render"
)

// A Stream shows Markdown that arrives in pieces. The lines that Add and then End
// return are those that Render makes of the whole text, unless that exceeds the
// limits for Markdown. Make one with [NewStream].
type Stream struct {
	m     *Markdown
	line  string // the incomplete last line, not cleaned
	open  string // the lines before it that belong to the block that may still change, cleaned
	shown int    // how many lines of that block were returned
	later bool   // another block is above it
}

// NewStream returns a Stream that renders with m.
func NewStream(m *Markdown) *Stream { return &Stream{m: m} }

// Use renders what follows with m, for when the terminal's width has changed.
func (s *Stream) Use(m *Markdown) { s.m = m }

// Add appends the next piece and returns the lines that can no longer change.
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
	// In code that has not ended yet, all lines but the last are final.
	if n, ok := doc.FirstChild().(*ast.FencedCodeBlock); ok {
		code := b.code(n)
		lines = append(lines, s.next(code[:len(code)-1])...)
	}
	return lines
}

// last removes the last block, which may still change, from doc, and returns where
// its first line begins; 0 if it is the only block. A table and the text directly
// above it are one block: goldmark gives them the same start.
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

// Open returns the lines so far that may still change.
func (s *Stream) Open() []string {
	shown := s.shown
	defer func() { s.shown = shown }()
	return s.End()
}

// End returns the remaining lines when the text is complete.
func (s *Stream) End() []string {
	rest := s.open + render.CleanMarkdown(s.line)
	if tooMuch(rest) {
		return s.next(plainLines(rest))
	}
	b := s.blocks(rest)
	return s.next(b.of(b.read(), s.m.width))
}

func (s *Stream) blocks(src string) *blocks { return &blocks{s.m, []byte(src), false} }

// close returns those of lines that were not returned yet. The lines are those of
// the open block and of blocks after it; rest becomes the open block.
func (s *Stream) close(lines []string, rest string) []string {
	lines = s.next(lines)
	s.open, s.shown, s.later = rest, 0, s.later || s.shown > 0
	return lines
}

// next returns those of the open block's lines that were not returned yet, after a
// blank one if another block is above.
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
