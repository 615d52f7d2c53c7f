package llmlogs

import (
	"context"
	"errors"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A unit is one of llm's databases. Its rows are grouped by what they belong to: a
// conversation, a response, or something that many of them share.
type unit struct {
	db     *foreign.DB
	path   string
	parts  []foreign.Part
	order  []string            // conversations
	of     map[string][]string // conversation → its responses, or its rows of log
	refers map[string][]string // response, or result → what is shared
	pieces *foreign.Pieces
	loose  []foreign.Piece // that belong to no conversation
}

// look opens a database.
func look(ctx context.Context, path string) (_ interop.Unit, err error) {
	defer skein.Wrapf(&err, "database %s", path)
	if there, err := foreign.Mentions(path, "conversation_id", "chat_id"); err != nil || !there {
		return nil, errors.Join(interop.ErrOther, err)
	}
	db, err := foreign.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	u := &unit{db: db, path: path, of: map[string][]string{}, refers: map[string][]string{}}
	if u.parts = u.ours(); len(u.parts) == 0 {
		return nil, errors.Join(interop.ErrOther, db.Close())
	}
	return u, nil
}

// ours distinguishes llm's tables from those of other programs with the same file
// name.
func (u *unit) ours() (parts []foreign.Part) {
	now := u.has("conversations", "id", "name", "model") && u.has("responses", "id", "prompt", "response", "conversation_id")
	log := u.logTable()
	if !now && log == "" {
		return nil
	}
	add := func(table string, keyOf func(foreign.Row) string, columns ...string) {
		if u.has(table, columns...) {
			parts = append(parts, foreign.Part{Table: table, KeyOf: keyOf})
		}
	}
	add("conversations", func(r foreign.Row) string { return u.conversation(text(r, "id")) }, "id")
	add("responses", u.response, "id")
	add("attachments", shared("a", "id"), "id")
	add("fragments", shared("f", "id"), "id")
	add("schemas", shared("s", "id"), "id")
	add("prompt_fragments", u.link("f", "fragment_id"), "response_id", "fragment_id")
	add("system_fragments", u.link("f", "fragment_id"), "response_id", "fragment_id")
	add("prompt_attachments", u.link("a", "attachment_id"), "response_id", "attachment_id")
	add("tool_results", u.toolResult, "id", "response_id")
	add("tool_results_attachments", u.resultLink, "tool_result_id", "attachment_id")
	add("tool_calls", func(r foreign.Row) string { return "r" + text(r, "response_id") }, "response_id")
	add("tool_responses", func(r foreign.Row) string { return "r" + text(r, "response_id") }, "response_id")
	if log != "" {
		parts = append(parts, foreign.Part{Table: log, KeyOf: u.log})
	}
	for _, table := range []string{"tools", "tool_instances", "fragment_aliases", "_llm_migrations"} {
		add(table, nil)
	}
	return parts
}

// logTable returns the table from before 0.5, if it exists.
func (u *unit) logTable() string {
	for _, table := range []string{"logs", "log"} {
		if u.has(table, "model", "prompt", "response", "chat_id") {
			return table
		}
	}
	return ""
}

func (u *unit) has(table string, columns ...string) bool {
	t, ok := u.db.Table(table)
	return ok && t.Has(columns...)
}

// text returns what a column holds as text; an ID can be a number.
func text(r foreign.Row, column string) string {
	if n, ok := r.Get(column).(int64); ok {
		return strconv.FormatInt(n, 10)
	}
	return r.Text(column)
}

// shared returns the key of what many responses may refer to.
func shared(kind, column string) func(foreign.Row) string {
	return func(r foreign.Row) string { return kind + text(r, column) }
}

func (u *unit) conversation(id string) string {
	if id == "" {
		return ""
	}
	if _, ok := u.of[id]; !ok {
		u.of[id] = nil
		u.order = append(u.order, id)
	}
	return "c" + id
}

// response keys a response by itself.
func (u *unit) response(r foreign.Row) string {
	id, of := text(r, "id"), text(r, "conversation_id")
	if of == "" {
		of = id
	}
	if u.conversation(of) == "" {
		return ""
	}
	u.of[of] = append(u.of[of], "r"+id, "R"+id)
	if s := text(r, "schema_id"); s != "" {
		u.refers["r"+id] = append(u.refers["r"+id], "s"+s)
	}
	return "R" + id
}

// link keys a row that says that a response has something.
func (u *unit) link(kind, column string) func(foreign.Row) string {
	return func(r foreign.Row) string {
		of := "r" + text(r, "response_id")
		u.refers[of] = append(u.refers[of], kind+text(r, column))
		return of
	}
}

// toolResult keys a result by its response.
func (u *unit) toolResult(r foreign.Row) string {
	of := "r" + text(r, "response_id")
	u.refers[of] = append(u.refers[of], "t"+text(r, "id"))
	return of
}

// resultLink keys a row that says that a result has an attachment.
func (u *unit) resultLink(r foreign.Row) string {
	of := "t" + text(r, "tool_result_id")
	u.refers[of] = append(u.refers[of], "a"+text(r, "attachment_id"))
	return of
}

// log keys a row from before 0.5 by itself.
func (u *unit) log(r foreign.Row) string {
	id, of := text(r, "id"), text(r, "chat_id")
	if id == "" && r.Rowid != nil { // the first version has none
		id = strconv.FormatInt(*r.Rowid, 10)
	}
	if of == "" {
		of = id
	}
	u.conversation("log-" + of)
	u.of["log-"+of] = append(u.of["log-"+of], "L"+id)
	return "L" + id
}
