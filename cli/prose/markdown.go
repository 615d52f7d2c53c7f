package prose

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/skein-dev/skein/render"
)

// Limits on what is parsed as Markdown; other text stays as it is. Parsing can take
// time that is quadratic in the size of the text.
const (
	maxMarkdown = 128 << 10 // bytes
	maxNested   = 31        // quotations and items of lists that one line begins
	maxProse    = 100       // columns: longer lines are hard to read
)

// A Markdown renders Markdown for a terminal. We do not use a library for it: those
// include every language that they can highlight, and their setup takes longer than
// everything else that a short command does.
type Markdown struct {
	paint Paint
	width int // columns
	parse goldmark.Markdown
}

// New returns a Markdown for a terminal of this width.
func New(p Paint, width int) *Markdown {
	return &Markdown{p, min(width, maxProse), goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...), // without link definitions
		)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
	)}
}

// Render returns words, which are untrusted, as the terminal shows them.
func (m *Markdown) Render(words string) string { return m.render(words, false) }

// RenderTyped is Render for what a person typed: it keeps line breaks.
func (m *Markdown) RenderTyped(words string) string { return m.render(words, true) }

func (m *Markdown) render(words string, typed bool) string {
	words = render.CleanMarkdown(words)
	if tooMuch(words) {
		return strings.TrimRight(words, "\n")
	}
	b := blocks{m, []byte(words), typed}
	return strings.Join(b.of(b.read(), m.width), "\n")
}

// tooMuch reports whether words exceed the limits for parsing as Markdown.
func tooMuch(words string) bool { return len(words) > maxMarkdown || render.Nested(words, maxNested) }

// read parses the text.
func (b *blocks) read() ast.Node { return b.parse.Parser().Parse(text.NewReader(b.src)) }

// A blocks renders the blocks of one text.
type blocks struct {
	*Markdown
	src   []byte
	typed bool
}

// of returns the lines of the blocks in n, at most width columns wide unless a part
// cannot be broken.
func (b *blocks) of(n ast.Node, width int) (lines []string) {
	width = max(width, 20)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		block := b.block(c, width)
		if len(block) > 0 && len(lines) > 0 && !b.tight(n, c) {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

// tight reports whether there is no blank line before the block c of n.
func (b *blocks) tight(n, c ast.Node) bool {
	item, isItem := n.(*ast.ListItem)
	if !isItem {
		return false
	}
	list, ok := item.Parent().(*ast.List)
	return ok && list.IsTight && c.Kind() != ast.KindFencedCodeBlock && c.Kind() != ast.KindCodeBlock
}

func (b *blocks) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		head := []run{{strings.Repeat("#", n.Level) + " ", heading}}
		return b.wrap(append(head, b.inline(n, heading)...), width)
	case *ast.Blockquote:
		return lead(b.paint.Dim("│ "), b.paint.Dim("│ "), b.of(n, width-2))
	case *ast.List:
		return b.list(n, width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return b.code(n)
	case *ast.ThematicBreak:
		return []string{b.paint.Dim(strings.Repeat("─", min(width, 40)))}
	case *ast.HTMLBlock:
		html := string(n.Lines().Value(b.src))
		if n.HasClosure() {
			html += string(n.ClosureLine.Value(b.src))
		}
		return strings.Split(strings.TrimRight(html, "\n"), "\n")
	}
	if t, ok := tableOf(n); ok {
		return b.table(t, width)
	}
	return b.wrap(b.inline(n, 0), width)
}

// code returns code unchanged but indented; if its lines were wrapped, it could not
// be copied.
func (b *blocks) code(n ast.Node) []string {
	lines := strings.Split(strings.TrimRight(string(n.Lines().Value(b.src)), "\n"), "\n")
	for i, l := range lines {
		lines[i] = "    " + b.paint.Cyan(l)
	}
	return lines
}

// lead puts first before the first of lines and rest before the others.
func lead(first, rest string, lines []string) []string {
	for i := range lines {
		if i == 0 {
			lines[i] = first + lines[i]
		} else {
			lines[i] = strings.TrimRight(rest+lines[i], " ")
		}
	}
	return lines
}
