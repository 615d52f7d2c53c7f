package sessions

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// Sizes of what is shown of a message in brief, in bytes.
const (
	briefText = 8 << 10
	briefTool = 600 // of a tool's input or output
)

// write formats a message for a model; reasoning is left out.
func write(b *strings.Builder, e *render.Entry, full bool) {
	m, progress := &e.Message, e.Calls
	text, calls := briefText, briefTool
	if full {
		text, calls = maxRead, maxRead
	}
	marks := ""
	for _, x := range []struct {
		is  bool
		say string
	}{{e.Rewound, "taken back"}, {m.Interrupted, "broke off"}, {m.Synthetic, "by a program"}} {
		if x.is {
			marks += ", " + x.say
		}
	}
	if e.Time != 0 {
		marks = ", " + date(e.Time) + marks
	}
	fmt.Fprintf(b, "[%s%s]\n", m.Role, marks)
	for i := range m.Parts {
		part(b, &m.Parts[i], text, calls)
		if m.Parts[i].Call != nil && len(progress) > 0 {
			if state := progress[0].Words(); state != "" {
				fmt.Fprintf(b, "(%s)\n", state)
			}
			progress = progress[1:]
		}
	}
	if m.Error != nil {
		fmt.Fprintf(b, "error: %s\n", short(m.Error.Message, calls))
	}
}

func part(b *strings.Builder, p *skein.Part, text, calls int) {
	switch {
	case p.Kind == skein.PartText, p.Kind == skein.PartSummary:
		fmt.Fprintf(b, "%s\n", short(p.Text.UTF8(), text))
	case p.Call != nil:
		fmt.Fprintf(b, "calls %s %s\n", p.Call.Name, short(string(p.Call.Input), calls))
	case p.Result != nil:
		what := "answers"
		if p.Result.Failed {
			what = "fails"
		}
		fmt.Fprintf(b, "%s %s: %s\n", p.Result.Name, what, short(strings.TrimSpace(p.Result.Text.UTF8()), calls))
		for i := range p.Result.Files {
			file(b, &p.Result.Files[i])
		}
	case p.File != nil:
		file(b, p.File)
	}
}

func file(b *strings.Builder, f *skein.File) {
	fmt.Fprintf(b, "file %s %s, %d bytes", f.Name, f.Media, f.Size)
	if f.Blob != "" {
		fmt.Fprintf(b, ", blob %s", f.Blob)
	}
	b.WriteString("\n")
}

// short returns s, or its first n bytes and how much was left out.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + fmt.Sprintf("… [%d more bytes]", len(s)-n)
}
