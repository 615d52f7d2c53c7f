package transcript

import (
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
)

// A Mode is what the page shows of a session.
type Mode string

// The modes, by their names in URLs.
const (
	ModeAll     Mode = ""        // all
	ModeTalk    Mode = "talk"    // what people and models say
	ModePrompts Mode = "prompts" // prompts, and the last answer to each
	ModeChanges Mode = "changes" // changes of files, and the prompts that led to them
)

// ModeOf returns the mode that a URL names; ModeAll for any other name.
func ModeOf(name string) Mode {
	if m := Mode(name); slices.Contains([]Mode{ModeTalk, ModePrompts, ModeChanges}, m) {
		return m
	}
	return ModeAll
}

// The kinds of blocks that readers fold, by the names in a form.
const (
	FoldReasoning = "reasoning"
	FoldChanges   = "changes"
	FoldCommands  = "commands"
	FoldTools     = "tools" // other calls
)

// FoldKinds returns the kinds of blocks that readers fold.
func FoldKinds() []string { return []string{FoldReasoning, FoldChanges, FoldCommands, FoldTools} }

// A Folding says which kinds of blocks are shown expanded; nil for the usual ones.
type Folding map[string]bool

// FoldingOf parses the value of a cookie: names of the kinds that are shown expanded,
// joined by dots; "none" for none of them.
func FoldingOf(value string) Folding {
	if value == "" {
		return nil
	}
	f := Folding{}
	for name := range strings.SplitSeq(value, ".") {
		if slices.Contains(FoldKinds(), name) {
			f[name] = true
		}
	}
	return f
}

// Opens reports whether a block of this kind is shown expanded.
func (v *PageView) Opens(kind string) bool {
	return v.Folding[FoldReasoning] && kind == FoldReasoning
}

// Unfolds reports whether a call is shown expanded.
func (v *PageView) Unfolds(c *call) bool {
	switch {
	case v.Mode == ModeChanges:
		return true
	case v.Folding == nil:
		return c.Unfold()
	case c.Kind == editCall:
		return v.Folding[FoldChanges]
	case c.Kind == shellCall:
		return v.Folding[FoldCommands]
	case c.Kind == tasksCall, c.Kind == questionCall:
		return true
	}
	return v.Folding[FoldTools]
}

// choose finds out what of w the mode shows.
func (t *transcriber) choose(w *Window) {
	t.answersOf, t.changing = map[int]skein.Seq{}, map[int]bool{}
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Message.Role == skein.RoleAssistant && e.Message.Words() != "" {
			t.answersOf[e.Turn] = e.Seq
		}
		for j := range e.Message.Parts {
			if c := e.Message.Parts[j].Call; c != nil && t.Mode == ModeChanges && len(edits.Of(c)) > 0 {
				t.changing[e.Turn] = true
			}
		}
	}
}

// shows reports whether the mode shows a part of a message.
func (t *transcriber) shows(e *skein.Entry, p *skein.Part) bool {
	said := p.Call == nil && p.Result == nil && p.Raw == nil && (p.Kind == skein.PartText || p.File != nil) && !p.Synthetic
	switch t.Mode {
	case ModeTalk:
		return said && !e.Message.Synthetic
	case ModePrompts:
		return said && (e.Message.Typed() || t.answersOf[e.Turn] == e.Seq)
	case ModeChanges:
		return said && e.Message.Typed() && t.changing[e.Turn] || p.Call != nil && len(edits.Of(p.Call)) > 0
	}
	return true
}

// marks reports whether the mode shows a mark.
func (t *transcriber) marks(m *divider) bool {
	return t.Mode == ModeAll || m.Class == "compacted" || m.Class == "rewound"
}
