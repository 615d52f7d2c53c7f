package skillet

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// defaultUser is Skillet's default user.
const defaultUser = "john@example.com"

// write makes the rows and the log of a session, under its user and its key, or under
// a name such as Skillet generates.
//
// The error wraps [skein.ErrInvalid] if nothing is new, or if it would continue a log
// whose owner is unknown.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, user: userOf(d.Session), name: nameOf(d.Session)}
	if err := w.known(); err != nil {
		return interop.Written{}, err
	}
	entries, err := w.entries()
	if err != nil {
		return interop.Written{}, err
	}
	if len(entries) == 0 && len(w.rows) == 0 && !d.WentBack() {
		return w.nothing()
	}
	d.Release()
	for i := range entries {
		w.entry(&entries[i])
		entries[i] = skein.Entry{}
	}
	w.endTurn()
	return w.written(), nil
}

func userOf(s skein.Session) string {
	if s.User == "" || s.User == skein.Local {
		return defaultUser
	}
	return string(s.User)
}

// nameOf returns the key of s, else session_, its time and eight digits derived from
// its ID.
func nameOf(s skein.Session) string {
	if s.Key != "" {
		return s.Key
	}
	return "session_" + s.Created.String() + "_" + short(string(s.ID))[:8]
}

// nothing returns what is written for a session without messages: a log without
// lines, so that its side file has a place.
func (w *writer) nothing() (interop.Written, error) {
	if w.d.After > 0 {
		return interop.Written{}, fmt.Errorf("%w: no new messages", skein.ErrInvalid)
	}
	w.losses.Add(0, "a session without messages: an empty log")
	own := interop.SourceText{Path: w.path(), Name: sanitise(w.user) + "/" + sanitise(w.name)}
	own.Lines = []interop.OutLine{{Body: lines.RopeOf(w.end())}}
	return interop.Written{ID: w.user + ":" + w.name, Texts: []interop.SourceText{own}, Losses: w.losses}, nil
}

// path returns where a new session's database is: in the state folder that Skillet
// uses, else in that of a SKILLET_HOME.
func (w *writer) path() string {
	for _, place := range w.d.Places {
		if filepath.Dir(place) == w.d.Home {
			return filepath.Base(place) + "/" + databaseName
		}
	}
	return "state/" + databaseName
}

// end is the line of the log's file.
func (w *writer) end() []byte {
	return folder.Line{File: w.logName, Mode: w.logMode, Mtime: w.d.Now.UnixNano(), Lines: &w.logLines}.Append(nil)
}

// A writer is one call of write.
type writer struct {
	d          interop.Draft
	user, name string
	logName    string // of its file, relative to the state folder
	logLines   int    // existing lines
	logMode    string
	keep       skein.Seq // the messages up to here are in the rows, or cannot be stored there
	gone       [][]byte  // rows that the session rewound
	cut        bool      // the log is shorter than it was
	created    int64     // created_at of the last row
	turn       turnOut
	rows, log  []interop.OutLine
	losses     interop.Losses
	last       skein.Seq
}

// known reads the existing source, if the session is written to one.
func (w *writer) known() error {
	w.logName, w.logMode = logsName+"/"+sanitise(w.user)+"/"+sanitise(w.name)+".jsonl", "0644"
	if w.d.After == 0 || w.d.Known == nil {
		return nil
	}
	if user, name, _ := cleaned(w.d.Name); w.d.Name != "" {
		w.logName = logsName + "/" + strings.TrimPrefix(user+"/"+name+".jsonl", "/")
	}
	var b backwards
	rows := false
	for r, err := range w.d.Known {
		if err != nil {
			return err
		}
		b.take(r, w.d)
		if row, ok, err := foreign.ParseRow(r.Raw); err == nil && ok && row.Table == tableName {
			w.user, w.name, rows = row.Text("user_id"), row.Text("session_name"), true
			w.created = max(w.created, row.Int("created_at"))
		} else if l, err := folder.Parse(r.Raw); err == nil && l.Lines != nil {
			w.logName, w.logLines, w.logMode = l.File, *l.Lines, l.Mode
		}
	}
	if !rows {
		if err := w.owner(); err != nil {
			return err
		}
	}
	if _, _, others := cleaned(w.d.Name); others {
		w.logName = ""
		w.losses.Add(w.d.After, "the log, which is another session's of the same name once it is cleaned: rows only")
	}
	if w.keep = w.d.After; w.d.WentBack() {
		w.takeBack(&b)
	}
	return nil
}

// owner determines the user and name of a log without rows. Its path has them only in
// cleaned form, and rows of another user or name would be another session.
func (w *writer) owner() error {
	user, name, _ := cleaned(w.d.Name)
	var began, called string
	if o := w.d.Session.Origin; o != nil && o.Format == Name && o.ID != user+":"+name {
		began, called, _ = strings.Cut(o.ID, ":") // it had rows
	}
	names := []string{called, w.name}
	if !strings.Contains(name, "_") { // apparently nothing in it was cleaned
		names = append(names, name)
	}
	w.user, w.name = spelt(user, began, w.user, defaultUser), spelt(name, names...)
	if w.user == "" || w.name == "" {
		return fmt.Errorf("%w: log %s does not say which session it belongs to, and it has no rows; continue it there until a turn has ended", skein.ErrInvalid, w.logName)
	}
	return nil
}

// spelt returns the first of names that sanitise turns into clean, and "" if there is
// none.
func spelt(clean string, names ...string) string {
	i := slices.IndexFunc(names, func(s string) bool { return s != "" && sanitise(s) == clean })
	if i < 0 {
		return ""
	}
	return names[i]
}

