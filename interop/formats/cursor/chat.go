package cursor

import (
	"encoding/json"
	"errors"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A chat reads the rows of the CLI's session.
type chat struct {
	session
	blocks blocks.Reader
	times  map[string]int // how often a blob has come
	model  string
}

func openChat(f interop.File) interop.Reader {
	r := &chat{session: newSession(f.Name, "cli"), times: map[string]int{}}
	if b, ok := f.Beside("meta.json"); ok && f.Name != "" { // newer versions have one
		if o, err := loose.Parse(b); err == nil {
			r.in(clean(o.Str("cwd")))
		}
	}
	return r
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *chat) Read(l interop.Line) (m interop.Made, err error) {
	if r.id == "" {
		return m, nil
	}
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok:
		return m, r.own(&m, l.Body)
	case row.Damage != "":
		return m, errors.New(row.Damage)
	case row.Table == "meta":
		r.meta(&m, row)
	case row.Table == "blobs":
		return m, r.message(&m, row.Text("id"), dataOf(row))
	}
	return m, nil
}

// own reads a line that is not a row.
func (r *chat) own(m *interop.Made, body []byte) error {
	var line struct {
		About *about
		Again *string
		Data  skein.Text
	}
	if err := json.Unmarshal(body, &line); err != nil {
		return err
	}
	switch {
	case line.About != nil:
		r.in(clean(line.About.Workspace))
	case line.Again != nil:
		return r.message(m, *line.Again, []byte(line.Data))
	}
	return nil
}

// meta reads the session's metadata. It floats: another copy has another root.
func (r *chat) meta(m *interop.Made, row foreign.Row) {
	o := metaOf(row)
	if o == nil {
		return
	}
	r.begin.Time = loose.Millis(o.Get("createdAt"))
	c := &r.begin.Created
	c.Model = o.Str("lastUsedModel")
	if id := o.Str("agentId"); id != "" {
		c.Origin = &skein.Origin{ID: r.id}
		r.begin.ID = skein.SessionID(r.id)
	}
	if sub := o.Obj("subagentInfo"); sub != nil {
		r.hang(sub.Str("parentAgentId", "parentComposerId", "parentConversationId", "rootParentConversationId"), sub.Str("toolCallId"))
	}
	r.model = c.Model
	m.Key, m.Floating = skein.ClientID("cursor:"+r.id+":meta:"+row.Text("key")), true
	r.begun = true
	m.Begin = append(m.Begin, r.begin)
	if name := o.Str("name"); name != "" && name != "New Agent" {
		r.put(m, skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: name, By: skein.ByModel}))
	}
	if mode := o.Str("mode"); mode != "" && mode != "default" {
		r.put(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "cursor:mode", Data: skein.MustJSON(mode)}))
	}
}

// message reads one message.
func (r *chat) message(m *interop.Made, id string, data []byte) error {
	o, err := loose.Parse(data)
	if err != nil {
		return err
	}
	r.times[id]++
	m.Key = skein.ClientID("cursor:" + r.id[:min(len(r.id), 40)] + ":" + id[:min(len(id), 32)] + "." + strconv.Itoa(r.times[id]))
	said := skein.Message{Role: roleOf(o.Str("role"))}
	c := r.blocks.Read(o.Get("content"))
	switch said.Role {
	case skein.RoleUser:
		c.Parts = unwrap(c.Parts)
		said.Synthetic = !typed(c.Parts)
	case skein.RoleSystem:
		said.Synthetic = true
	case skein.RoleAssistant:
		said.Model = modelOf(o)
	}
	blobs := c.Blobs
	for _, msg := range c.Messages(said) {
		r.put(m, skein.Say(0, msg), blobs...)
		blobs = nil
	}
	return nil
}

// modelOf returns the model that a message names.
func modelOf(o loose.Object) string {
	return o.Obj("providerOptions").Obj("cursor").Str("modelName", "model")
}
