package provenance

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/internal/gitai"
)

// A noteCache has the notes of Git AI in the repository.
type noteCache struct {
	objects map[string]string      // by commit
	read    map[string]*gitai.Note // by object; nil if the repository was not asked
}

// noted returns the session that a note names as the author of a line, if the store has
// it; else nil. A note that cannot be read names nobody. The error is Git's or the store's.
func (t *Tracer) noted(ctx context.Context, l *git.Line) (*Write, error) {
	n, err := t.note(ctx, l.Commit.Hash)
	if err != nil || n == nil {
		return nil, err
	}
	a, ok := n.Session(l.Path, l.Original)
	if !ok {
		return nil, nil
	}
	x, err := t.session(ctx, skein.SessionID(a.ID))
	if err != nil || x == nil {
		return nil, err
	}
	return &Write{Place: skein.Place{Session: x.ID}, Model: a.Model}, nil
}

// note returns the note about a commit; nil if there is none, or it cannot be read. The
// error is Git's.
func (t *Tracer) note(ctx context.Context, commit string) (*gitai.Note, error) {
	object, err := t.noteObject(ctx, commit)
	if err != nil || object == "" {
		return nil, err
	}
	n, ok := t.notes.read[object]
	if !ok {
		text, err := t.tree.Object(ctx, object)
		if err != nil {
			return nil, err
		}
		if note, err := gitai.Parse(text); err == nil {
			n = &note
		}
		t.notes.read[object] = n
	}
	return n, nil
}

// notedOf returns the hashes of the commits since session x began whose notes name it, of
// the first 300 that have one. The error is Git's.
func (t *Tracer) notedOf(ctx context.Context, x *skein.Session) (all []string, err error) {
	if _, err := t.noteObject(ctx, ""); err != nil || len(t.notes.objects) == 0 {
		return nil, err
	}
	commits, err := t.tree.Since(ctx, x.Created-slack, git.Branches, git.Remotes)
	looked := 0
	for _, c := range commits {
		if err != nil || looked == maxTouching {
			break
		}
		n, nerr := t.note(ctx, c.Hash)
		if err = nerr; n == nil {
			continue
		}
		looked++
		for _, a := range n.Sessions {
			if a.ID == string(x.ID) {
				all = append(all, c.Hash)
			}
		}
	}
	return all, err
}

// noteObject returns the object of the note about a commit; "" if there is none. The
// error is Git's.
func (t *Tracer) noteObject(ctx context.Context, commit string) (string, error) {
	if t.notes.read == nil {
		all, err := t.tree.Notes(ctx, gitai.Ref)
		if err != nil {
			return "", err
		}
		t.notes = noteCache{all, map[string]*gitai.Note{}}
	}
	return t.notes.objects[commit], nil
}

// tools are what Git AI calls the agents whose sessions have another name here.
var tools = map[string]string{"claude-code": "claude", "copilot": "github-copilot"}

// AgentOf returns what Git AI would call a session.
func AgentOf(x *skein.Session, model string) gitai.AgentID {
	a := gitai.AgentID{Tool: cmp.Or(x.Agent, "skein"), ID: string(x.ID), Model: cmp.Or(model, x.Model)}
	if x.Origin != nil {
		a.Tool, a.ID = x.Origin.Format, cmp.Or(x.Origin.ID, a.ID)
	}
	a.Tool = cmp.Or(tools[a.Tool], a.Tool)
	return a
}

// Note returns a note of Git AI about a commit; one without files if no session is known
// to have written any of it. The error is the store's.
func (t *Tracer) Note(ctx context.Context, r *CommitReport) (gitai.Note, error) {
	n := gitai.Note{Base: r.Commit.Hash, Sessions: map[string]gitai.AgentID{}}
	for i := range r.Added {
		f := gitai.NotedFile{Path: r.Added[i].File}
		of, err := t.bySession(ctx, &r.Added[i])
		if err != nil {
			return n, err
		}
		for _, s := range of {
			a := AgentOf(s.Session, s.Model)
			key := gitai.Key(a.Tool, a.ID)
			n.Sessions[key] = a
			f.Entries = append(f.Entries, gitai.NoteEntry{Key: key, Trace: gitai.Trace(r.Commit.Hash + key), Lines: gitai.Ranges(s.Lines)})
		}
		if len(f.Entries) > 0 {
			n.Files = append(n.Files, f)
		}
	}
	return n, nil
}

// SessionLines are the lines of a file that a session wrote with one model.
type SessionLines struct {
	Session *skein.Session
	Model   string
	Lines   []int
}

// bySession returns the lines of a report by the sessions that are known to have written
// them. The error is the store's.
func (t *Tracer) bySession(ctx context.Context, r *Report) (all []SessionLines, err error) {
	for i, a := range r.Answers {
		if !a.Certainty.Certain() || a.Certainty == Made {
			continue
		}
		x, err := t.session(ctx, a.Write.Session)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		model := cmp.Or(a.Write.Model, x.Model)
		at := slices.IndexFunc(all, func(s SessionLines) bool { return s.Session.ID == x.ID && s.Model == model })
		if at < 0 {
			at, all = len(all), append(all, SessionLines{Session: x, Model: model})
		}
		all[at].Lines = append(all[at].Lines, r.Lines[i].Number)
	}
	return all, nil
}

// WriteNote adds a note about a commit to the repository. The error is Git's, also if the
// commit has one already.
func (t *Tracer) WriteNote(ctx context.Context, commit string, n *gitai.Note) error {
	t.notes = noteCache{} // to be read again
	return t.tree.AddNote(ctx, gitai.Ref, commit, n.String())
}

// HasNote reports whether a commit has a note of Git AI. The error is Git's.
func (t *Tracer) HasNote(ctx context.Context, commit string) (bool, error) {
	object, err := t.noteObject(ctx, commit)
	return object != "", err
}
