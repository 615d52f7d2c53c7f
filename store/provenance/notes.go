package provenance

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/internal/gitai"
)

// AINotes are the notes of Git AI in a repository. It looks for them when they are first
// needed. It is used by one goroutine.
type AINotes struct {
	ref     git.NoteRef
	objects map[string]string      // by commit
	read    map[string]*gitai.Note // by object; nil if the repository was not asked
}

// about returns the note about a commit; nil if there is none, or it cannot be read. The
// error is Git's.
func (n *AINotes) about(ctx context.Context, commit string) (*gitai.Note, error) {
	object, err := n.object(ctx, commit)
	if err != nil || object == "" {
		return nil, err
	}
	note, ok := n.read[object]
	if !ok {
		text, err := n.ref.Text(ctx, object)
		if err != nil {
			return nil, err
		}
		if is, err := gitai.Parse(text); err == nil {
			note = &is
		}
		n.read[object] = note
	}
	return note, nil
}

// object returns the object of the note about a commit; "" if there is none. The
// error is Git's.
func (n *AINotes) object(ctx context.Context, commit string) (string, error) {
	if n.read == nil {
		all, err := n.ref.All(ctx)
		if err != nil {
			return "", err
		}
		n.objects, n.read = all, map[string]*gitai.Note{}
	}
	return n.objects[commit], nil
}

// Write adds a note about a commit to the repository. The error is Git's, also if the
// commit has one already.
func (n *AINotes) Write(ctx context.Context, commit string, note *gitai.Note) error {
	n.objects, n.read = nil, nil // to be read again
	return n.ref.Add(ctx, commit, note.String())
}

// Has reports whether a commit has a note of Git AI. The error is Git's.
func (n *AINotes) Has(ctx context.Context, commit string) (bool, error) {
	object, err := n.object(ctx, commit)
	return object != "", err
}

// noted returns the session that a note names as the author of a line, if the store has
// it; else nil. A note that cannot be read names nobody. The error is Git's or the store's.
func (t *Tracer) noted(ctx context.Context, l *git.Line) (*Write, error) {
	n, err := t.Notes.about(ctx, l.Commit.Hash)
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

// notedOf returns the hashes of the commits since session x began whose notes name it, of
// the first 300 that have one. The error is Git's.
func (t *Tracer) notedOf(ctx context.Context, x *skein.Session) (all []string, err error) {
	if _, err := t.Notes.object(ctx, ""); err != nil || len(t.Notes.objects) == 0 {
		return nil, err
	}
	commits, err := t.Tree.Since(ctx, x.Created-slack, git.Branches, git.Remotes)
	looked := 0
	for _, c := range commits {
		if err != nil || looked == maxTouching {
			break
		}
		n, nerr := t.Notes.about(ctx, c.Hash)
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
