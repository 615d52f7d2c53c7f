package llmlogs

import (
	"errors"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one conversation.
type reader struct {
	id      string // "" for the source with rows of no session
	begin   skein.Created
	begun   bool
	system  string // the newest system prompt
	shared  map[string]foreign.Row
	kept    int64 // bytes of these
	waiting waiting
}

// waiting is what a response refers to, whose rows come before its own.
type waiting struct {
	prompt, system []string // fragments
	attachments    []string
	results        []foreign.Row
	files          map[string][]string // result → attachments
	calls          []foreign.Row
}

// maxKept is how many bytes of what responses refer to are held.
const maxKept = 64 << 20

func open(f interop.File) interop.Reader {
	return &reader{id: f.Name, shared: map[string]foreign.Row{}, begin: skein.Created{
		Surface: "cli", Agent: Name, Program: Name, Origin: &skein.Origin{ID: f.Name},
	}}
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok || r.id == "":
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	w := &r.waiting
	switch row.Table {
	case "conversations":
		r.conversation(&m, row)
	case "responses":
		r.response(&m, row)
	case "logs", "log":
		r.log(&m, row)
	case "attachments", "fragments", "schemas":
		r.share(row)
	case "prompt_fragments":
		w.prompt = append(w.prompt, "fragments"+text(row, "fragment_id"))
	case "system_fragments":
		w.system = append(w.system, "fragments"+text(row, "fragment_id"))
	case "prompt_attachments":
		w.attachments = append(w.attachments, "attachments"+text(row, "attachment_id"))
	case "tool_results":
		w.results = append(w.results, row)
	case "tool_results_attachments":
		if w.files == nil {
			w.files = map[string][]string{}
		}
		of := text(row, "tool_result_id")
		w.files[of] = append(w.files[of], "attachments"+text(row, "attachment_id"))
	case "tool_calls":
		w.calls = append(w.calls, row)
	}
	return m, nil
}

// share keeps what responses refer to.
func (r *reader) share(row foreign.Row) {
	for _, v := range row.Values {
		switch v := v.(type) {
		case string:
			r.kept += int64(len(v))
		case []byte:
			r.kept += int64(len(v))
		}
	}
	if r.kept <= maxKept {
		r.shared[row.Table+text(row, "id")] = row
	}
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: r.session(), Time: e.Time, Created: r.begin})
	}
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// conversation reads a conversation's row, which has no time: it is the first
// response's.
func (r *reader) conversation(m *interop.Made, row foreign.Row) {
	r.begin.Model = utf8(row.Text("model"))
	m.Key, m.Floating = skein.ClientID("llm:c:"+r.id), true
	title := utf8(row.Text("name"))
	m.Begin = append(m.Begin, interop.Begin{ID: r.session(), Created: r.begin})
	if title != "" {
		m.Items = append(m.Items, interop.Item{Event: skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: title, By: skein.BySource})})
	}
}

// log reads a row from before 0.5: a request and its answer.
func (r *reader) log(m *interop.Made, row foreign.Row) {
	id := text(row, "id")
	if id == "" && row.Rowid != nil {
		id = text(foreign.Row{Columns: []string{"id"}, Values: []foreign.Value{*row.Rowid}}, "id")
	}
	r.exchange(m, "log-"+id, row)
}

// response reads a response, and everything that was kept for it.
func (r *reader) response(m *interop.Made, row foreign.Row) { r.exchange(m, text(row, "id"), row) }

// exchange reads a request and its answer.
func (r *reader) exchange(m *interop.Made, id string, row foreign.Row) {
	w := r.waiting
	r.waiting = waiting{}
	m.Key = skein.ClientID("llm:" + id)
	at := stamp(m, row)
	r.addSystem(m, at, w, row.Text("system"))
	r.asked(m, at, w, row.Text("prompt"))
	r.answered(m, at, id, w, row)
}

// stamp reads the time of a row; an invalid one is damage, but no reason to lose the
// row.
func stamp(m *interop.Made, row foreign.Row) skein.Time {
	text := row.Text("datetime_utc")
	for _, c := range []string{"timestamp_utc", "timestamp"} {
		if text == "" {
			text = row.Text(c)
		}
	}
	t, ok := loose.SQLTime(text)
	if !ok {
		m.Damage = "no time: " + strings.ToValidUTF8(text[:min(len(text), 40)], "?")
	}
	return t
}

// utf8 returns s as valid UTF-8.
func utf8(s string) string { return skein.Text(s).UTF8() }

// joined returns fragments followed by the text, as the model got them.
func (r *reader) joined(fragments []string, text string) string {
	var all []string
	for _, key := range fragments {
		all = append(all, r.shared[key].Text("content"))
	}
	if text != "" {
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// addSystem adds the system prompt, if it is new.
func (r *reader) addSystem(m *interop.Made, at skein.Time, w waiting, text string) {
	system := r.joined(w.system, text)
	if system == "" || system == r.system {
		return
	}
	r.system = system
	r.put(m, skein.Say(at, skein.Message{Role: skein.RoleSystem, Synthetic: true, Parts: []skein.Part{skein.TextPart(system)}}))
}

// options returns JSON in a column, nil for none and for {}.
func options(row foreign.Row, column string) []byte {
	if text := row.Text(column); text != "{}" && text != "null" {
		return loose.AsJSON(text)
	}
	return nil
}

// session returns the conversation's preferred ID: a ULID unchanged, a number from
// before 0.5 with the program's name.
func (r *reader) session() skein.SessionID {
	if strings.HasPrefix(r.id, "log-") {
		return skein.SessionID("llm-" + r.id)
	}
	return skein.SessionID(r.id)
}
