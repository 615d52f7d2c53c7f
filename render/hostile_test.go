package render

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/skein-dev/skein"
)

// vectors are texts that would do harm in a page that trusts them.
var vectors = []string{
	"[](http:/)e", "[x](https:opaque)",
	`<script>alert(1)</script>`,
	`</script><script src="https://evil.example/x.js"></script>`,
	`<img src=x onerror=alert(1)>`,
	`<svg onload=alert(1)><script>alert(1)</script></svg>`,
	`<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`,
	`<style>body{background:url(https://evil.example/)}</style>`,
	`</style><style>*{display:none}</style>`,
	`</title><script>alert(1)</script>`,
	`"><script>alert(1)</script>`,
	`' onmouseover='alert(1)`,
	`<a href="javascript:alert(1)">x</a>`,
	`[x](javascript:alert(1))`,
	`[x](JaVaScRiPt&colon;alert(1))`,
	`[x](java&#10;script:alert(1))`,
	`[x](vbscript:x) [y](data:text/html;base64,PHNjcmlwdD4=) [z](file:///etc/passwd)`,
	`<javascript:alert(1)>`,
	`![x](https://evil.example/pixel.png)`,
	`![x](data:image/svg+xml;base64,PHN2Zy8+)`,
	`![x"onerror="alert(1)](y "z")`,
	`[x]: javascript:alert(1)` + "\n\n[x]",
	"```\"><script>alert(1)</script>\ncode\n```",
	"```html\n<script>alert(1)</script>\n```",
	"```js onload=alert(1)\nx\n```",
	`<details open ontoggle=alert(1)>`,
	`<iframe src="https://evil.example"></iframe><object data=x></object><embed src=x>`,
	`<form action="https://evil.example"><input name=q><button>go</button></form>`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`,
	`<base href="https://evil.example/"><link rel=stylesheet href="https://evil.example/x.css">`,
	`<!--`, `<![CDATA[`, `<?php`, `<textarea>`, `<plaintext>`, `</main></body></html>`,
	"# x {onclick=alert(1)}",
	"| a |\n| - |\n| <script>alert(1)</script> |",
	"- [ ] <img src=x onerror=alert(1)>",
	"&lt;script&gt;alert(1)&lt;/script&gt;",
	"\x00<scr\x00ipt>alert(1)</scr\x00ipt>",
	"<div style=\"position:fixed;inset:0\" class=\"user\" id=\"seq-1\">over everything</div>",
}

// poisoned returns a session with v wherever it can have text.
func poisoned(v string) (skein.Session, []skein.Entry) {
	quoted := skein.AppendQuoted(nil, v)
	s := skein.Session{
		ID: skein.SessionID(v), Title: v, Description: v, Project: v, Agent: v, Model: v, Tags: []string{v},
		Origin: &skein.Origin{Format: v, Path: v}, Parent: &skein.Parent{Session: skein.SessionID(v), Seq: 1, Why: skein.Why(v)},
	}
	file := skein.File{Name: v, Media: v, URL: v, Size: 1, Blob: skein.Hash(v)}
	text := skein.Text(v)
	var entries []skein.Entry
	for _, role := range []skein.Role{skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.Role(v)} {
		for _, synthetic := range []bool{false, true} {
			m := skein.Message{
				ID: v, Role: role, Model: v, Agent: v, Provider: v, Stop: v, Synthetic: synthetic,
				Error: &skein.ErrorInfo{Kind: v, Message: v},
				Parts: []skein.Part{
					{Kind: skein.PartText, Text: text},
					{Kind: skein.PartText, Text: text + skein.Text(strings.Repeat(" more", 100))},
					{Kind: skein.PartReasoning, Text: text},
					{Kind: skein.PartSummary, Text: text},
					{Kind: skein.PartAgent, Text: text},
					{Kind: skein.PartFile, File: &file},
					{Kind: skein.PartOther, Raw: quoted},
					{Kind: skein.PartKind(v), Raw: quoted},
					{Kind: skein.PartCall, Call: &skein.Call{ID: v, Name: v, Input: json.RawMessage(`{` + string(quoted) + `:` + string(quoted) + `,"b":[` + string(quoted) + `],"c":"` + strings.Repeat("long ", 30) + `"}`)}},
					{Kind: skein.PartCall, Call: &skein.Call{ID: v, Name: v, Input: json.RawMessage(v)}},
					{Kind: skein.PartCall, Call: &skein.Call{ID: v, Name: v, Input: quoted}},
					{Kind: skein.PartResult, Result: &skein.Result{CallID: v, Name: v, Text: text, Raw: quoted, Files: []skein.File{file}, Failed: true}},
				},
			}
			seq := skein.Seq(len(entries) + 1)
			entries = append(entries, skein.Entry{Seq: seq, End: seq, Time: noon, Turn: 1, Message: m})
		}
	}
	return s, entries
}

// allowed has the elements of skein's pages, with the attributes of each.
var allowed = map[string][]string{
	"html": {"lang"}, "head": nil, "title": nil, "style": nil, "body": nil, "header": nil, "main": nil,
	"meta": {"charset", "http-equiv", "content", "name"}, "article": {"id", "class"}, "div": {"class"}, "span": {"class"}, "time": {"datetime"},
	"a": {"href", "rel"}, "b": nil, "p": {"class"}, "img": {"alt", "src"}, "details": {"class"}, "summary": nil, "dl": nil, "dt": nil, "dd": nil,
	"h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "pre": {"tabindex"}, "code": nil, "em": {"class"}, "strong": nil, "del": nil,
	"ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "hr": nil, "br": nil, "input": {"type", "checked", "disabled"},
	"table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"},
}

// checkPage reports everything in page that could run, load or restyle.
func checkPage(t *testing.T, page, what string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("%s: a comment: %q", what, n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		attrs, known := allowed[n.Data]
		if !known {
			t.Errorf("%s: element <%s>", what, n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(attrs, a.Key) || !goodValue(n, a) {
				t.Errorf("%s: <%s %s=%q>", what, n.Data, a.Key, a.Val)
			}
		}
	}
	for _, name := range []string{"title", "style", "body", "main", "head", "html"} {
		if count[name] != 1 {
			t.Errorf("%s: %d <%s>, want 1", what, count[name], name)
		}
	}
}

func goodValue(n *html.Node, a html.Attribute) bool {
	is := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(a.Val, p) })
	}
	switch a.Key {
	case "href":
		return is("#seq-", "http://", "https://", "mailto:")
	case "src":
		return is("data:image/png;base64,", "data:image/jpeg;base64,", "data:image/gif;base64,", "data:image/webp;base64,")
	case "id":
		return is("seq-") && n.Data == "article"
	case "http-equiv":
		return a.Val == "Content-Security-Policy"
	case "tabindex":
		return a.Val == "0"
	case "type":
		return a.Val == "checkbox"
	}
	return true
}

func TestNothingOfATranscriptRunsLoadsOrRestyles(t *testing.T) {
	o := Options{Reasoning: true, Cost: vectors[0], Image: func(skein.Hash) ([]byte, error) { return pixel, nil }}
	for _, v := range append(vectors, strings.Join(vectors, "\n\n"), strings.Join(vectors, " ")) {
		s, entries := poisoned(v)
		page := asHTML(t, s, entries, o)
		checkPage(t, page, v)
	}
}

func TestMarkupOfATranscriptIsShownAsText(t *testing.T) {
	s := skein.Session{ID: "s"}
	for _, v := range []string{"an <system-reminder>read me</system-reminder> element", "a <b>bold</b> claim", "<div>\nblock\n</div>", "<!-- note -->", "<script>\nalert(1)\n</script>"} {
		page := asHTML(t, s, []skein.Entry{{Seq: 1, Message: skein.UserSays(v)}}, Options{})
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		if got := textOf(doc); !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(v), " ")) {
			t.Errorf("of %q the page shows %q", v, got)
		}
	}
}

// textOf returns the text in the first article.
func textOf(doc *html.Node) string {
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "article" {
			for n := range n.Descendants() {
				if n.Type == html.TextNode {
					b.WriteString(n.Data)
				}
			}
			break
		}
	}
	return b.String()
}

func TestThePolicyAllowsTheStyleAndNothingElse(t *testing.T) {
	s, entries := sample()
	page := asHTML(t, s, entries, Options{})
	_, css, _ := strings.Cut(page, "<style>")
	css, _, _ = strings.Cut(css, "</style>")
	sum := sha256.Sum256([]byte(css))
	want := "default-src &#39;none&#39;; style-src &#39;sha256-" + html.EscapeString(base64.StdEncoding.EncodeToString(sum[:])) + "&#39;; img-src data:;"
	if !strings.Contains(page, want) {
		t.Errorf("the page has no policy %s", want)
	}
	for _, bad := range []string{"url(", "@import", "http:", "https:", "\r"} {
		if strings.Contains(style, bad) {
			t.Errorf("the style sheet has %q in it", bad)
		}
	}
	checkPage(t, page, "the sample")
}

func TestOnlyPicturesBecomeImages(t *testing.T) {
	s := skein.Session{ID: "s"}
	m := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Name: "x.png", Media: "image/png", Blob: "b"}}}}
	for data, want := range map[string]bool{string(pixel): true, "<svg onload=alert(1)>": false, "": false, "GIF89a": true} {
		o := Options{Image: func(skein.Hash) ([]byte, error) { return []byte(data), nil }}
		if got := strings.Contains(asHTML(t, s, []skein.Entry{{Seq: 1, Message: m}}, o), "<img"); got != want {
			t.Errorf("a file of %q becomes an image: %v, want %v", data, got, want)
		}
	}
}

// Text that takes other Markdown parsers seconds must not delay a page.
func TestNestedTextIsShownAsItIs(t *testing.T) {
	r := newRich()
	table := strings.Repeat("|", 500) + "\n" + strings.Repeat("|-", 500) + "|\n" + strings.Repeat("|a\n", 500)
	for _, v := range []string{table, strings.Repeat(">", 10_000), strings.Repeat("> ", 5000), strings.Repeat("- ", 5000), strings.Repeat("1. ", 3000), strings.Repeat("x", maxRich+1)} {
		if got := r.html(r.prose, v); !strings.HasPrefix(got, `<div class="plain">`) {
			t.Errorf("html(%.10q…) = %.40q…, want it plain", v, got)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, v := range vectors {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		s, entries := poisoned(v)
		checkPage(t, asHTML(t, s, entries[:4], Options{Reasoning: true}), v)
	})
}
