package cursor

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A composer reads the rows of a session of the editor.
type composer struct {
	session
	model string
	title string

	branch string // that it was on last
}

func openComposer(f interop.File) interop.Reader {
	return &composer{session: newSession(f.Name, "ide")}
}

// Read implements [interop.Reader]; the error says that the row is damaged.
func (r *composer) Read(l interop.Line) (m interop.Made, err error) {
	if r.id == "" {
		return m, nil
	}
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil:
		return m, err
	case !ok:
		var own struct{ About *about }
		if err := json.Unmarshal(l.Body, &own); err == nil && own.About != nil {
			r.in(clean(own.About.Workspace))
		}
		return m, nil
	case row.Damage != "":
		return m, errors.New(row.Damage)
	case row.Table == "composerHeaders":
		return m, r.header(&m, row)
	}
	o, err := loose.Parse(bytesOf(row))
	if err != nil {
		if string(bytesOf(row)) == "null" { // of a removed message
			return m, nil
		}
		return m, err
	}
	if key := row.Text("key"); strings.HasPrefix(key, composerKey) {
		r.composer(&m, o)
	} else {
		m.Key = skein.ClientID("cursor:" + strings.TrimPrefix(key, bubbleKey))
		r.bubble(&m, o)
	}
	return m, nil
}

// header reads what newer versions store apart from the composer.
func (r *composer) header(m *interop.Made, row foreign.Row) error {
	o, err := loose.Parse(bytesOf(row))
	if err != nil {
		return err
	}
	r.about(o)
	m.Key, m.Floating = skein.ClientID("cursor:"+r.id+":header"), true
	return nil
}

// about reads what both rows with a session's metadata have.
func (r *composer) about(o loose.Object) {
	if t := loose.Millis(o.Get("createdAt")); t != 0 {
		r.begin.Time = t
	}
	if title := o.Str("name"); title != "" {
		r.title = title
	}
	if w := o.Obj("workspaceIdentifier").Obj("uri"); w != nil {
		r.in(pathOf(w.Str("fsPath", "external", "path")))
	}
	if b := interop.Recorded("", o.Str("createdOnBranch"), "").Branch; b != "" {
		r.begin.Created.Checkout = &skein.Checkout{Branch: b}
	}
	if b := interop.Recorded("", cmp.Or(o.Obj("activeBranch").Str("branchName"), o.Str("lastMessageSentOnBranch")), "").Branch; b != "" {
		r.branch = b
	}
	if sub := o.Obj("subagentInfo"); sub != nil {
		r.hang(sub.Str("parentComposerId", "rootParentConversationId"), sub.Str("toolCallId"))
	}
}

// composer reads the session's row. It floats unless it has the messages itself, as
// before 2025.
func (r *composer) composer(m *interop.Made, o loose.Object) {
	r.about(o)
	c := &r.begin.Created
	if r.model = o.Obj("modelConfig").Str("modelName"); r.model == "default" {
		r.model = ""
	}
	c.Model = r.model
	m.Key, m.Floating = skein.ClientID("cursor:"+r.id), true
	if m.Begin == nil {
		r.begun = true
		m.Begin = append(m.Begin, r.begin)
	}
	if r.title != "" {
		r.put(m, skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: r.title, By: skein.ByModel}))
	}
	if mode := o.Str("unifiedMode", "forceMode"); mode != "" {
		r.put(m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "cursor:mode", Data: skein.MustJSON(mode)}))
	}
	if is := (skein.Checkout{Branch: r.branch}); r.branch != "" && (c.Checkout == nil || *c.Checkout != is) {
		r.put(m, skein.NewEvent(skein.KindChanged, 0, skein.Changed{Checkout: &is}))
	}
	if status := o.Str("status"); status != "" && status != "none" {
		r.put(m, skein.NewEvent(skein.KindChanged, 0, skein.Changed{Status: &status}))
	}
	r.spent(m, o.Obj("usageData"))
	inline := o.List("conversation")
	if len(o.List("fullConversationHeadersOnly")) > 0 {
		inline = nil
	}
	for _, v := range inline {
		if b, err := loose.Parse(v); err == nil {
			m.Floating = false
			r.bubble(m, b)
		}
	}
}

// spent reads the session's cost according to the program, by model, in cents.
func (r *composer) spent(m *interop.Made, o loose.Object) {
	names := []string{}
	for _, member := range o {
		if !slices.Contains(names, member.Name) {
			names = append(names, member.Name)
		}
	}
	for _, model := range names {
		u := o.Obj(model)
		cents, ok := loose.Number(u.Get("costInCents"))
		if !ok || cents <= 0 || cents > 1e9 {
			continue
		}
		s := skein.Step{Phase: "finish", Request: "cursor:" + r.id + ":usage:" + skein.Text(model).UTF8(), Model: skein.Text(model).UTF8()}
		if model == "default" {
			s.Model = ""
		}
		s.Usage = &skein.Usage{Reported: int64(math.Round(cents * 1e7))}
		r.put(m, skein.NewEvent(skein.KindStep, 0, s))
	}
}
