package render

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Entries are the messages of a session, in order, and at most one error,
// last: what [skein.Entries] gives, or a part of it.
type Entries = iter.Seq2[skein.Entry, error]

// Live yields what of entries stands in the conversation now: all but what
// was taken back. Errors are those of entries.
func Live(entries Entries) Entries {
	return func(yield func(skein.Entry, error) bool) {
		for e, err := range entries {
			if (err != nil || !e.Rewound) && !yield(e, err) {
				return
			}
		}
	}
}

// Options say what of a session a document has. The zero value is all but
// reasoning, with times in UTC.
type Options struct {
	Reasoning bool           // the models' reasoning too
	NoTools   bool           // tool calls and results are left out
	MaxOutput int            // tool inputs and outputs are cut after this many bytes; 0 for never
	Zone      *time.Location // of times; nil is UTC
	Cost      string         // what the session cost, for people; "" to leave it out
	Told      *Progress      // what events tell besides the messages; it serves one document

	// Image returns the bytes of an image to put into an HTML document. It may
	// be nil, and an error leaves that image out; its name is shown anyway.
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

// cut returns what is shown of a tool's input or output, and how many bytes
// are not.
func (o Options) cut(s string) (shown string, rest int) {
	if o.MaxOutput <= 0 || len(s) <= o.MaxOutput {
		return s, 0
	}
	shown = strings.ToValidUTF8(s[:o.MaxOutput], "")
	return shown, len(s) - len(shown)
}

// A fact is a line of the head of a document.
type fact struct{ name, value string }

// facts returns what is known of s, for its head.
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

// fileLine returns what is known of f besides its bytes, on one line.
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

// shows reports whether anything of m is left to show.
func (o Options) shows(m *skein.Message) bool {
	for i := range m.Parts {
		if !o.hidden(&m.Parts[i]) {
			return true
		}
	}
	return m.Error != nil
}

// Unwrap returns the words of a message without what programs put into them, and
// this: see [skein.Unwrap]. What a model said is its own words.
func Unwrap(m *skein.Message, words string) (typed string, wraps []skein.Wrap) {
	if m.Role == skein.RoleAssistant || m.Role == skein.RoleTool {
		return words, nil
	}
	return skein.Unwrap(words)
}
