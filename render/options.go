package render

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Entries are the messages of a session, in order, and at most one error, last:
// the result of [skein.Entries], or a part of it.
type Entries = iter.Seq2[skein.Entry, error]

// Live yields those of entries that are live: all except what was rewound.
// Errors are those of entries.
func Live(entries Entries) Entries {
	return func(yield func(skein.Entry, error) bool) {
		for e, err := range entries {
			if (err != nil || !e.Rewound) && !yield(e, err) {
				return
			}
		}
	}
}

// Options say what a document contains of a session. The zero value means
// everything except reasoning, with times in UTC.
type Options struct {
	Reasoning bool           // include the models' reasoning
	NoTools   bool           // leave out tool calls and results
	MaxOutput int            // maximum bytes of a tool's input or output, the rest is cut; 0 for no limit
	Zone      *time.Location // of times; nil means UTC
	Cost      string         // what the session cost, for people; "" to leave it out
	Told      *Outcomes      // what events say besides the messages; use it for one document only

	// Image returns the bytes of an image for an HTML document. It may be nil,
	// and an error leaves the image out; its name is shown anyway.
	Image func(skein.Hash) ([]byte, error)
}

func (o Options) time(t skein.Time) string {
	if t == 0 {
		return ""
	}
	zone := o.Zone
	if zone == nil {
		zone = time.UTC
	}
	return t.Std().In(zone).Format("2006-01-02 15:04:05 MST")
}

// cut returns the shown part of a tool's input or output, and how many bytes
// are not shown.
func (o Options) cut(s string) (shown string, rest int) {
	if o.MaxOutput <= 0 || len(s) <= o.MaxOutput {
		return s, 0
	}
	shown = strings.ToValidUTF8(s[:o.MaxOutput], "")
	return shown, len(s) - len(shown)
}

// A fact is a line in the head of a document.
type fact struct{ name, value string }

// facts returns the facts about s for its head.
func facts(s *skein.Session, o Options) (fs []fact) {
	add := func(name, value string) {
		if value != "" && value != "0" {
			fs = append(fs, fact{name, Line(value)})
		}
	}
	add("Session", string(s.ID))
	add("Description", s.Description)
	add("Project", s.Project)
	add("Agent", s.Agent)
	add("Model", s.Model)
	if s.Origin != nil {
		add("Imported from", strings.TrimSpace(s.Origin.Format+" "+s.Origin.Path))
	}
	if s.Parent != nil {
		add("Parent", fmt.Sprintf("%s of %s at %d", s.Parent.Why, s.Parent.Session, s.Parent.Seq))
	}
	add("Created", o.time(s.Created))
	add("Updated", o.time(s.Updated))
	add("Messages", fmt.Sprint(s.Messages))
	add("Turns", fmt.Sprint(s.Turns))
	if u := s.Usage; u.Tokens() > 0 {
		add("Tokens", fmt.Sprintf("%s in, %s out", Count(u.Prompt()), Count(u.Output)))
	}
	add("Cost", o.Cost)
	add("Tags", strings.Join(s.Tags, ", "))
	return fs
}

// speaker returns who says m, for people.
func speaker(m *skein.Message) string {
	switch {
	case m.Role == skein.RoleUser && m.Synthetic:
		return "Program"
	case m.Role == skein.RoleAssistant && m.Agent != "":
		return "Assistant (" + Line(m.Agent) + ")"
	}
	role := []rune(Line(string(m.Role)))
	if len(role) == 0 {
		return "Somebody"
	}
	return strings.ToUpper(string(role[:1])) + string(role[1:])
}

// fileLine returns a description of f without its bytes, on one line.
func fileLine(f *skein.File) string {
	name := Line(f.Name)
	if name == "" {
		name = "unnamed"
	}
	if f.First > 0 {
		name += fmt.Sprintf(", lines %d to %d", f.First, max(f.First, f.Last))
	}
	var also []string
	if f.Media != "" {
		also = append(also, Line(f.Media))
	}
	if f.Size > 0 {
		also = append(also, Bytes(f.Size))
	}
	if f.URL != "" && !strings.HasPrefix(f.URL, "data:") {
		also = append(also, Line(f.URL))
	}
	if len(also) > 0 {
		name += " (" + strings.Join(also, ", ") + ")"
	}
	return name
}

// hidden reports whether part p is left out.
func (o Options) hidden(p *skein.Part) bool {
	switch p.Kind {
	case skein.PartReasoning:
		return !o.Reasoning || p.Text == ""
	case skein.PartCall, skein.PartResult:
		return o.NoTools
	}
	return false
}

// shows reports whether any part of m is shown.
func (o Options) shows(m *skein.Message) bool {
	for i := range m.Parts {
		if !o.hidden(&m.Parts[i]) {
			return true
		}
	}
	return m.Error != nil
}

// Unwrap returns the words of a message without what programs added to them,
// and the additions: see [skein.Unwrap]. A model's words are returned
// unchanged.
func Unwrap(m *skein.Message, words string) (typed string, wraps []skein.Wrap) {
	if m.Role == skein.RoleAssistant || m.Role == skein.RoleTool {
		return words, nil
	}
	return skein.Unwrap(words)
}

// FailureLine returns why a tool failed, on one line, without the envelopes of the
// program that ran it.
func FailureLine(r *skein.Result) string {
	text := r.Text.UTF8()
	if words, _ := skein.Unwrap(text); words != "" {
		text = words
	}
	return Line(text)
}
