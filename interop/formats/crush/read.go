package crush

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one session.
type reader struct {
	id      string // session's; "" for the source with rows of no session
	project string // folder; "" if unknown from the path
	summary string // message from which the program continues
	begun   bool
	items   int
	joins   bool                       // see [interop.Line.Run]
	agents  map[string]skein.SessionID // calls that run a sub-agent
	files   files
}

func open(f interop.File) interop.Reader {
	r := &reader{id: f.Name, agents: map[string]skein.SessionID{}, files: files{was: map[string]string{}}}
	if dir := filepath.Dir(f.Path); filepath.Base(dir) == dirName {
		r.project = filepath.Dir(dir)
	}
	return r
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	r.joins = l.Run
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok || r.id == "":
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	switch row.Table {
	case "sessions":
		r.session(&m, row)
	case "messages":
		r.message(&m, row)
	case "files":
		r.file(&m, row)
	}
	return m, nil
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: r.created()})
	}
	r.items++
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// unknown puts e, which notes a row that the program is not known to write, unless the
// row continues a run of such.
func (r *reader) unknown(m *interop.Made, e skein.Event) {
	if m.Unknown = true; !r.joins {
		r.put(m, e)
	}
}

func (r *reader) created() skein.Created {
	return skein.Created{
		Surface: "cli", Cwd: r.project, Project: r.project, Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id},
	}
}

// stamp reads the time of a row, in seconds or, as older comments have it, in
// milliseconds. An invalid one is damage, but no reason to lose the row.
func stamp(m *interop.Made, row foreign.Row) skein.Time {
	t, ok := loose.SQLTime(row.Get("created_at"))
	if !ok {
		m.Damage = fmt.Sprintf("created_at %.40q is no time", fmt.Sprint(row.Get("created_at")))
	}
	return t
}

// session reads the session's row. It floats: in a copy of the database its counts
// may differ.
func (r *reader) session(m *interop.Made, row foreign.Row) {
	at := stamp(m, row)
	if dir := row.Text("workspace_cwd"); dir != "" {
		r.project = dir
	}
	b := interop.Begin{ID: skein.SessionID(r.id), Time: at, Created: r.created()}
	parent := row.Text("parent_session_id")
	if parent != "" && parent != r.id {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child, Call: callOf(r.id)}
	}
	r.begun, r.summary = true, row.Text("summary_message_id")
	m.Begin, m.Floating = append(m.Begin, b), true
	m.Key = skein.ClientID("crush:s:" + r.id)
	if title := row.Text("title"); title != "" && title != "New Session" && title != "Untitled Session" {
		r.put(m, skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: title, By: skein.ByModel}))
	}
	if todos := row.Text("todos"); todos != "" && todos != "[]" {
		r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "crush:todos", Data: loose.AsJSON(todos)}))
	}
	if cost, ok := row.Get("cost").(float64); ok && cost > 0 && cost < 1e6 && parent == "" {
		spent, _ := loose.SQLTime(row.Get("updated_at")) // 0 if it is not one
		r.put(m, skein.NewEvent(skein.KindStep, spent, skein.Step{
			Phase: "finish", Request: "crush:" + r.id, Usage: &skein.Usage{Reported: int64(math.Round(cost * 1e9))},
		}))
	}
}

// callOf returns the call that started a child, taken from its ID: MESSAGE$$CALL, in
// older versions CALL. A session that generated a title has none.
func callOf(id string) string {
	if _, call, ok := strings.Cut(id, "$$"); ok {
		return call
	}
	if strings.HasPrefix(id, "title-") {
		return ""
	}
	return id
}

// text returns the text in a column, which may be stored as a BLOB.
func text(row foreign.Row, column string) string {
	if b, ok := row.Get(column).([]byte); ok {
		return string(b)
	}
	return row.Text(column)
}

// message reads a message's row.
func (r *reader) message(m *interop.Made, row foreign.Row) {
	at := stamp(m, row)
	id := row.Text("id")
	m.Key = skein.ClientID("crush:" + id)
	said := r.parts(text(row, "parts"))
	said.Provider, said.Model = row.Text("provider"), row.Text("model")
	sums := row.Int("is_summary_message") != 0
	whole := said.stop != "" && !said.Interrupted && said.Error == nil
	switch {
	case id != "" && id == r.summary, sums && whole:
		r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: said.Words()}))
		m.Items[0].To = r.items - 1
		return
	case row.Text("role") == "assistant":
		said.Role, said.Stop, said.Synthetic = skein.RoleAssistant, said.stop, sums
	case row.Text("role") == "tool":
		said.Role, said.Provider, said.Model, said.Interrupted, said.Error = skein.RoleTool, "", "", false, nil
	case row.Text("role") == "user":
		said.Role, said.Provider, said.Model, said.Interrupted, said.Error = skein.RoleUser, "", "", false, nil
	case row.Text("role") == "system":
		said.Role, said.Synthetic = skein.RoleSystem, true
	default:
		r.unknown(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "crush:message", Data: whatIs(row)}))
		return
	}
	r.put(m, skein.Say(at, said.Message), said.blobs...)
	for _, p := range said.Parts {
		r.run(m, at, id, p)
	}
}

// run adds, for a call, that it runs a sub-agent and, for a result, that the
// sub-agent has ended.
func (r *reader) run(m *interop.Made, at skein.Time, message string, p skein.Part) {
	switch {
	case p.Call != nil && (p.Call.Name == "agent" || p.Call.Name == "agentic_fetch") && len(r.agents) < maxAgents:
		child := skein.SessionID(message + "$$" + p.Call.ID)
		r.agents[p.Call.ID] = child
		r.put(m, skein.NewEvent(skein.KindTool, at, skein.ToolState{Call: p.Call.ID, State: skein.Running, Start: at, Child: child}))
	case p.Result != nil && r.agents[p.Result.CallID] != "":
		s := skein.ToolState{Call: p.Result.CallID, State: skein.Completed, End: at, Child: r.agents[p.Result.CallID]}
		if p.Result.Failed {
			s.State = skein.Failed
		}
		r.put(m, skein.NewEvent(skein.KindTool, at, s))
	}
}

// maxAgents is the number of sub-agents whose call a reader remembers.
const maxAgents = 10000

// whatIs returns a row's columns and values as they are in its line.
func whatIs(row foreign.Row) json.RawMessage {
	var line struct{ Row json.RawMessage }
	if json.Unmarshal(row.AppendLine(nil), &line) != nil {
		return nil
	}
	return line.Row
}
