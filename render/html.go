package render

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the style sheet
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/skein-dev/skein"
)

//go:embed style.css
var style string

// HTML writes s and its messages to w as one self-contained HTML file: no
// script, no font, no external images. It is readable on a phone and a wide
// screen, light and dark. Tool calls and results are folded.
//
// The error is that of entries or of w.
func HTML(w io.Writer, s *skein.Session, entries Entries, o Options) (err error) {
	defer skein.Wrapf(&err, "render: HTML of %s", s.ID)
	p := &htmlPage{w: bufio.NewWriter(w), o: o, rich: newRich()}
	p.head(s)
	for e, err := range entries {
		if err != nil {
			return err
		}
		p.failed(&e)
		p.entry(&e)
		if p.err != nil {
			return p.err
		}
	}
	p.failed(nil)
	p.print("</main>\n</body>\n</html>\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// policy returns what the page may load: only its own style and embedded
// images.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src data:; base-uri 'none'; form-action 'none'"
}

// htmlPage writes one document. Its methods do nothing after an error.
type htmlPage struct {
	w     *bufio.Writer
	o     Options
	rich  *rich
	marks marks
	calls calls
	err   error
}

// print writes markup, which must not contain unescaped text of a session.
func (p *htmlPage) print(markup ...string) {
	for _, s := range markup {
		if p.err == nil {
			_, p.err = p.w.WriteString(s)
		}
	}
}

// text returns s cleaned and escaped.
func text(s string) string { return html.EscapeString(Clean(s)) }

// line returns s cleaned, on one line and escaped.
func line(s string) string { return html.EscapeString(Line(s)) }

func (p *htmlPage) head(s *skein.Session) {
	p.print("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		`<meta http-equiv="Content-Security-Policy" content="`, html.EscapeString(policy()), "\">\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`+"\n",
		`<meta name="referrer" content="no-referrer">`+"\n",
		`<meta name="color-scheme" content="light dark">`+"\n",
		"<title>", line(s.Name()), "</title>\n<style>", style, "</style>\n</head>\n<body>\n",
		"<header>\n<h1>", line(s.Name()), "</h1>\n<dl>\n")
	for _, f := range facts(s, p.o) {
		p.print("<div><dt>", line(f.name), "</dt><dd>", line(f.value), "</dd></div>\n")
	}
	p.print("</dl>\n</header>\n<main>\n")
}

// failed writes the requests that failed before e.
func (p *htmlPage) failed(e *skein.Entry) {
	for _, text := range p.o.Told.Before(e) {
		p.print(`<p class="error">`, line(text), "</p>\n")
	}
}

func (p *htmlPage) entry(e *skein.Entry) {
	m := &e.Message
	if !p.o.shows(m) {
		return
	}
	for _, text := range p.marks.before(e) {
		p.print(`<p class="mark">`, html.EscapeString(text), "</p>\n")
	}
	seq := fmt.Sprint(e.Seq)
	p.print(`<article id="seq-`, seq, `" class="`, class(e), `">`+"\n<h2><b>", line(speaker(m)), "</b>")
	if e.Turn > 0 && m.Typed() {
		p.print(" <span>turn ", fmt.Sprint(e.Turn), "</span>")
	}
	if m.Model != "" {
		p.print(" <span>", line(m.Model), "</span>")
	}
	if e.Time != 0 {
		p.print(` <time datetime="`, line(e.Time.String()), `">`, line(p.o.time(e.Time)), "</time>")
	}
	p.print(` <a href="#seq-`, seq, `">`, seq, "</a></h2>\n")
	for i := range m.Parts {
		if part := &m.Parts[i]; !p.o.hidden(part) {
			p.part(e, part)
		}
	}
	if m.Error != nil {
		p.print(`<p class="error">`, line(errorLine(m.Error)), "</p>\n")
	}
	if m.Interrupted {
		p.print(`<p class="note">Interrupted.</p>` + "\n")
	}
	p.print("</article>\n")
}

// class returns the classes of an entry, none of which come from the session.
func class(e *skein.Entry) string {
	c := "other"
	switch m := &e.Message; {
	case m.Role == skein.RoleUser && m.Synthetic, m.Role == skein.RoleSystem:
		c = "program"
	case m.Role == skein.RoleUser, m.Role == skein.RoleSteer:
		c = "user"
	case m.Role == skein.RoleAssistant:
		c = "assistant"
	case m.Role == skein.RoleTool:
		c = "tool"
	}
	if e.Rewound {
		c += " rewound"
	}
	return c
}

func (p *htmlPage) part(e *skein.Entry, part *skein.Part) {
	m := &e.Message
	words := part.Text.UTF8()
	switch {
	case part.Call != nil:
		p.call(e, part.Call)
	case part.Result != nil:
		p.result(part.Result)
	case part.File != nil:
		p.file(part.File)
	case part.Kind == skein.PartReasoning:
		p.print(`<details class="reasoning"><summary>Reasoning</summary>`, p.markdown(m, words), "</details>\n")
	case part.Kind == skein.PartSummary:
		p.print(`<details class="summary"><summary>Summary of what was compacted</summary>`, p.markdown(m, words), "</details>\n")
	case part.Kind == skein.PartAgent:
		p.print(`<p class="note">Agent `, line(words), "</p>\n")
	case words != "":
		p.words(m, part.Synthetic || m.Synthetic, words)
	case len(part.Raw) > 0:
		p.print(`<details><summary>`, line(string(part.Kind)), "</summary>")
		p.code("json", string(part.Raw))
		p.print("</details>\n")
	}
}

// words writes text, with what programs put into it folded, one line each.
func (p *htmlPage) words(m *skein.Message, program bool, words string) {
	typed, wraps := Unwrap(m, words)
	for _, w := range wraps {
		p.print(`<details class="program"><summary>`, line(w.Line()), "</summary>", p.markdown(m, w.Text), "</details>\n")
	}
	switch {
	case typed == "":
	case program && len(typed) > 300:
		p.print(`<details class="program"><summary>`, line(gist([]field{{value: Clean(typed)}})), "</summary>", p.markdown(m, typed), "</details>\n")
	default:
		p.print(`<div class="text">`, p.markdown(m, typed), "</div>\n")
	}
}

func (p *htmlPage) markdown(m *skein.Message, words string) string {
	if m.Role == skein.RoleAssistant {
		return p.rich.html(p.rich.prose, words)
	}
	return p.rich.html(p.rich.typed, words)
}

// code writes a block of code.
func (p *htmlPage) code(language, code string) {
	shown, rest := p.o.cut(Clean(code))
	p.print(`<pre tabindex="0"><code>`, colour(language, shown), "</code></pre>\n")
	if rest > 0 {
		p.print(`<p class="note">… and `, Count(int64(rest)), " more bytes</p>\n")
	}
}

func (p *htmlPage) file(f *skein.File) {
	p.print(`<p class="file">`, line(fileLine(f)), "</p>\n")
	if p.o.Image == nil || f.Blob == "" {
		return
	}
	data, err := p.o.Image(f.Blob)
	kind := pictureKind(data)
	if err != nil || kind == "" {
		return
	}
	p.print(`<p><img alt="`, line(f.Name), `" src="data:`, kind, `;base64,`, base64.StdEncoding.EncodeToString(data), "\"></p>\n")
}

// pictureKind returns the media type of a picture that browsers show, by its
// first bytes; "" for anything else, in particular SVG.
func pictureKind(data []byte) string {
	for begin, kind := range map[string]string{"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff": "image/jpeg", "GIF8": "image/gif"} {
		if strings.HasPrefix(string(data[:min(len(data), 8)]), begin) {
			return kind
		}
	}
	if len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		return "image/webp"
	}
	return ""
}
