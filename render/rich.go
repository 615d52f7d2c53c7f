package render

import (
	"html"
	"io"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Bounds of what is rendered as Markdown and colored; longer text is shown as
// plain text. Rendering Markdown can take quadratic time.
const (
	maxRich     = 64 << 10 // bytes of a text
	maxCells    = 50_000   // of a table: short rows are filled up to all columns
	maxColoured = 32 << 10 // bytes of a piece of code
)

// rich renders untrusted Markdown as HTML. It is safe for concurrent use.
type rich struct {
	prose goldmark.Markdown // line feeds are spaces
	typed goldmark.Markdown // line feeds stay: what people type
}

func newRich() *rich {
	return &rich{prose: newMarkdown(), typed: newMarkdown(goldhtml.WithHardWraps())}
}

func newMarkdown(o ...renderer.Option) goldmark.Markdown {
	o = append(o, renderer.WithNodeRenderers(util.Prioritized(&plainNodes{}, 1)))
	return goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.TaskList, extension.Linkify),
		goldmark.WithRendererOptions(o...),
	)
}

// html renders text, which is Markdown, as HTML that is safe to show.
func (r *rich) html(md goldmark.Markdown, text string) string {
	text = CleanMarkdown(text)
	var b strings.Builder
	if tooRich(text) || md.Convert([]byte(text), &b) != nil {
		return `<div class="plain">` + html.EscapeString(text) + `</div>`
	}
	return sieve(b.String())
}

// tooRich reports whether rendering text as Markdown may take long.
func tooRich(text string) bool {
	if len(text) > maxRich || Nested(text, maxNested) {
		return true
	}
	rows, columns := 0, 0
	for line := range strings.Lines(text) {
		rows++
		if n := strings.Count(line, "|"); n > columns && strings.Trim(line, "|:- \t\r\n>") == "" {
			columns = n
		}
	}
	return rows*columns > maxCells
}

// maxNested is how many containers one line of real text begins at most.
const maxNested = 63

// Nested reports whether a line of Markdown begins more than most containers, that
// is, quotations and items of lists: the time to parse such a text grows faster than
// the text.
func Nested(text string, most int) bool {
	for line := range strings.Lines(text) {
		if containers(line) > most {
			return true
		}
	}
	return false
}

// containers returns how many containers a line begins.
func containers(line string) (n int) {
	for ; ; n++ {
		line = strings.TrimLeft(line, " \t")
		digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
		switch rest := line[digits:]; {
		case rest == "":
			return n
		case digits == 0 && strings.IndexByte(">-+*", rest[0]) >= 0,
			digits > 0 && digits <= 9 && (rest[0] == '.' || rest[0] == ')'):
			line = rest[1:]
		default:
			return n
		}
	}
}

// plainNodes renders markup in the text, and what would be loaded, as text, and
// colors code.
type plainNodes struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (plainNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
	r.Register(ast.KindImage, image)
	r.Register(ast.KindFencedCodeBlock, fencedCode)
}

func rawHTML(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	text, segments := "", n.(*ast.RawHTML).Segments
	for i := range segments.Len() {
		at := segments.At(i)
		text += string(at.Value(src))
	}
	_, err := io.WriteString(w, html.EscapeString(text))
	return ast.WalkSkipChildren, err
}

func htmlBlock(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := n.(*ast.HTMLBlock)
	text := lines(n, src)
	if b.HasClosure() {
		text += string(b.ClosureLine.Value(src))
	}
	text = html.EscapeString(strings.TrimRight(text, "\n"))
	_, err := io.WriteString(w, "<p>"+strings.ReplaceAll(text, "\n", "<br>\n")+"</p>\n")
	return ast.WalkSkipChildren, err
}

// image shows that there was a picture, and its address, but does not load it.
func image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, err := io.WriteString(w, `<em class="image">picture: `)
		return ast.WalkContinue, err
	}
	to := string(n.(*ast.Image).Destination)
	if strings.HasPrefix(to, "data:") {
		to = "inline"
	}
	_, err := io.WriteString(w, " ("+html.EscapeString(to)+")</em>")
	return ast.WalkContinue, err
}

func fencedCode(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := string(n.(*ast.FencedCodeBlock).Language(src))
	_, err := io.WriteString(w, `<pre tabindex="0"><code>`+colour(language, lines(n, src))+"</code></pre>\n")
	return ast.WalkSkipChildren, err
}

func lines(n ast.Node, src []byte) string { return string(n.Lines().Value(src)) }
