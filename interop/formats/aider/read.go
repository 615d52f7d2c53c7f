package aider

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A kind of line.
type kind int

const (
	answer kind = iota
	typed
	output
	head
)

func kindOf(line []byte, before kind) kind {
	switch {
	case bytes.HasPrefix(line, []byte(heading)), partial(line):
		return head
	case bytes.HasPrefix(line, []byte("#### ")):
		return typed
	case bytes.HasPrefix(line, []byte("> ")), before == output && bytes.HasPrefix(line, []byte("Cost: $")):
		return output
	case len(bytes.TrimSpace(line)) == 0:
		return before // it belongs to what it follows
	}
	return answer
}

// runs splits a session where lines of another kind begin.
func runs(data []byte) (pieces [][]byte) {
	from, at, now := 0, 0, head
	for line := range bytes.Lines(data) {
		if k := kindOf(line, now); k != now {
			if at > from {
				pieces = append(pieces, data[from:at:at])
			}
			from, now = at, k
		}
		at += len(line)
	}
	if from < len(data) {
		pieces = append(pieces, data[from:])
	}
	return pieces
}

// A reader reads the pieces of one session.
type reader struct {
	id    string // "" for the source with the order
	begin interop.Begin
	begun bool
	model string
	steps int
}

func open(f interop.File) interop.Reader {
	r := &reader{id: f.Name}
	dir := filepath.Dir(f.Path)
	r.begin = interop.Begin{ID: skein.SessionID(Name + "-" + f.Name), Created: skein.Created{
		Surface: "cli", Agent: Name, Program: Name, Cwd: dir, Project: dir, Origin: &skein.Origin{ID: f.Name},
	}}
	stamp, _, _ := strings.Cut(f.Name, ".")
	if t, err := time.ParseInLocation("20060102-150405", stamp, time.Local); err == nil {
		r.begin.Time = skein.At(t)
	}
	return r
}

// Read implements [interop.Reader]; the error says that the line is not a piece.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	if r.id == "" {
		return m, nil
	}
	piece, err := interop.Piece(l.Body)
	if err != nil || len(bytes.TrimSpace(piece)) == 0 {
		return m, err
	}
	m.Key = skein.ClientID("aider:" + r.id + ":" + strconv.Itoa(l.N))
	text := string(bytes.ToValidUTF8(piece, []byte("\ufffd")))
	first := bytes.TrimLeft(piece, "\r\n")
	switch k := kindOf(first, answer); {
	case k == head || l.N == 0 && bytes.HasPrefix(bytes.TrimSpace(piece), []byte(heading)):
		return interop.Made{}, nil
	case k == typed:
		r.put(&m, skein.Say(0, skein.UserSays(stripped(text, "#### "))))
	case k == output:
		r.output(&m, stripped(text, "> "))
	default:
		r.put(&m, skein.Say(0, skein.Message{Role: skein.RoleAssistant, Model: r.model, Parts: []skein.Part{skein.TextPart(strings.TrimSpace(text))}}))
	}
	return m, nil
}

// stripped returns lines without their mark, and without the two spaces that end a
// line in Markdown.
func stripped(text, mark string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(strings.TrimPrefix(line, mark), " \r\n")
		b.WriteString(line + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, r.begin)
	}
	m.Items = append(m.Items, interop.Item{Event: e})
}

// output reads what the program said.
func (r *reader) output(m *interop.Made, text string) {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if v, ok := strings.CutPrefix(line, "Aider v"); ok && !r.begun {
			r.begin.Created.Version = strings.TrimSpace(v)
			r.begin.Created.Origin.Version = r.begin.Created.Version
		}
		if model := modelIn(line); model != "" {
			if r.model = model; !r.begun {
				r.begin.Created.Model = model
			}
		}
	}
	r.put(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "aider:output", Data: skein.MustJSON(skein.Text(text))}))
	for i, line := range lines {
		if !strings.HasPrefix(line, "Tokens: ") {
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "Cost: $") {
			line += " " + lines[i+1]
		}
		if u := usageOf(line); u != (skein.Usage{}) {
			r.steps++
			r.put(m, skein.NewEvent(skein.KindStep, 0, skein.Step{
				Phase: "finish", Request: Name + ":" + r.id + ":" + strconv.Itoa(r.steps), Model: r.model, Usage: &u,
			}))
		}
	}
}

// modelIn returns the model named in a line of the program's startup.
func modelIn(line string) string {
	for _, mark := range []string{"Main model: ", "Model: ", "Models: "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			name, _, _ := strings.Cut(rest, " ")
			return strings.TrimRight(name, ",")
		}
	}
	return ""
}
