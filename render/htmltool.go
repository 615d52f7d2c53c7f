package render

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// call writes a tool call, folded; the line that stays visible has its gist.
func (p *htmlPage) call(e *skein.Entry, c *skein.Call) {
	n, about := fmt.Sprint(p.calls.add(c)), ""
	if state := p.o.Told.Call(e, c.ID); state != "" {
		about = ", " + state
	}
	fs := fields(c.Input)
	p.print(`<details class="call"><summary><b>`, line(c.Name), "</b> <code>", line(gist(fs)), "</code> <span>call ", n, line(about), "</span></summary>\n")
	p.short(fs)
	for _, f := range fs {
		if !f.long() && f.name != "" {
			continue
		}
		if f.name != "" {
			p.print("<h3>", line(f.name), "</h3>\n")
		}
		language := ""
		if f.json {
			language = "json"
		}
		p.code(language, f.value)
	}
	p.print("</details>\n")
}

// short writes the fields that fit on one line each.
func (p *htmlPage) short(fs []field) {
	open := false
	for _, f := range fs {
		if f.long() || f.name == "" {
			continue
		}
		if !open {
			p.print("<dl>\n")
			open = true
		}
		p.print("<div><dt>", line(f.name), "</dt><dd><code>", text(f.value), "</code></dd></div>\n")
	}
	if open {
		p.print("</dl>\n")
	}
}

func (p *htmlPage) result(r *skein.Result) {
	words := r.Text.UTF8()
	kind, failed := "result", ""
	if r.Failed {
		kind, failed = "result failed", "failed, "
	}
	name, n := p.calls.answered(r)
	answers := ""
	if n > 0 {
		answers = fmt.Sprintf("answers call %d, ", n)
	}
	p.print(`<details class="`, kind, `"><summary><b>`, line(name), "</b> <span>", answers, failed, extent(words), "</span></summary>\n")
	if words != "" {
		p.code("", words)
	}
	if len(r.Raw) > 0 {
		p.code("json", string(r.Raw))
	}
	p.print("</details>\n")
	for i := range r.Files {
		p.file(&r.Files[i])
	}
}

// extent returns the length of s, for people.
func extent(s string) string {
	switch n := strings.Count(strings.TrimRight(s, "\n"), "\n") + 1; {
	case s == "":
		return "no text"
	case n == 1:
		return "1 line"
	default:
		return fmt.Sprintf("%s lines", Count(int64(n)))
	}
}
