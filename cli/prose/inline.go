package prose

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/skein-dev/skein/render"
)

// A style is the combination of attributes of a run of text.
type style uint8

const (
	strong style = 1 << iota
	emphasis
	struck
	code
	heading
	faint
)

// A run is text of one style. A line feed in it ends the line.
type run struct {
	text  string
	style style
}

// put returns text as the terminal shows it in style s; without colors, code keeps
// its backticks.
func (p Paint) put(text string, s style) string {
	if !p.On {
		return text
	}
	for _, sgr := range []struct {
		style style
		code  int
	}{{faint, 2}, {emphasis, 3}, {struck, 9}, {code, 36}, {heading, 33}, {strong | heading, 1}} {
		if s&sgr.style != 0 {
			text = p.SGR(sgr.code, text)
		}
	}
	return text
}

// inline returns the runs of the text in n.
func (b *blocks) inline(n ast.Node, s style) (runs []run) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		runs = append(runs, b.span(c, s)...)
	}
	return runs
}

func (b *blocks) span(n ast.Node, s style) []run {
	switch n := n.(type) {
	case *ast.Text:
		words := string(n.Segment.Value(b.src))
		switch {
		case n.HardLineBreak(), n.SoftLineBreak() && b.typed:
			words += "\n"
		case n.SoftLineBreak():
			words += " "
		}
		return []run{{unescape(words), s}}
	case *ast.String:
		return []run{{string(n.Value), s}}
	case *ast.CodeSpan:
		return b.codeSpan(n, s)
	case *ast.Emphasis:
		if n.Level == 1 {
			return b.inline(n, s|emphasis)
		}
		return b.inline(n, s|strong)
	case *east.Strikethrough:
		return b.inline(n, s|struck)
	case *ast.Link:
		return b.link(b.inline(n, s), string(n.Destination))
	case *ast.Image:
		return b.link(append([]run{{"picture: ", s | faint}}, b.inline(n, s)...), string(n.Destination))
	case *ast.AutoLink:
		return []run{{string(n.URL(b.src)), s}}
	case *ast.RawHTML:
		return []run{{string(n.Segments.Value(b.src)), s}}
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []run{{"[x] ", s}}
		}
		return []run{{"[ ] ", s}}
	}
	return b.inline(n, s)
}

func (b *blocks) codeSpan(n *ast.CodeSpan, s style) []run {
	var words strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			words.Write(t.Segment.Value(b.src))
		}
	}
	text := strings.ReplaceAll(words.String(), "\n", " ")
	if !b.paint.On {
		text = "`" + text + "`"
	}
	return []run{{text, s | code}}
}

// link returns the text of a link and, if it differs from the text, its
// destination.
func (b *blocks) link(says []run, to string) []run {
	var words strings.Builder
	for _, r := range says {
		words.WriteString(r.text)
	}
	if to == "" || to == words.String() {
		return says
	}
	return append(says, run{" (" + to + ")", faint})
}

// unescape removes the backslashes that Markdown needs before punctuation, and
// resolves references such as &amp;. It also cleans the result.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	b := util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(s))))
	return render.Clean(string(b))
}
