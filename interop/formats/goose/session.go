package goose

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// placeholder reports whether a name is one that the program gives a session at
// first.
func placeholder(name string) bool {
	return name == "" || name == "CLI Session" || name == "New session" || name == "New Chat"
}

// session reads the session's row. It floats: in a copy of the database its counts
// may differ.
func (r *reader) session(m *interop.Made, row foreign.Row) {
	at, ok := loose.SQLTime(row.Get("created_at"))
	if !ok {
		m.Damage = fmt.Sprintf("created_at %.40q is no time", fmt.Sprint(row.Get("created_at")))
	}
	model, _ := loose.Parse([]byte(row.Text("model_config_json"))) // missing: unknown
	b := interop.Begin{ID: skein.SessionID(r.id), Time: at, Created: skein.Created{
		Surface: "cli", Cwd: row.Text("working_dir"), Project: row.Text("working_dir"), Agent: Name, Program: Name,
		Provider: row.Text("provider_name"), Model: model.Str("model_name", "model"), Origin: &skein.Origin{ID: r.id},
	}}
	if parent := row.Text("parent_session_id"); parent != "" && parent != r.id {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child}
	}
	r.begun = true
	m.Begin, m.Floating = append(m.Begin, b), true
	m.Key = skein.ClientID("goose:s:" + hash(r.id))
	if about := aboutOf(row); about != nil {
		r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "goose:session", Data: about}))
	}
	var c skein.Changed
	if kind := row.Text("session_type"); kind != "" && kind != "user" {
		c.Tags = &[]string{kind}
	}
	if row.Get("archived_at") != nil {
		archived := "archived"
		c.Status = &archived
	}
	if c != (skein.Changed{}) {
		r.put(m, skein.NewEvent(skein.KindChanged, at, c))
	}
	name := row.Text("name")
	if placeholder(name) {
		name = row.Text("description")
	}
	by := skein.ByModel
	if row.Int("user_set_name") != 0 {
		by = skein.ByPerson
	}
	r.title(m, at, name, by)
	if !r.ledger {
		spent, _ := loose.SQLTime(row.Get("updated_at")) // 0 if it is not one
		r.spent(m, spent, usageOf(row, "accumulated_"), b.Created.Provider, b.Created.Model)
	}
}

// title adds the session's title and who gave it.
func (r *reader) title(m *interop.Made, at skein.Time, name string, by skein.By) {
	if !placeholder(name) {
		r.put(m, skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: name, By: by}))
	}
}

// spent adds the session's total cost.
func (r *reader) spent(m *interop.Made, at skein.Time, u skein.Usage, provider, model string) {
	if u != (skein.Usage{}) {
		r.put(m, skein.NewEvent(skein.KindStep, at, skein.Step{
			Phase: "finish", Request: r.whole(), Provider: provider, Model: model, Usage: &u, Several: true,
		}))
	}
}

// whole returns the request that stands for everything that was not counted
// individually.
func (r *reader) whole() string { return "goose:" + r.id }

// aboutOf returns what a session's row has that a session has no field for; nil for
// nothing.
func aboutOf(row foreign.Row) json.RawMessage {
	about := map[string]json.RawMessage{}
	for _, c := range []string{"schedule_id", "recipe_json", "user_recipe_values_json", "goose_mode", "project_id"} {
		if text := row.Text(c); text != "" && !(c == "goose_mode" && text == "auto") { // the usual one
			about[c] = loose.AsJSON(text)
		}
	}
	if len(about) == 0 {
		return nil
	}
	return skein.MustJSON(about)
}

// usageOf returns the counts of a row; columns begin with prefix. The program counts
// cached tokens as read.
func usageOf(row foreign.Row, prefix string) skein.Usage {
	count := func(column string) int64 {
		if n := row.Int(prefix + column); n > 0 && n < 1<<53 {
			return n
		}
		return 0
	}
	u := skein.Usage{
		Input: count("input_tokens"), Output: count("output_tokens"),
		CacheRead: count("cache_read_tokens"), CacheWrite: count("cache_write_tokens"), Reported: billionths(row.Get(prefix + "cost")),
	}
	u.Input = max(u.Input-u.CacheRead-u.CacheWrite, 0)
	return u
}

func billionths(v foreign.Value) int64 {
	if f, ok := v.(float64); ok && f > 0 && f < 1e6 {
		return int64(math.Round(f * 1e9))
	}
	return 0
}

// request reads a row of the ledger. What the program carried over, because older
// versions counted only sessions, is added to the session's own count.
func (r *reader) request(m *interop.Made, row foreign.Row) {
	m.Key = skein.ClientID("goose:u:" + hash(r.id, fmt.Sprint(row.Get("id"))))
	at := loose.Epoch(float64(row.Int("created_timestamp")))
	u := usageOf(row, "")
	s := skein.Step{Phase: "finish", Model: row.Text("model"), Usage: &u, Request: fmt.Sprintf("goose:%s:%v", r.id, row.Get("id"))}
	if row.Text("cost_source") == "carried_forward" {
		r.carried = r.carried.Plus(u)
		u, s.Request, s.Several = r.carried, r.whole(), true
	}
	if row.Int("is_compaction") != 0 {
		s.Mode = "compaction"
	}
	if u != (skein.Usage{}) {
		r.put(m, skein.NewEvent(skein.KindStep, at, s))
	}
}

// about reads the first line of a file, which is rewritten with every message.
func (r *reader) about(m *interop.Made, o loose.Object) {
	dir := o.Str("working_dir")
	m.Begin = append(m.Begin, interop.Begin{ID: skein.SessionID(r.id), Created: skein.Created{
		Surface: "cli", Cwd: dir, Project: dir, Agent: Name, Program: Name, Origin: &skein.Origin{ID: r.id},
	}})
	r.begun, m.Floating = true, true
	m.Key = skein.ClientID("goose:s:" + hash(r.id))
	if id := o.Str("schedule_id"); id != "" {
		r.put(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "goose:session", Data: skein.MustJSON(map[string]string{"schedule_id": id})}))
	}
	r.title(m, 0, o.Str("description"), skein.ByModel)
	r.spent(m, 0, skein.Usage{Input: o.Count("accumulated_input_tokens"), Output: o.Count("accumulated_output_tokens")}, "", "")
}
