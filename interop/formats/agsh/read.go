package agsh

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one session.
type reader struct {
	id      string // the session's; "" for the source with rows of no session
	program string // agsh or meka
	begun   bool
	items   int
	run     bool              // see [interop.Line.Run]
	tools   map[string]string // call ID → tool
	view    []int             // the messages that the program continues with: the last item of each
	resaved skein.Time        // rows up to here were written by the compaction before them
}

func open(f interop.File) interop.Reader {
	r := &reader{id: f.Name, program: Name, tools: map[string]string{}}
	if strings.HasPrefix(filepath.Base(f.Path), "meka") {
		r.program = "meka"
	}
	return r
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	r.run = l.Run
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
	}
	return m, nil
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{
			Agent: r.program, Program: r.program, Origin: &skein.Origin{ID: r.id},
		}})
	}
	r.items++
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// session reads the session's row. It floats: in a copy of the database its counts
// may differ.
func (r *reader) session(m *interop.Made, row foreign.Row) {
	at := stamp(m, row)
	r.begun = true
	b := interop.Begin{ID: skein.SessionID(r.id), Time: at, Created: skein.Created{
		Surface: "cli", Cwd: row.Text("cwd"), Project: row.Text("cwd"), Agent: r.program, Program: r.program,
		Origin: &skein.Origin{ID: r.id},
	}}
	if parent := row.Text("parent_session_id"); parent != "" && parent != r.id {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child}
	}
	m.Begin, m.Floating = append(m.Begin, b), true
	m.Key = skein.ClientID("agsh:s:" + r.id)
	if about := aboutOf(row); about != nil {
		r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "agsh:session", Data: about}))
	}
	if u := usageOf(row); u != (skein.Usage{}) {
		spent, _ := skein.ParseTime(row.Text("updated_at")) // 0 if it is not one
		r.put(m, skein.NewEvent(skein.KindStep, spent, skein.Step{Phase: "finish", Request: "agsh:" + r.id, Usage: &u, Several: true}))
	}
}

// aboutOf returns what a session's row has that a session has no field for; nil for
// nothing.
func aboutOf(row foreign.Row) json.RawMessage {
	about := map[string]json.RawMessage{}
	for _, c := range []string{"permission", "capabilities_json", "additional_roots_json", "subagent_spec_json", "metadata"} {
		if text := row.Text(c); text != "" {
			about[strings.TrimSuffix(c, "_json")] = asJSON(text)
		}
	}
	if len(about) == 0 {
		return nil
	}
	return skein.MustJSON(about)
}

// maxCount is the largest count that is believed.
const maxCount = 1 << 53

// usageOf returns what a session's row counts.
func usageOf(row foreign.Row) skein.Usage {
	count := func(column string) int64 {
		if n := row.Int(column); n > 0 && n < maxCount {
			return n
		}
		return 0
	}
	return skein.Usage{
		Input: count("stat_input_tokens"), Output: count("stat_output_tokens"),
		CacheRead: count("stat_cache_read_input_tokens"), CacheWrite: count("stat_cache_creation_input_tokens"),
	}
}

// stamp reads the time of a row; an invalid one is damage, but no reason to lose the
// row.
func stamp(m *interop.Made, row foreign.Row) skein.Time {
	text := row.Text("created_at")
	t, err := skein.ParseTime(text)
	if err != nil || text == "" {
		m.Damage = fmt.Sprintf("created_at %.40q is no time", text)
	}
	return t
}

// The roles of messages.
const (
	roleUser     = "user"
	roleAnswer   = "assistant"
	roleResults  = "tool_results"
	roleBlocks   = "user_blocks"
	roleBoundary = "compact_boundary"
	roleRepair   = "repair"
)

// message reads a message's row.
func (r *reader) message(m *interop.Made, row foreign.Row) {
	at := stamp(m, row)
	content := row.Text("content")
	m.Key = skein.ClientID("agsh:" + r.id + ":" + strconv.FormatInt(row.Int("id"), 10))
	m.Instead = at != 0 && at <= r.resaved
	switch row.Text("role") {
	case roleUser:
		r.user(m, at, content)
	case roleAnswer:
		r.say(m, at, r.blocks(skein.RoleAssistant, content))
	case roleBlocks:
		r.say(m, at, r.blocks(skein.RoleUser, content))
	case roleResults:
		if _, ok := list(content); ok {
			r.say(m, at, r.blocks(skein.RoleTool, content))
			return
		}
		m.Damage = "tool_results: no array"
		r.note(m, at, row)
	case roleBoundary:
		r.boundary(m, at, row)
	case roleRepair:
		r.repair(m, at, row)
	default:
		if m.Unknown = true; !r.run {
			r.note(m, at, row)
		}
	}
}

// summaryMark is the beginning of the row that is left of a compacted session.
const summaryMark = "[Conversation summary from session compaction]"

// resaves is how long after a compaction, in milliseconds, the rows come that it
// writes.
const resaves = 1000

// user reads what the user typed, and what the program wrote as the user.
func (r *reader) user(m *interop.Made, at skein.Time, content string) {
	if summary, ok := strings.CutPrefix(content, summaryMark); ok {
		r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: strings.TrimPrefix(summary, "\n\n")}))
		m.Items[len(m.Items)-1].To = r.items - 1
		m.Instead, r.resaved = true, at+resaves
		r.view = []int{r.items}
		return
	}
	if content == "" { // to the program it is still a message
		r.view = append(r.view, r.items)
		return
	}
	said := skein.Message{Role: skein.RoleUser}
	const before, after = "<context>\n", "\n</context>\n\n"
	if end := strings.Index(content, after); end >= 0 && strings.HasPrefix(content, before) {
		context := skein.TextPart(content[:end+len(after)])
		context.Synthetic = true
		said.Parts = append(said.Parts, context)
		content = content[end+len(after):]
	}
	said.Parts = append(said.Parts, skein.TextPart(content))
	r.say(m, at, made{Message: said})
}

// say makes a message the next one.
func (r *reader) say(m *interop.Made, at skein.Time, said made) {
	r.put(m, skein.Say(at, said.Message), said.blobs...)
	r.view = append(r.view, r.items)
}

// note keeps a row that is not a message, whole.
func (r *reader) note(m *interop.Made, at skein.Time, row foreign.Row) {
	name := "agsh:" + row.Text("role")
	if len(name) > 100 {
		name = "agsh:message"
	}
	r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: skein.Text(name).UTF8(), Data: asJSON(row.Text("content"))}))
}
