package claudecode

import (
	"context"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// version is the version of Claude Code whose files are imitated.
const version = "2.1.330"

// write makes the transcript of a session and, for a sub-agent, the file that says
// what started it.
//
// The error wraps [skein.ErrInvalid] if nothing is new.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, leaves: map[skein.Seq][]string{}, uuids: map[skein.Seq]string{}, ours: ownFormat(d)}
	if err := w.place(); err != nil {
		return interop.Written{}, err
	}
	all, err := d.Entries()
	if err != nil {
		return interop.Written{}, err
	}
	if err := w.plan(all); err != nil {
		return interop.Written{}, err
	}
	if err := w.conversation(); err != nil {
		return interop.Written{}, err
	}
	switch {
	case len(w.lines) == 0 && d.After > 0:
		if err := w.onlyBack(); err != nil {
			return interop.Written{}, err
		}
	case len(w.lines) == 0:
		return interop.Written{}, nil
	}
	w.rest()
	texts := []interop.Text{{Path: w.path, Lines: w.lines}}
	if w.agentID != "" && w.known == nil {
		texts = append(texts, w.meta())
	}
	return interop.Written{ID: w.id, Texts: texts, Losses: w.losses}, nil
}

// onlyBack returns an error if nothing is new, or if the session was only rewound and
// the file cannot say that.
func (w *writer) onlyBack() error {
	var why string
	switch {
	case !w.d.WentBack():
		why = "no new messages"
	case w.agentID != "":
		why = "a sub-agent's session cannot be rewound; add a message to it, and the rewind is written with it"
	case !w.known.names:
		why = "this version of Claude Code continues from the newest message, even if that was rewound; add a message, and the rewind is written with it"
	case w.parent == "":
		why = "Claude Code cannot rewind to before the first prompt; add a message, and the rewind is written with it"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", skein.ErrInvalid, why)
}

// ownFormat reports whether the session is Claude Code's own, whose tool names are
// known to it.
func ownFormat(d interop.Draft) bool {
	s := &d.Session
	return s.Agent == Name || s.Origin != nil && s.Origin.Format == Name
}

// A writer is one call of write.
type writer struct {
	d       interop.Draft
	id      string // of the session in that program: a UUID, or agent-<id>
	agentID string // of a sub-agent; "" for a session
	session string // the UUID that the lines name
	path    string
	cwd     string
	branch  string
	version string
	ours    bool
	known   *known
	keep    skein.Seq // the file has what was said up to here

	entries  []skein.Entry // those that are live
	calls    map[*skein.Call]*callOut
	results  map[*skein.Result]*callOut
	compacts []compaction
	uuids    map[skein.Seq]string   // of the lines that events were read from
	leaves   map[skein.Seq][]string // UUIDs of the lines that a message is written to, by its seq

	parent string // UUID of the line before; "" for none
	latest skein.Time
	asked  bool // something was said before the model spoke
	lines  []interop.OutLine
	losses interop.Losses
}

// place determines where the session is written.
func (w *writer) place() error {
	s := &w.d.Session
	w.cwd = first(w.d.Dir, "/")
	w.version, w.branch = version, branchOf(w.d.Events)
	if w.d.After > 0 && w.d.Known != nil {
		w.path = w.d.Path
		if err := w.look(); err != nil {
			return err
		}
	} else if p := s.Parent; p != nil && p.Why == skein.Child {
		if spot, ok := w.d.Other(p.Session); ok && strings.HasSuffix(spot.Path, ".jsonl") {
			w.child(spot)
			return nil
		}
	}
	if w.known != nil {
		return nil
	}
	w.id = uuidFor(string(s.ID))
	w.session = w.id
	w.path = "projects/" + mangle(w.cwd) + "/" + w.id + ".jsonl"
	return nil
}

// child puts a sub-agent into the folder of its parent session.
func (w *writer) child(parent interop.Spot) {
	w.agentID = agentOf(w.d.Session.ID)
	w.id = "agent-" + w.agentID
	dir := strings.TrimSuffix(parent.Path, ".jsonl") + "/subagents"
	if folder, _, ok := strings.Cut(parent.Path, "/subagents/"); ok {
		dir = folder + "/subagents"
	}
	w.path = dir + "/" + w.id + ".jsonl"
	w.session = stemOf(strings.TrimSuffix(dir, "/subagents"))
}

// meta makes the file that says what started a sub-agent.
func (w *writer) meta() interop.Text {
	s := &w.d.Session
	out := struct {
		Type        string `json:"agentType"`
		Description string `json:"description,omitempty"`
		ToolUse     string `json:"toolUseId,omitempty"`
		Parent      string `json:"parentAgentId,omitempty"`
	}{Type: first(s.Agent, "general-purpose"), Description: s.Title}
	if p := s.Parent; p != nil {
		out.ToolUse = plainID(p.Call)
		if spot, ok := w.d.Other(p.Session); ok && strings.Contains(spot.Path, "/subagents/") {
			out.Parent = strings.TrimPrefix(stemOf(spot.Path), "agent-")
		}
	}
	path := strings.TrimSuffix(w.path, ".jsonl") + ".meta.json"
	return interop.Text{Path: path, Lines: []interop.OutLine{{Body: skein.MustJSON(out)}}}
}

// resume returns the command that resumes a session, in the folder in which it began,
// because Claude Code looks for sessions there.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	path, _, _ := strings.Cut(w.Path, "/subagents/")
	id := stemOf(path)
	for _, dir := range []string{s.Cwd, s.Project, "/"} {
		if dir != "" && strings.Contains(w.Path, "/"+mangle(dir)+"/") {
			return []string{"claude", "--resume", id}, dir
		}
	}
	return []string{"claude", "--resume", id}, first(s.Cwd, s.Project)
}

// branchOf returns the git branch on which the session began, if known.
func branchOf(events []skein.Event) string {
	for _, e := range events {
		if e.Kind != skein.KindCreated {
			continue
		}
		c, err := skein.Decode[skein.Created](e)
		if err != nil {
			continue
		}
		if o := parseObject(c.Config); o != nil {
			return o.Str("git_branch")
		}
	}
	return ""
}

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
