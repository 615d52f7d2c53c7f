package agentuse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// version is the version of AgentUse whose files are imitated.
const version = "0.15.0"

// write makes the folder of a session: one message, with everything that was said in
// its parts, because the program resumes only from the first message.
//
// The error wraps [skein.ErrInvalid] if nothing is new.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, calls: map[string]*callOut{}}
	if err := w.place(); err != nil {
		return interop.Written{}, err
	}
	entries, err := w.entries()
	if err != nil {
		return interop.Written{}, err
	}
	if len(entries)+len(w.marks) == 0 && w.d.After > 0 && !w.d.WentBack() {
		return interop.Written{}, fmt.Errorf("%w: no new messages", skein.ErrInvalid)
	}
	w.results(entries)
	for i := range entries {
		w.entry(&entries[i])
	}
	w.frame()
	lines := append(append(w.head, w.marks...), w.parts...)
	return interop.Written{ID: w.id, Texts: []interop.SourceText{{Path: w.path, Lines: lines}}, Losses: w.losses}, nil
}

// A writer is one call of write.
type writer struct {
	inFolder
	d           interop.Draft
	id          string // of the session, a ULID
	path        string
	message     string     // its ULID
	began       skein.Time // when it did
	n           uint16     // of the next part
	at          skein.Time
	task        []string // the pieces of the first prompt
	system      []skein.Text
	asked       skein.Seq // the event that message.json covers
	calls       map[string]*callOut
	head, parts []interop.OutLine
	marks       []interop.OutLine // parts that are there and were rewound
	losses      interop.Losses
	failed      *skein.ErrorInfo // that the conversation ended with; nil for none
	some        bool             // a part or a task was written
}

// inFolder is what the session's folder has already.
type inFolder struct {
	known map[string][]byte     // session.json and the newest message.json, as in the folder
	there map[string]*partThere // the parts, by their paths in the folder
	tools map[string]string     // call ID → path of the part that it has
	keep  skein.Seq             // the messages up to here are in the folder, or cannot be stored there
}

// A callOut is a call's outcome.
type callOut struct {
	result *skein.Result
	at     skein.Time
	seq    skein.Seq
	told   bool
}

// place determines where the session is written.
func (w *writer) place() error {
	s := &w.d.Session
	w.id = string(s.ID)
	if !isULID().MatchString(w.id) {
		w.id = ulid(s.Created, 0, string(s.ID))
	}
	w.path = "project/" + hash(cmp.Or(s.Project, s.Cwd)) + "/session/" + w.id + "-" + sanitise(w.agent())
	if p := s.Parent; p != nil && p.Why == skein.Child {
		if spot, ok := w.d.Other(p.Session); ok && spot.Path != "" {
			w.path = spot.Path + "/subagent/" + w.id + "-" + sanitise(w.agent())
		}
	}
	if w.d.After == 0 || w.d.Known == nil {
		w.begin(s.Created)
		return nil
	}
	w.path, w.id = w.d.Path, idOf(w.d.Path)
	return w.look()
}

// look reads the existing folder.
func (w *writer) look() error {
	w.known, w.there, w.tools = map[string][]byte{}, map[string]*partThere{}, map[string]string{}
	for r, err := range w.d.Known {
		if err != nil {
			return err
		}
		at, still := w.d.Tells(r)
		l, err := folder.Parse(r.Raw)
		if err != nil || l.File == "" || l.Damage != "" {
			continue
		}
		dir := path.Dir(l.File)
		switch {
		case l.File == "session.json":
			w.known[l.File] = l.Data()
		case path.Base(l.File) == "message.json" && path.Dir(dir) == "." && dir > w.message:
			w.message = dir
			w.known["message.json"] = l.Data()
		case path.Base(dir) == "part":
			w.at = max(w.at, timeIn(path.Base(l.File))+1)
			w.remember(l, at, still)
		}
	}
	return nil
}

// begin starts the session's message.
func (w *writer) begin(at skein.Time) {
	w.message, w.began, w.at = ulid(at, 1, string(w.d.Session.ID)+"/message"), at, max(w.at, at)
}

// fresh reports whether message.json is yet to be written.
func (w *writer) fresh() bool { return w.known["message.json"] == nil }

