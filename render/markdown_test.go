package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/skein-dev/skein"
)

// headings returns the sections of a Markdown document as another program
// parses them.
func headings(doc string) (all []string) {
	src := []byte(doc)
	root := goldmark.DefaultParser().Parse(gmtext.NewReader(src))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering && h.Level == 2 && h.Parent() == root {
			all = append(all, string(h.Lines().Value(src)))
		}
		return ast.WalkContinue, nil
	})
	return all
}

// Whatever a message says, the next one begins its own section.
func TestAMessageDoesNotSwallowTheNext(t *testing.T) {
	for _, v := range append(vectors,
		"```go\nnever ended", "~~~~\nnever ended\n~~~\n", "   ```\nindented", "````\n```\n", "a\n<div>\nb", "<pre>\nx", "<!-- x",
		"```", "> ```\n> quoted", "1. a\n\n   ```\n   in a list", "<script>\n\n\nx", "<?x\n\n", "text ending in two backslashes \\\\", "- - - - x", "a\n===", "setext\n---", "$$\nx") {
		s, entries := poisoned(v)
		got := headings(asMarkdown(t, s, entries, Options{Reasoning: true}))
		if want := len(entries); len(got) < want {
			t.Errorf("after %q there are %d sections, want %d: %q", v, len(got), want, got)
		}
	}
}

func TestFencesAreLongerThanAnyInTheText(t *testing.T) {
	for _, v := range []string{"plain", "```\ncode\n```", "``````", "a `b` c", "\n\n````"} {
		m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: skein.Text(v)}}}}
		doc := asMarkdown(t, skein.Session{ID: "s"}, []skein.Entry{{Seq: 1, Message: m}, {Seq: 2, Message: skein.UserSays("next")}}, Options{})
		src := []byte(doc)
		var got []string
		root := goldmark.DefaultParser().Parse(gmtext.NewReader(src))
		for n := root.FirstChild(); n != nil; n = n.NextSibling() {
			if n.Kind() == ast.KindFencedCodeBlock {
				got = append(got, string(n.Lines().Value(src)))
			}
		}
		if want := strings.TrimSuffix(v, "\n") + "\n"; len(got) != 1 || got[0] != want {
			t.Errorf("the output %q comes back as %q", v, got)
		}
	}
}

func TestCodeSpans(t *testing.T) {
	for in, want := range map[string]string{"a": "`a`", "": "", "a`b": "`` a`b ``", "``": "``` `` ```", "a\nb": "`a b`"} {
		if got := code(in); got != want {
			t.Errorf("code(%q) = %q, want %q", in, got, want)
		}
	}
}

// A session need not fit in memory: written messages are not kept.
func TestDocumentsAreStreams(t *testing.T) {
	s := skein.Session{ID: "s"}
	const n = 2000
	reached := 0
	from := func(yield func(skein.Entry, error) bool) {
		for i := range n {
			reached = i
			if !yield(skein.Entry{Seq: skein.Seq(i + 1), Message: skein.UserSays(strings.Repeat("word ", 100))}, nil) {
				return
			}
		}
	}
	full := fmt.Errorf("disk full")
	for name, write := range map[string]func(*stopper) error{
		"HTML":     func(w *stopper) error { return HTML(w, &s, from, Options{}) },
		"Markdown": func(w *stopper) error { return Markdown(w, &s, from, Options{}) },
		"JSON":     func(w *stopper) error { return JSON(w, &s, from, nil) },
	} {
		err := write(&stopper{left: 20_000, err: full})
		if err == nil || reached > n/10 {
			t.Errorf("%s to a disk that is full after 20 KB = %v after %d messages, want an error within %d", name, err, reached, n/10)
		}
	}
}

// stopper fails after some bytes.
type stopper struct {
	left int
	err  error
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, s.err
	}
	return len(p), nil
}
