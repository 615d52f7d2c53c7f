package ethos

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A reader turns the rows of one session into events.
type reader struct {
	id       string // session's; "" for the source with rows of no session
	begun    bool
	model    string
	provider string
	items    int
	run      bool           // see [interop.Line.Run]
	ordinals map[string]int // by message: its first item
}

func open(f interop.File) interop.Reader { return &reader{id: f.Name, ordinals: map[string]int{}} }

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
	case "compressions":
		r.compression(&m, row)
	}
	return m, nil
}

// put makes e the next event of the record.
func (r *reader) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !r.begun {
		r.begun = true
		m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{
			Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id},
		}})
	}
	r.items++
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// unknown puts e, which notes a row that the program is not known to write, unless the
// row continues a run of such.
func (r *reader) unknown(m *interop.Made, e skein.Event) {
	if m.Unknown = true; !r.run {
		r.put(m, e)
	}
}

// about is what a session's row has that a session has no field for.
type about struct {
	Key      string          `json:"key"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// session reads the session's row. It floats: in a copy of the database its title may
// differ. Counters and times, which change with every message, make no events.
func (r *reader) session(m *interop.Made, row foreign.Row) {
	at := stamp(m, "created_at", row.Text("created_at"))
	r.begun, r.model, r.provider = true, row.Text("model"), row.Text("provider")
	b := interop.Begin{ID: skein.SessionID(r.id), Time: at, Created: skein.Created{
		Surface: row.Text("platform"), Cwd: row.Text("working_dir"), Project: row.Text("working_dir"),
		Agent: Name, Profile: row.Text("personality_id"), Provider: r.provider, Model: r.model,
		Origin: &skein.Origin{ID: r.id}, Program: Name,
	}}
	if parent := row.Text("parent_session_id"); parent != "" && parent != r.id {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Continuation}
	}
	m.Begin = append(m.Begin, b)
	m.Floating = true
	m.Key = skein.ClientID("ethos:s:" + r.id)
	r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "ethos:session", Data: skein.MustJSON(
		about{row.Text("key"), asJSON(row.Text("metadata"))})}))
	if pinned, ok := row.Get("pinned").(int64); ok {
		yes := pinned != 0
		r.put(m, skein.NewEvent(skein.KindChanged, at, skein.Changed{Pinned: &yes}))
	}
	if title := row.Text("title"); title != "" {
		r.put(m, skein.NewEvent(skein.KindTitled, stampOf(row.Text("updated_at")), skein.Titled{Title: title, By: skein.BySource}))
	}
}

// message reads a message's row. A message that the program has deleted is kept whole
// but no longer said.
func (r *reader) message(m *interop.Made, row foreign.Row) {
	at := stamp(m, "timestamp", row.Text("timestamp"))
	id := row.Text("id")
	if m.Key = skein.ClientID("ethos:m:" + id); id == "" {
		m.Key = skein.ClientID("ethos:r:" + short(r.id) + ":" + rowid(row))
	}
	if _, again := r.ordinals[id]; !again {
		r.ordinals[id] = r.items + 1
	}
	said, blobs, ok := r.said(row)
	switch {
	case row.Get("deleted_at") != nil:
		r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "ethos:deleted", Data: whole(row)}))
	case !ok:
		r.unknown(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "ethos:message", Data: whole(row)}))
	default:
		r.put(m, skein.Say(at, said), blobs...)
	}
}

// compression reads a row about a compaction. Without the first kept message, as in
// older versions, the program itself continues with all messages.
func (r *reader) compression(m *interop.Made, row foreign.Row) {
	at := stamp(m, "created_at", row.Text("created_at"))
	if m.Key = skein.ClientID("ethos:c:" + row.Text("id")); row.Text("id") == "" {
		m.Key = skein.ClientID("ethos:c:" + short(r.id) + ":" + rowid(row))
	}
	kept, ok := r.ordinals[row.Text("kept_from_message_id")]
	r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{
		Summary: row.Text("summary_text"), Before: count(row, "pre_total_tokens"), After: count(row, "post_total_tokens"),
		Trigger: row.Text("engine_name"), Failed: !ok,
	}))
	if ok {
		m.Items[len(m.Items)-1].To = kept - 1
	}
}

// stamp reads a time; an invalid one is damage, but no reason to lose the row.
func stamp(m *interop.Made, column, s string) skein.Time {
	t, err := skein.ParseTime(s)
	if err != nil || s == "" {
		m.Damage = fmt.Sprintf("%s %.40q is no time", column, s)
	}
	return t
}

func stampOf(s string) skein.Time {
	t, _ := skein.ParseTime(s) // 0 if it is not one
	return t
}

// whole returns a row's columns and values as they are in its line.
func whole(row foreign.Row) json.RawMessage {
	var line struct{ Row json.RawMessage }
	if json.Unmarshal(row.AppendLine(nil), &line) != nil {
		return nil
	}
	return line.Row
}

func rowid(row foreign.Row) string {
	if row.Rowid == nil {
		return ""
	}
	return strconv.FormatInt(*row.Rowid, 10)
}

// short returns 16 hexadecimal digits of the hash of s.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
