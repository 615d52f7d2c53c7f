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
	out := &output{d: d, leaves: map[skein.Seq][]string{}}
	if err := out.place(); err != nil {
		return interop.Written{}, err
	}
	w := newWriter(out)
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
	texts := []interop.SourceText{{Path: w.path, Lines: w.lines}}
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

// A writer is one call of write. Its parts share one output.
type writer struct {
	*output

	entries  []skein.Entry // those that are live
	compacts []compaction
	messages *messages
	calls    *calls
}

// newWriter returns a writer to out, whose place is known.
func newWriter(out *output) *writer {
	ours := ownFormat(out.d)
	w := &writer{output: out, messages: &messages{output: out, ours: ours}}
	w.calls = &calls{output: out, messages: w.messages, tools: tools{out.cwd, ours}, outs: map[*skein.Call]*callOut{}, results: map[*skein.Result]*callOut{}}
	return w
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

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