// hash returns the name of a project's folder.
func hash(root string) string {
	if root == "" {
		return "global"
	}
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:8])
}

// agent returns the agent's ID: the one that it had, or its name.
func (w *writer) agent() string {
	for _, e := range w.d.Events {
		c, err := skein.Decode[skein.Created](e)
		if e.Kind != skein.KindCreated || err != nil || c.Origin == nil || c.Origin.Format != Name {
			continue
		}
		in, err := object[config](jsontext.Value(c.Config))
		if err != nil {
			continue
		}
		if a, err := object[agentFile](jsontext.Value(in.Agent)); err == nil && a.ID != "" {
			return a.ID
		}
	}
	return cmp.Or(w.d.Session.Agent, "skein")
}

// entries returns the messages that are to be written.
func (w *writer) entries() (out []skein.Entry, err error) {
	all, err := w.d.Entries()
	if err != nil {
		return nil, err
	}
	w.goBack(all)
	w.failed = failed(all)
	for _, e := range all {
		switch {
		case e.Rewound:
			if e.Seq > w.d.After {
				w.losses.Add(e.Seq, "rewound messages: left out")
			}
		case e.Seq <= w.keep:
		default:
			out = append(out, e)
		}
	}
	if w.message == "" && len(out) > 0 { // it ended before anything was said
		w.begin(out[0].Time)
	}
	for _, e := range w.d.Events {
		if e.Seq <= w.d.After {
			continue
		}
		switch e.Kind {
		case skein.KindCompacted:
			w.losses.Add(e.Seq, "compaction: the messages that it covers are shown again")
		case skein.KindTitled:
			w.losses.Add(e.Seq, "title: left out")
		}
	}
	if w.d.Session.Title != "" && w.d.After == 0 && len(w.d.Events) > 0 {
		w.losses.Add(w.d.Events[0].Seq, "title: left out")
	}
	return out, nil
}

// results collects the result of each call.
func (w *writer) results(entries []skein.Entry) {
	for i := range entries {
		for _, p := range entries[i].Message.Parts {
			if p.Result != nil && w.calls[p.Result.CallID] == nil {
				w.calls[p.Result.CallID] = &callOut{result: p.Result, at: entries[i].Time, seq: entries[i].End}
			}
		}
	}
}

// frame makes session.json and message.json, or updates them.
func (w *writer) frame() {
	if w.known != nil {
		now := w.d.Now.UnixMilli()
		if data, ok := set(w.ended(w.known["session.json"]), "/time/updated", now); ok {
			w.head = append(w.head, w.file("session.json", lines.RopeOf(data), 0))
		}
		if data, ok := set(w.known["message.json"], "/time/completed", now); ok {
			w.head = append(w.head, w.file(w.message+"/message.json", lines.RopeOf(data), 0))
		}
	} else {
		var begin skein.Seq
		if len(w.d.Events) > 0 {
			begin = w.d.Events[0].Seq
		}
		w.head = append(w.head, w.file("session.json", indent(w.session()), begin))
	}
	if !w.fresh() || !w.some && len(w.system) == 0 {
		return // it ended before anything was said
	}
	m := messageOut{ID: w.message, Session: w.id, Time: timesOut{int64(w.began), int64(max(w.d.Session.Updated, w.began))}}
	m.User.Prompt.Task = skein.Text(strings.Join(w.task, "\n\n"))
	if len(w.task) == 2 {
		m.User.Prompt.Task, m.User.Prompt.User = skein.Text(w.task[0]), skein.Text(w.task[1])
	}
	m.Assistant = w.assistant()
	w.head = append(w.head, w.file(w.message+"/message.json", indent(m), w.asked))
}

// file makes the line of a file.
func (w *writer) file(name string, data lines.Rope, seq skein.Seq) interop.OutLine {
	f := folder.File{Name: name, Mode: 0o644, Mtime: w.d.Now.UnixNano()}
	return interop.OutLine{Body: folder.WholeRope(f, data).Rope(), Seq: seq}
}

// indent returns v as the program writes JSON: indented by two spaces, with no line
// feed at the end.
func indent(v any) lines.Rope { return interop.IndentedJSON(v, "  ") }
