package claudecode

import (
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// An output is the transcript that is written, line by line.
type output struct {
	d       interop.Draft
	id      string // of the session in that program: a UUID, or agent-<id>
	agentID string // of a sub-agent; "" for a session
	session string // the UUID that the lines name
	path    string
	cwd     string
	branch  string // of the file's newest line; "" for a new file
	on      interop.Checkouts
	version string
	known   *known
	keep    skein.Seq              // the file has what was said up to here
	leaves  map[skein.Seq][]string // UUIDs of the lines that a message is written to, by its seq

	parent string // UUID of the line before; "" for none
	latest skein.Time
	asked  bool // something was said before the model spoke
	lines  []interop.OutLine
	losses interop.Losses
}

// known is what the existing file has.
type known struct {
	leaf   string               // UUID of the newest line of the conversation
	leaves map[skein.Seq]string // that of the newest line of a message or compaction
	uuids  map[string]bool
	names  bool // a line of it names the newest line, as newer versions do
}

// place determines where the session is written.
func (o *output) place() error {
	s := &o.d.Session
	o.cwd = first(o.d.Dir, "/")
	o.version, o.on = version, o.d.Checkouts()
	if o.d.After > 0 && o.d.Known != nil {
		o.path = o.d.Path
		if err := o.look(); err != nil {
			return err
		}
	} else if p := s.Parent; p != nil && p.Why == skein.Child {
		if spot, ok := o.d.Other(p.Session); ok && strings.HasSuffix(spot.Path, ".jsonl") {
			o.child(spot)
			return nil
		}
	}
	if o.known != nil {
		return nil
	}
	o.id = uuidFor(string(s.ID))
	o.session = o.id
	o.path = "projects/" + mangle(o.cwd) + "/" + o.id + ".jsonl"
	return nil
}

// child puts a sub-agent into the folder of its parent session.
func (o *output) child(parent interop.Spot) {
	o.agentID = agentOf(o.d.Session.ID)
	o.id = "agent-" + o.agentID
	dir := strings.TrimSuffix(parent.Path, ".jsonl") + "/subagents"
	if folder, _, ok := strings.Cut(parent.Path, "/subagents/"); ok {
		dir = folder + "/subagents"
	}
	o.path = dir + "/" + o.id + ".jsonl"
	o.session = stemOf(strings.TrimSuffix(dir, "/subagents"))
}

// meta makes the file that says what started a sub-agent.
func (o *output) meta() interop.SourceText {
	s := &o.d.Session
	out := struct {
		Type        string `json:"agentType"`
		Description string `json:"description,omitempty"`
		ToolUse     string `json:"toolUseId,omitempty"`
		Parent      string `json:"parentAgentId,omitempty"`
	}{Type: first(s.Agent, "general-purpose"), Description: s.Title}
	if p := s.Parent; p != nil {
		out.ToolUse = plainID(p.Call)
		if spot, ok := o.d.Other(p.Session); ok && strings.Contains(spot.Path, "/subagents/") {
			out.Parent = strings.TrimPrefix(stemOf(spot.Path), "agent-")
		}
	}
	path := strings.TrimSuffix(o.path, ".jsonl") + ".meta.json"
	return interop.SourceText{Path: path, Lines: []interop.OutLine{{Body: lines.RopeOf(skein.MustJSON(out))}}}
}

// put writes a line of the message e that covers everything up to seq, unless the
// file has it, and returns its UUID. Another store that writes to the file may have
// something else at e's seq: hence the time in the UUID. A fork has the lines that its
// parent has, as when the program makes one: that is how it is recognized.
func (o *output) put(e *skein.Entry, seq skein.Seq, l lineOut) string {
	all := o.leaves[e.Seq]
	id := newUUID(string(o.d.Owner(e.Seq)), strconv.FormatInt(int64(e.Seq), 10), strconv.FormatInt(int64(e.Time), 10), strconv.Itoa(len(all)))
	o.leaves[e.Seq] = append(all, id)
	if seq > o.keep && (o.known == nil || !o.known.uuids[id]) {
		o.chain(id, e.Time, seq, l)
	}
	return id
}

// chain appends a line as a child of the one before.
func (o *output) chain(id string, at skein.Time, seq skein.Seq, l lineOut) {
	if o.parent != "" && l.Compact == nil {
		before := o.parent
		l.Parent = &before
	} else {
		l.Logical = o.parent
	}
	if at == 0 {
		at = o.d.Session.Created
	}
	// Older versions continue from the line with the latest time, or the first of
	// several.
	o.latest = max(o.latest+1, at)
	l.Sidechain, l.Agent, l.User = o.agentID != "", o.agentID, "external"
	l.Cwd, l.Session, l.Version, l.Branch = o.cwd, o.session, o.version, first(o.on.At(seq).Branch, o.branch)
	l.UUID, l.Time = id, o.latest
	o.parent = id
	o.add(seq, l)
}

// add appends a line. No line covers less than the one before.
func (o *output) add(seq skein.Seq, v any) {
	if n := len(o.lines); n > 0 {
		seq = max(seq, o.lines[n-1].Seq)
	}
	o.lines = append(o.lines, interop.OutLine{Body: interop.JSONLine(v), Seq: seq})
}

// lose reports that something of a message is lost, if the message is to be written.
func (o *output) lose(e *skein.Entry, what string) {
	if e.End > o.keep {
		o.losses.Add(e.Seq, what)
	}
}