// entries returns the messages that are to be written: those after the existing ones,
// or all that the newest compaction does not cover.
func (w *writer) entries() ([]skein.Entry, error) {
	all, err := w.d.Entries()
	if err != nil {
		return nil, err
	}
	var summary skein.Event
	for _, e := range w.d.Events {
		switch {
		case e.Seq <= w.d.After:
		case e.Kind == skein.KindCompacted:
			summary = e
		}
	}
	var out []skein.Entry
	for _, e := range all {
		switch {
		case e.Rewound:
			if e.Seq > w.d.After {
				w.losses.Add(e.Seq, "rewound messages: left out")
			}
		case e.Seq <= w.keep:
		case e.Compacted && w.d.After == 0:
			w.losses.Add(e.Seq, "messages before a compaction: left out, as Skillet does")
		default:
			out = append(out, e)
		}
	}
	if summary.Kind != "" {
		w.summary(summary)
	}
	return out, nil
}

// summary writes the replacement of what was compacted.
func (w *writer) summary(e skein.Event) {
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil || c.Failed {
		return
	}
	if w.d.After > 0 {
		w.losses.Add(e.Seq, "compaction: the messages that it covers stay")
		return
	}
	w.turn.begin(e.Time)
	switch it, err := unmarshal[item](orEmpty(c.Opaque)); {
	case err == nil && it.Type == "compaction":
		w.turn.items = append(w.turn.items, outItem{lines.RopeOf(c.Opaque), e.Seq})
	case c.Summary != "":
		w.losses.Add(e.Seq, "compaction: its summary is a message")
		w.turn.items = append(w.turn.items, outItem{interop.JSON(userOut{"message", "user", skein.Text(c.Summary)}), e.Seq})
	default:
		w.losses.Add(e.Seq, "compaction: only another provider could read it")
	}
	w.endTurn()
}

// written returns everything that is to be written.
func (w *writer) written() interop.Written {
	name := w.d.Name
	if w.d.After == 0 {
		name = sanitise(w.user) + "/" + sanitise(w.name)
	}
	own := interop.SourceText{Path: w.path(), Name: name, Lines: w.rows, Gone: w.gone}
	if w.d.After > 0 {
		own.Path = w.d.Path
	}
	if len(w.log) > 0 || w.cut {
		for i := range w.log {
			w.log[i].Seq = w.last
		}
		own.Lines = append(append(own.Lines, w.log...), interop.OutLine{Body: lines.RopeOf(w.end()), Seq: w.last})
	}
	out := interop.Written{ID: w.user + ":" + w.name, Texts: []interop.SourceText{own}, Losses: w.losses}
	if w.d.After == 0 {
		out.Texts = append(out.Texts, interop.SourceText{Path: own.Path, Lines: frame()})
	}
	return out
}

// frame makes an empty database, with the program's own SQL.
func frame() []interop.OutLine {
	line := func(v any) interop.OutLine { return interop.OutLine{Body: interop.JSONLine(v)} }
	object := func(kind, name, sql string) interop.OutLine {
		return line(map[string]any{"schema": map[string]string{"type": kind, "name": name, "table": tableName, "sql": sql}})
	}
	return []interop.OutLine{
		line(map[string]any{"database": map[string]any{
			"page_size": 4096, "encoding": "UTF-8", "auto_vacuum": 0, "user_version": 0, "application_id": 0, "journal": "delete",
		}}),
		object("table", tableName, `CREATE TABLE session_items (
				id INTEGER PRIMARY KEY AUTOINCREMENT,
				user_id TEXT NOT NULL,
				session_name TEXT NOT NULL,
				created_at INTEGER NOT NULL,
				item_json TEXT NOT NULL
			)`),
		object("index", "idx_session", `CREATE INDEX idx_session
			ON session_items (user_id, session_name, created_at)`),
	}
}

// row appends a row.
func (w *writer) row(at int64, it outItem) {
	r := foreign.Row{
		Table: tableName, Columns: []string{"user_id", "session_name", "created_at", "item_json"},
		Values: []foreign.Value{w.user, w.name, at, it.text},
	}
	w.last = max(w.last, it.seq)
	w.rows = append(w.rows, interop.OutLine{Body: r.Line(), Seq: it.seq})
}

// logged appends a line to the log.
func (w *writer) logged(v any) {
	if w.logName == "" {
		return
	}
	w.log = append(w.log, interop.OutLine{Body: folder.PieceRope(w.logName, w.logLines, interop.JSONLine(v)).Rope()})
	w.logLines++
}

// The items that are written.
type (
	userOut struct {
		Type    string `json:"type"`
		Role    string `json:"role"`
		Content any    `json:"content"`
	}
	answerOut struct {
		Type    string    `json:"type"`
		Role    string    `json:"role"`
		Status  string    `json:"status"`
		Content []textOut `json:"content"`
	}
	textOut struct {
		Type string     `json:"type"`
		Text skein.Text `json:"text"`
	}
	imageOut struct {
		Type  string `json:"type"`
		Image string `json:"image"`
	}
	fileOut struct {
		Type string `json:"type"`
		File string `json:"file"`
		Name string `json:"filename,omitempty"`
	}
	callOut struct {
		Type      string     `json:"type"`
		Call      string     `json:"callId"`
		Name      string     `json:"name"`
		Status    string     `json:"status"`
		Arguments skein.Text `json:"arguments"`
	}
	resultOut struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Call   string          `json:"callId"`
		Status string          `json:"status"`
		Output json.RawMessage `json:"output"`
	}
)
