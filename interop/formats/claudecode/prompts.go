package claudecode

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// RecoveredKey is the prefix of the client IDs of recovered prompts.
const RecoveredKey = "ccp:"

// A promptReader reads the lines of one session in the history.
type promptReader struct {
	id     string
	begun  bool
	cwd    string
	equals map[string]int
}

func openPrompts(f interop.File) interop.Reader {
	return &promptReader{id: f.Name, equals: map[string]int{}}
}

// Read implements [interop.Reader]; the error says that the record is not a JSON
// object.
func (r *promptReader) Read(l interop.Line) (m interop.Made, err error) {
	o, err := loose.Parse(l.Body)
	if err != nil || r.id == "" {
		return m, err
	}
	sum := digest(r.id, string(l.Body))
	key := RecoveredKey + hex.EncodeToString(sum[:16])
	if r.equals[key]++; r.equals[key] > 1 {
		key += "." + strconv.Itoa(r.equals[key])
	}
	m.Key = skein.ClientID(key)
	at, cwd := loose.Millis(o.Get("timestamp")), o.Str("project")
	if !r.begun {
		r.begun, r.cwd = true, cwd
		m.Begin = []interop.Begin{{ID: RecoveredID(r.id), Time: at, Created: skein.Created{
			Surface: "cli", Project: cwd, Cwd: cwd, Agent: Name, Provider: "anthropic", Program: Name, Origin: &skein.Origin{ID: r.id},
		}}}
		m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindChanged, at, skein.Changed{Tags: &[]string{RecoveredTag}})})
	} else if cwd != "" && cwd != r.cwd {
		r.cwd = cwd
		m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindChanged, at, skein.Changed{Cwd: &cwd})})
	}
	m.Items = append(m.Items, interop.Item{Event: skein.Say(at, asked(o))})
	return m, nil
}

// asked returns what the user typed, with pasted text in place of its marks.
func asked(o loose.Object) skein.Message {
	display, _ := o.Text("display")
	for _, m := range o.Obj("pastedContents") {
		p := parseObject(m.Value)
		text, ok := p.Text("content")
		if !ok || p.Str("type") != "text" {
			continue
		}
		display = paste(display, m.Name, text)
	}
	said := skein.UserSays(display)
	name, _, _ := strings.Cut(display, " ")
	said.Synthetic = builtin[name]
	said.Meta = skein.MustJSON(struct {
		Recovered bool `json:"recovered"`
	}{true})
	return said
}

// paste puts a text where display has its mark, such as [Pasted text #1 +12 lines].
func paste(display, number, text string) string {
	for _, sign := range []string{"[Pasted text #" + number, "[...Truncated text #" + number} {
		before, rest, ok := strings.Cut(display, sign)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != ']' {
			continue
		}
		if _, after, ok := strings.Cut(rest, "]"); ok {
			return before + text + after
		}
	}
	return display
}
