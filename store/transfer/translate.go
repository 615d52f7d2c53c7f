package transfer

import (
	"bytes"
	"encoding/json"

	"github.com/skein-dev/skein"
)

// fields are the members of a payload.
type fields map[string]json.RawMessage

// translate returns e for the second store, with the positions in it translated. A
// payload without positions stays unchanged.
func (s *sender) translate(e skein.Event, r eventMap) (skein.Event, error) {
	name := map[skein.Kind]string{skein.KindRewound: "to", skein.KindCompacted: "to", skein.KindAmended: "seq"}[e.Kind]
	switch {
	case e.Kind == skein.KindCreated:
		return translateCreated(e, func(skein.User) skein.User { return "" }, s.routes)
	case name == "":
		return e, nil
	}
	var f fields
	var seq skein.Seq
	if err := json.Unmarshal(e.Payload, &f); err != nil {
		return e, err
	}
	if err := json.Unmarshal(f[name], &seq); err != nil {
		return e, err
	}
	if r.seq(seq) == seq {
		return e, nil
	}
	f[name] = skein.MustJSON(r.seq(seq))
	e.Payload = skein.MustJSON(f)
	return e, nil
}

// translateCreated translates the event that begins a session: without its user,
// if whose says that it is a different one in the second store, and with its parent's
// place there.
func translateCreated(e skein.Event, whose func(skein.User) skein.User, rs routes) (skein.Event, error) {
	c, err := skein.Decode[skein.Created](e)
	if err != nil {
		return e, err
	}
	var f fields
	if err := json.Unmarshal(e.Payload, &f); err != nil {
		return e, err
	}
	changed := false
	if f["user"] != nil && whose(c.User) != c.User {
		delete(f, "user")
		changed = true
	}
	if p := c.Parent; p != nil {
		at, ok := rs[p.Session].at(max(1, p.Seq))
		if !p.IsFork() { // for a delegation, the delegating session matters, not whose event it was
			at, ok = rs[p.Session].shown(max(1, p.Seq))
		}
		if ok && (at.Session != p.Session || p.Seq > 0 && at.Seq != p.Seq) {
			moved := *p
			moved.Session = at.Session
			if p.Seq > 0 {
				moved.Seq = at.Seq
			}
			f["parent"], changed = skein.MustJSON(moved), true
		}
	}
	if changed {
		e.Payload = skein.MustJSON(f)
	}
	return e, nil
}

// translateTool translates an event that may name the session that a call started.
func translateTool(e skein.Event, rs routes) (skein.Event, error) {
	t, err := skein.Decode[skein.ToolState](e)
	if err != nil || rs.place(t.Child) == t.Child {
		return e, err
	}
	var f fields
	if err := json.Unmarshal(e.Payload, &f); err != nil {
		return e, err
	}
	f["child"] = skein.MustJSON(rs.place(t.Child))
	e.Payload = skein.MustJSON(f)
	return e, nil
}

// likeness says how two events agree.
type likeness int

const (
	unlike likeness = iota
	alike
	blotted // equal except for what was scrubbed in one of them
)

// compareEvents compares an event of the first store, translated, with one of
// the second.
func compareEvents(a, b skein.Event) likeness {
	if (a.IsPlaceholder() || b.IsPlaceholder()) && a.Time == b.Time {
		return alike
	}
	if a.Kind != b.Kind || a.Time != b.Time || a.ClientID != b.ClientID {
		return unlike
	}
	if bytes.Equal(a.Payload, b.Payload) {
		return alike
	}
	switch a.Kind {
	case skein.KindCreated, skein.KindChanged, skein.KindTool, skein.KindRewound, skein.KindCompacted, skein.KindAmended:
		a.Payload, b.Payload = canonical(a), canonical(b)
		if bytes.Equal(a.Payload, b.Payload) {
			return alike
		}
	}
	if isScrubbed(a.Payload, b.Payload) || isScrubbed(b.Payload, a.Payload) {
		return blotted
	}
	return unlike
}

// canonical returns a payload with its members in order, and without what differs
// between stores. A fork's parent differs: an event shown of it may belong to the
// parent's parent, and is that session's in the other store.
func canonical(e skein.Event) []byte {
	var f map[string]any
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.UseNumber()
	if err := d.Decode(&f); err != nil {
		return e.Payload
	}
	switch e.Kind {
	case skein.KindTool:
		delete(f, "child")
	case skein.KindCreated, skein.KindChanged:
		delete(f, "user")
		delete(f, "key")
		delete(f, "parent")
		if config, ok := f["config"].(map[string]any); ok {
			if delete(config, nameMark); len(config) == 0 {
				delete(f, "config")
			}
		}
	}
	return skein.MustJSON(f)
}

// isScrubbed reports whether a is b with parts of it replaced by asterisks.
func isScrubbed(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] != '*' {
			return false
		}
	}
	return true
}
