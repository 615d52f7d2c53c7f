package cursor

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// cutText splits an old transcript where the speaker changes: at each line that is
// only user: or assistant:.
func cutText(data []byte) (pieces [][]byte, whole bool) {
	from, at := 0, 0
	for line := range bytes.Lines(data) {
		if who := strings.TrimSpace(string(line)); (who == "user:" || who == "assistant:") && at > from {
			pieces = append(pieces, data[from:at:at])
			from = at
		}
		at += len(line)
	}
	if from < len(data) {
		pieces = append(pieces, data[from:])
	}
	return pieces, true
}

// A textReader reads the pieces of an old transcript.
type textReader struct {
	session
	blocks blocks.Reader
	calls  int
	open   []string // calls without a result so far
}

func openText(f interop.File) interop.Reader { return &textReader{session: ofTranscript(f)} }

// Read implements [interop.Reader]; the error says that the line is not a piece.
func (r *textReader) Read(l interop.Line) (m interop.Made, err error) {
	piece, err := interop.Piece(l.Body)
	if err != nil {
		return m, err
	}
	who, text, _ := strings.Cut(string(piece), "\n")
	m.Key = skein.ClientID("cursor:" + r.id + ":" + strconv.Itoa(l.N))
	switch strings.TrimSpace(who) {
	case "user:":
		said := skein.Message{Role: skein.RoleUser, Parts: asked(strings.TrimSpace(text))}
		said.Synthetic = !typed(said.Parts)
		r.in(workspaceIn(said.Parts))
		r.put(&m, skein.Say(0, said))
	case "assistant:":
		r.runs(&m, r.answer(text))
	default:
		if len(bytes.TrimSpace(piece)) > 0 {
			r.put(&m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "cursor:text", Data: skein.MustJSON(skein.Text(piece))}))
		}
	}
	return m, nil
}

// runs adds parts in order, with results said by the tools.
func (r *textReader) runs(m *interop.Made, parts []skein.Part) {
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && (parts[n].Kind == skein.PartResult) == (parts[0].Kind == skein.PartResult) {
			n++
		}
		role := skein.RoleAssistant
		if parts[0].Kind == skein.PartResult {
			role = skein.RoleTool
		}
		r.put(m, skein.Say(0, skein.Message{Role: role, Parts: parts[:n]}))
		parts = parts[n:]
	}
}

// The lines that announce the indented lines after them.
const (
	markThinking = "[Thinking]"
	markCall     = "[Tool call] "
	markResult   = "[Tool result]"
)

// answer returns the parts of what the model said.
func (r *textReader) answer(text string) (parts []skein.Part) {
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); {
		mark := strings.TrimSpace(lines[i])
		from := i + 1
		switch {
		case strings.HasPrefix(mark, markThinking):
			i = body(lines, from)
			thought := strings.TrimPrefix(mark, markThinking) + "\n" + strings.Join(lines[from:i], "")
			parts = append(parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(strings.TrimSpace(thought))})
		case strings.HasPrefix(mark, markCall):
			i = body(lines, from)
			parts = append(parts, r.call(strings.TrimPrefix(mark, markCall), lines[from:i]))
		case strings.HasPrefix(mark, markResult):
			i = body(lines, from)
			parts = append(parts, r.result(strings.TrimSpace(strings.TrimPrefix(mark, markResult)), dedent(lines[from:i])))
		default:
			for i < len(lines) && (i < from || !marked(lines[i])) {
				i++
			}
			if words := strings.TrimSpace(strings.Join(lines[from-1:i], "")); words != "" {
				parts = append(parts, skein.TextPart(words))
			}
		}
	}
	return parts
}

func marked(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, markThinking) || strings.HasPrefix(line, markCall) || strings.HasPrefix(line, markResult)
}

// body returns the end of the indented lines that begin at i.
func body(lines []string, i int) int {
	for i < len(lines) && !marked(lines[i]) && (strings.TrimSpace(lines[i]) == "" || lines[i][0] == ' ' || lines[i][0] == '\t') {
		i++
	}
	return i
}

func dedent(lines []string) string {
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.TrimRight(strings.Join(lines, ""), "\n")
}

// call makes a call with its parameters: JSON, or lines of name=value.
func (r *textReader) call(name string, lines []string) skein.Part {
	r.calls++
	id := "call-" + strconv.Itoa(r.calls)
	r.open = append(r.open, id)
	text := strings.TrimSpace(dedent(lines))
	input := loose.AsJSON(text)
	if !loose.Fits(text) {
		params := map[string]string{}
		for _, l := range strings.Split(text, "\n") {
			k, v, ok := strings.Cut(l, "=")
			if !ok {
				params = nil
				break
			}
			params[strings.TrimSpace(k)] = strings.TrimSpace(v)
		}
		if len(params) > 0 {
			input = skein.MustJSON(params)
		}
	}
	name = strings.TrimSpace(name)
	r.blocks.Called(id, name)
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: input}}
}

// result answers the first open call of this tool, else the first.
func (r *textReader) result(name, text string) skein.Part {
	res := &skein.Result{Name: name, Text: skein.Text(text)}
	for i, id := range r.open {
		if tool := r.blocks.Tool(id); tool == name || name == "" {
			res.CallID, res.Name = id, tool
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			break
		} else {
			r.blocks.Called(id, tool)
		}
	}
	return skein.Part{Kind: skein.PartResult, Result: res}
}
