package opencode

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// about is the content of a session's row or file.
type about struct {
	parent, directory, title, version string
	agent, model, provider            string
	created, updated                  skein.Time
	revert                            loose.Object
	rest                              rest
}

// rest is kept unchanged.
type rest struct {
	Slug       string          `json:"slug,omitempty"`
	Project    string          `json:"project_id,omitempty"`
	Workspace  string          `json:"workspace_id,omitempty"`
	Path       string          `json:"path,omitempty"`
	Variant    string          `json:"variant,omitempty"`
	Share      string          `json:"share_url,omitempty"`
	Summary    json.RawMessage `json:"summary,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Permission json.RawMessage `json:"permission,omitempty"`
	Revert     json.RawMessage `json:"revert,omitempty"`
	Archived   skein.Time      `json:"time_archived,omitzero"`
}

// timeOf returns the time in a column, 0 if it is not one.
func timeOf(row foreign.Row, column string) skein.Time {
	return skein.At(time.UnixMilli(max(0, row.Int(column))))
}

// ofRow reads a row of the table session.
func ofRow(row foreign.Row) (a about) {
	at := func(column string) skein.Time { return timeOf(row, column) }
	a = about{
		parent: row.Text("parent_id"), directory: row.Text("directory"), title: row.Text("title"), version: row.Text("version"),
		agent: row.Text("agent"), created: at("time_created"), updated: at("time_updated"),
	}
	model, _ := loose.Parse([]byte(row.Text("model")))
	a.model, a.provider = model.Str("id", "modelID"), model.Str("providerID")
	a.revert, _ = loose.Parse([]byte(row.Text("revert")))
	a.rest = rest{
		Slug: row.Text("slug"), Project: row.Text("project_id"), Workspace: row.Text("workspace_id"), Path: row.Text("path"),
		Variant: model.Str("variant"), Share: row.Text("share_url"), Metadata: loose.AsJSON(row.Text("metadata")),
		Permission: loose.AsJSON(row.Text("permission")), Revert: loose.AsJSON(row.Text("revert")), Archived: at("time_archived"),
	}
	return a
}

// ofFile reads a session's file.
func ofFile(o loose.Object) (a about) {
	times, share := o.Obj("time"), o.Obj("share")
	a = about{
		parent: o.Str("parentID"), directory: o.Str("directory"), title: o.Str("title"), version: o.Str("version"),
		agent: o.Str("agent"), created: loose.Millis(times.Get("created")), updated: loose.Millis(times.Get("updated")),
		revert: o.Obj("revert"),
	}
	a.rest = rest{
		Slug: o.Str("slug"), Project: o.Str("projectID"), Path: o.Str("path"), Share: share.Str("url"), Metadata: loose.Raw(o.Get("metadata")),
		Permission: loose.Raw(o.Get("permission")), Revert: loose.Raw(o.Get("revert")), Archived: loose.Millis(times.Get("archived")),
	}
	return a
}

// session reads the session's metadata. It floats: a copy has another title.
func (r *reader) session(m *interop.Made, a about) {
	r.begun = true
	r.revert = revert{a.revert.Str("messageID"), a.revert.Str("partID")}
	b := interop.Begin{ID: skein.SessionID(r.id), Time: a.created, Created: skein.Created{
		Surface: "cli", Cwd: a.directory, Project: r.worktree(&a), Agent: Name, Profile: a.agent, Provider: a.provider, Model: a.model,
		Origin: &skein.Origin{ID: r.id, Version: a.version}, Program: Name, Version: a.version,
	}}
	r.unplaced = a.directory == ""
	if a.parent != "" && a.parent != r.id {
		b.ParentID, b.Created.Parent = a.parent, &skein.Parent{Why: skein.Child}
	}
	m.Begin = append(m.Begin, b)
	m.Floating = true
	m.Key = skein.ClientID(Name + ":s:" + r.id)
	r.put(m, noted(a.created, "session", skein.MustJSON(a.rest)))
	if a.model != "" || a.agent != "" {
		r.put(m, skein.NewEvent(skein.KindChanged, a.created, skein.Changed{Model: some(a.model), Provider: some(a.provider), Profile: some(a.agent)}))
	}
	if a.title != "" && !isDefault(a.title) {
		r.put(m, skein.NewEvent(skein.KindTitled, a.updated, skein.Titled{Title: a.title, By: skein.BySource}))
	}
}

// worktree returns the folder of the session's project: the one that the project's file
// names, or that the session's path is relative to. If that does not contain the session's
// folder, which is in another worktree or in no repository then, it is that folder.
func (r *reader) worktree(a *about) string {
	if id := a.rest.Project; id != "" && !strings.ContainsAny(id, `/\`) {
		if b, ok := r.beside("project/" + id + ".json"); ok {
			if o, err := loose.Parse(b); err == nil && isAbove(o.Str("worktree"), a.directory) {
				return o.Str("worktree")
			}
		}
	}
	if root, ok := strings.CutSuffix(a.directory, "/"+a.rest.Path); ok && a.rest.Path != "" && isAbove(root, a.directory) {
		return root
	}
	return a.directory
}

// isAbove reports whether a folder is in another, which is not the root of the system.
func isAbove(root, dir string) bool { return len(root) > 1 && strings.HasPrefix(dir, root+"/") }

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// isDefault reports whether a title is the one that a new session has.
func isDefault(title string) bool {
	for _, before := range []string{"New session - ", "Child session - "} {
		if at, ok := strings.CutPrefix(title, before); ok {
			return regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(at)
		}
	}
	return false
}
