package cli

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// call returns one line about a tool call; with --tools, its input below it.
func (t *transcript) call(c *skein.Call) string {
	p := t.j.paint
	name := p.Yellow("→ " + render.Line(c.Name))
	if t.o.tools {
		return "  " + name + "\n" + t.indent("    ", t.clean(inputText(c.Input)))
	}
	about := gist(c.Input)
	if t.width > 0 {
		about = cut(about, max(t.width-len(c.Name)-8, 10))
	}
	return "  " + name + " " + p.Dim(about)
}

// result returns what a tool answered: with --tools all of it, else only that it
// failed. If it is not directly below its call, it names the call.
func (t *transcript) result(r *skein.Result) string {
	p := t.j.paint
	mark, text := p.Dim("←"), t.clean(r.Text.UTF8())
	if r.Failed {
		mark = p.Red("✗")
	}
	of := ""
	if r.CallID != t.above && t.asked[r.CallID] != "" {
		of = cut(render.Line(t.asked[r.CallID]), 40)
	}
	if t.o.tools {
		if len(r.Raw) > 0 {
			text = strings.TrimLeft(text+"\n"+t.clean(string(r.Raw)), "\n")
		}
		for _, f := range r.Files {
			text += "\n▪ " + render.Line(f.Name+" "+f.Media)
		}
		if text == "" {
			text = "(nothing)"
		}
		return strings.TrimRight("  "+mark+" "+p.Yellow(of), " ") + "\n" + t.indent("    ", text)
	}
	if !r.Failed {
		return ""
	}
	line := render.Line(text)
	if of != "" {
		line = of + ": " + line
	}
	if t.width > 0 {
		line = cut(line, max(t.width-6, 10))
	}
	return "  " + mark + " " + p.Dim(line)
}

// other returns a part that the importer could not interpret, as JSON: with --tools
// all of it.
func (t *transcript) other(raw json.RawMessage) string {
	mark := t.j.paint.Dim("▪")
	if t.o.tools {
		return "  " + mark + "\n" + t.indent("    ", t.clean(inputText(raw)))
	}
	line := render.Line(string(raw))
	if t.width > 0 {
		line = cut(line, max(t.width-6, 10))
	}
	return "  " + mark + " " + t.j.paint.Dim(line)
}

// gistKeys lists the input fields that best say what a call does.
var gistKeys = []string{"command", "cmd", "pattern", "query", "file_path", "path", "url", "description", "prompt"}

// gist returns what a call's input is about, on one line.
func gist(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for _, key := range gistKeys {
			if s, ok := skein.Unquote(fields[key]); ok {
				return render.Line(s)
			}
		}
		if len(fields) == 1 {
			for _, v := range fields {
				if s, ok := skein.Unquote(v); ok {
					return render.Line(s)
				}
			}
		}
	}
	return render.Line(inputText(input))
}

// inputText returns a call's input for people: a string as its text, else the JSON,
// indented if it is long.
func inputText(input json.RawMessage) string {
	if s, ok := skein.Unquote(input); ok {
		return s
	}
	var b bytes.Buffer
	if len(input) > 60 && json.Indent(&b, input, "", "  ") == nil {
		return b.String()
	}
	return strings.TrimSpace(string(input))
}
