package transcript

import (
	"html/template"
	"strings"

	"github.com/skein-dev/skein"
)

// AskedCall is a call that waits for a person's permission.
type AskedCall struct {
	rendered
	Input template.HTML // all of it, as JSON
}

// Asked draws a call of session one, with nothing cut, masked or formatted away: a person
// decides by what they see.
func (m *Maker) Asked(one skein.Session, c *skein.Call) AskedCall {
	t := newTranscriber(m, PageView{Session: one, Uncut: true})
	t.plain = true
	shown := *c
	shown.Input = visibleEscapes(c.Input)
	out := &call{Name: c.Name}
	t.input(out, &shown)
	input, _ := t.code("json", string(shown.Input))
	return AskedCall{t.Show(out), input}
}

// visibleEscapes returns JSON whose strings have the character ␛ where they had ESC. What
// follows an ESC is otherwise not shown, though a shell would run it.
func visibleEscapes(input []byte) []byte {
	var out strings.Builder
	for text := string(input); ; {
		at := strings.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			out.WriteString(text)
			return []byte(out.String())
		}
		n := at + 2 // an escape
		if end := at + len(`\u001b`); end <= len(text) && strings.EqualFold(text[at:end], `\u001b`) {
			out.WriteString(text[:at] + "␛")
			text = text[end:]
			continue
		}
		out.WriteString(text[:n])
		text = text[n:]
	}
}
