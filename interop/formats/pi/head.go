package pi

import (
	"path"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// typeHeader is the type of a file's first record.
const typeHeader = "session"

// isSlot reports whether o is the line of fixed length that Oh My Pi puts first
// and overwrites with each new title.
func isSlot(o loose.Object) bool { return o.Str("type") == "title" && o.Has("v", "pad") }

// slot reads the title in the first line.
func (r *reader) slot(m *making) {
	m.out.Floating, m.out.Key = true, r.about("slot")
	m.time = loose.Stamp(m.Get("updatedAt"))
	if !r.headed && !r.begun {
		m.out.Begin = append(m.out.Begin, r.begin(m))
	}
	r.titled(m, m.Str("title"), m.Str("source"))
}

// about returns the key of a record that belongs only to this file.
func (th *thread) about(what string) skein.ClientID {
	return skein.ClientID("pi:" + what + ":" + clip(th.id))
}

// header reads the first record, which is about the session.
func (r *reader) header(m *making) {
	r.headed = true
	if id := m.Str("id"); id != "" {
		r.id = id
	}
	if !r.tree.empty() { // the file's beginning was lost
		r.note(m, typeHeader)
	} else {
		m.out.Begin = append(m.out.Begin, r.begin(m))
		if len(r.titles) == 0 { // otherwise the line before has the newer one
			r.titled(m, m.Str("title"), m.Str("titleSource"))
		}
	}
	m.out.Floating, m.out.Key = true, r.about("header")
}

func (t *tree) empty() bool { return len(t.before) == 0 }

// begin returns the beginning of the session; m is its header, or the first entry if
// there is no header.
func (th *thread) begin(m *making) interop.Begin {
	b := interop.Begin{ID: skein.SessionID(th.id), Time: m.time}
	program := Name
	if strings.Contains(path.Clean(strings.ReplaceAll(th.file.Path, `\`, "/")), "/.omp/") {
		program = "omp"
	}
	b.Created = skein.Created{Surface: "cli", Agent: program, Program: program, Origin: &skein.Origin{ID: th.id}}
	if m.kind == typeHeader {
		cwd := m.Str("cwd")
		b.Created.Project, b.Created.Cwd = cwd, cwd
		b.Created.Provider, b.Created.Model = m.Str("provider"), m.Str("modelId")
		if rest := m.Without("type", "id", "timestamp", "cwd", "provider", "modelId", "title", "titleSource"); len(rest) > 2 {
			b.Created.Config = []byte(rest)
		}
	}
	switch parent := m.Str("parentSession", "branchedFrom"); {
	case th.folder != "":
		b.ParentID, b.Created.Parent = th.folder, &skein.Parent{Why: skein.Child}
	case m.kind == typeHeader && parent != "":
		// If it repeats the parent's entries, it becomes a fork.
		b.ParentID, b.Created.Parent = parentID(parent), &skein.Parent{Why: skein.Continuation}
	}
	return b
}

// parentID returns the ID of the session at a path of any system.
func parentID(at string) string {
	base := path.Base(strings.ReplaceAll(at, `\`, "/"))
	if id := idOf(base); id != "" {
		return id
	}
	return strings.TrimSuffix(base, ".jsonl")
}

// titled gives the session a title, if it has changed.
func (th *thread) titled(m *making, title, source string) {
	by := skein.ByPerson
	if source == "auto" {
		by = skein.ByModel
	}
	if title = strings.TrimSpace(title); title == "" || th.titles[by] == title {
		return
	}
	th.titles[by] = title
	th.add(m, skein.NewEvent(skein.KindTitled, m.time, skein.Titled{Title: title, By: by}))
}
