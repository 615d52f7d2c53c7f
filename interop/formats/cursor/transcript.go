package cursor

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A session is what the readers of all stores have in common.
type session struct {
	id    string
	begin interop.Begin
	begun bool
}

func newSession(id, surface string) session {
	return session{id: id, begin: interop.Begin{ID: skein.SessionID(id), Created: skein.Created{
		Surface: surface, Agent: Name, Program: Name, Origin: &skein.Origin{ID: id},
	}}}
}

// put makes e the next event of the record.
func (s *session) put(m *interop.Made, e skein.Event, blobs ...skein.Blob) {
	if !s.begun {
		s.begun = true
		m.Begin = append(m.Begin, s.begin)
	}
	m.Items = append(m.Items, interop.Item{Event: e, Blobs: blobs})
}

// hang makes the session a child of another.
func (s *session) hang(parent, call string) {
	if parent != "" && parent != s.id {
		s.begin.ParentID, s.begin.Created.Parent = parent, &skein.Parent{Why: skein.Child, Call: call}
	}
}

// in sets the session's folder, if that is not known.
func (s *session) in(dir string) {
	if c := &s.begin.Created; c.Cwd == "" && dir != "" {
		c.Cwd, c.Project = dir, dir
	}
}

// A transcript reads a file of JSON Lines.
type transcript struct {
	session
	blocks blocks.Reader
	calls  int // without an ID so far
}

func openTranscript(f interop.File) interop.Reader {
	r := &transcript{session: ofTranscript(f)}
	r.blocks.NewID = func() string {
		r.calls++
		return "call-" + strconv.Itoa(r.calls)
	}
	return r
}

// ofTranscript returns the session that a transcript's path names: a sub-agent's is
// in subagents in its parent's folder.
func ofTranscript(f interop.File) session {
	at := filepath.ToSlash(f.Path)
	s := newSession(strings.TrimSuffix(path.Base(at), path.Ext(at)), "ide")
	rest := path.Base(at)
	if i := strings.LastIndex(at, transcripts); i >= 0 {
		rest = at[i+len(transcripts):]
	}
	dirs := strings.Split(path.Dir(rest), "/")
	for i, d := range dirs {
		if d == "subagents" && i > 0 {
			s.hang(dirs[i-1], "")
		}
	}
	up := strings.Repeat("../", strings.Count(rest, "/")+1)
	if b, ok := f.Beside(up + ".workspace-trusted"); ok {
		if o, err := loose.Parse(b); err == nil {
			s.in(pathOf(o.Str("workspacePath")))
		}
	}
	return s
}

// Read implements [interop.Reader]; the error says that a line is not an object.
func (r *transcript) Read(l interop.Line) (m interop.Made, err error) {
	o, err := loose.Parse(l.Body)
	if err != nil {
		return m, err
	}
	m.Key = skein.ClientID("cursor:" + r.id + ":" + strconv.Itoa(l.N))
	content := o.Get("content")
	if msg := o.Obj("message"); msg != nil {
		content = msg.Get("content")
	}
	role := o.Str("role")
	if role == "" {
		m.Floating = true
		name := o.Str("type")
		if name == "" || len(name) > 80 {
			name = "record"
		}
		if m.Unknown = name != "turn_ended"; m.Unknown && l.Run {
			return m, nil
		}
		r.put(&m, skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "cursor:" + name, Data: loose.Raw(l.Body)}))
		return m, nil
	}
	said := skein.Message{Role: roleOf(role)}
	c := r.blocks.Read(content)
	if said.Role == skein.RoleUser {
		c.Parts = unwrap(c.Parts)
		said.Synthetic = !typed(c.Parts)
		r.in(workspaceIn(c.Parts))
	}
	blobs := c.Blobs
	for _, msg := range c.Messages(said) {
		r.put(&m, skein.Say(loose.Stamp(o.Get("timestamp")), msg), blobs...)
		blobs = nil
	}
	return m, nil
}

func roleOf(role string) skein.Role {
	switch r := skein.Role(role); r {
	case skein.RoleUser, skein.RoleAssistant, skein.RoleTool:
		return r
	}
	return skein.RoleSystem
}
