package copilot

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// event reads an event by its type.
func (r *reader) event(l line) interop.Made {
	switch l.kind {
	case "assistant.turn_start", "assistant.turn_end":
		return interop.Made{} // the messages between them are enough
	case "user.message":
		return r.make(l, r.messages.user(l)...)
	case "assistant.message":
		return r.make(l, r.messages.assistant(l)...)
	case "assistant.reasoning":
		return r.make(l, r.messages.reasoning(l)...)
	case "system.message":
		return r.make(l, r.messages.instructed(l)...)
	case "system.notification":
		text, _ := l.data.Text("content")
		return r.make(l, say(l.at, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart(text)}}))
	case "tool.execution_start":
		return r.make(l, r.messages.toolStarted(l)...)
	case "tool.execution_complete":
		return r.make(l, r.messages.toolEnded(l)...)
	case "session.binary_asset":
		r.messages.assets.add(l.data)
		return floating(r.make(l, note(l, "", loose.Raw(l.data.Without("data")))))
	}
	if strings.HasPrefix(l.kind, "subagent.") {
		return r.make(l, r.subagent(l)...)
	}
	return r.aboutSession(l)
}

// aboutSession reads an event that is about the session as a whole.
func (r *reader) aboutSession(l line) interop.Made {
	d := l.data
	switch l.kind {
	case "session.start", "session.mode_changed", "session.usage_checkpoint", "session.idle":
		return floating(r.make(l, note(l, "", nil)))
	case "session.resume":
		return floating(r.make(l, append(r.moved(d.Obj("context"), l.at), resumed(l), note(l, "", nil))...))
	case "session.context_changed":
		return floating(r.make(l, append(r.moved(d, l.at), note(l, "", nil))...))
	case "session.model_change":
		return floating(r.make(l, append(r.modelChanged(d.Str("newModel"), l.at), note(l, "", nil))...))
	case "session.title_changed":
		return floating(r.make(l, piece{event: skein.NewEvent(skein.KindTitled, l.at, skein.Titled{Title: d.Str("title"), By: skein.ByModel})}))
	case "session.error":
		return r.make(l, failed(l, skein.ErrorInfo{Kind: d.Str("errorType"), Message: d.Str("message"), Status: int(d.Count("statusCode"))}), note(l, "error", nil))
	case "abort":
		return r.make(l, failed(l, skein.ErrorInfo{Kind: "aborted", Message: d.Str("reason")}))
	case "session.compaction_start":
		r.compacts = r.items[""]
		return floating(r.make(l, note(l, "", nil)))
	case "session.compaction_complete":
		return r.make(l, r.compacted(l)...)
	case "session.context_cleared":
		return r.make(l, cleared(l)...)
	case "session.snapshot_rewind":
		return r.make(l, r.rewound(l)...)
	case "session.shutdown":
		return r.make(l, r.shutdown(l)...)
	case "session.warning", "session.truncation":
		return r.make(l, note(l, "warning", nil))
	case "session.info":
		return r.make(l, note(l, "info", nil))
	}
	return r.other(l)
}

// other notes an event of any other type. The program's own types have two parts, of
// which the first is known.
func (r *reader) other(l line) (m interop.Made) {
	of, _, _ := strings.Cut(l.kind, ".")
	switch of {
	case "session", "user", "assistant", "system", "tool", "hook", "skill", "permission", "command", "external_tool", "elicitation", "mcp":
		return r.make(l, note(l, "", nil))
	}
	if !l.run {
		m = r.make(l, note(l, "", nil))
	}
	m.Unknown = true
	return m
}

// floating marks what does not prove a conversation.
func floating(m interop.Made) interop.Made {
	m.Floating = true
	return m
}

// maxName is the longest name of a noted event, in bytes.
const maxName = 100

// note keeps an event unchanged; data, if not nil, replaces its data.
func note(l line, level string, data []byte) piece {
	kind := l.kind
	if kind == "" {
		kind = "unknown"
	}
	if data == nil {
		data = loose.Raw(l.raw)
	}
	if l.data == nil {
		data = loose.Raw(l.body)
	}
	name := "copilot:" + kind
	if len(name) > maxName {
		name = skein.Text(name[:maxName]).UTF8()
	}
	return piece{event: skein.NewEvent(skein.KindNoted, l.at, skein.Noted{Name: name, Level: level, Data: data})}
}

// failed adds that a request to the model failed.
func failed(l line, e skein.ErrorInfo) piece {
	return piece{event: skein.NewEvent(skein.KindStep, l.at, skein.Step{Phase: "finish", Error: &e})}
}

// resumed adds that the program resumed the session.
func resumed(l line) piece {
	return piece{event: skein.NewEvent(skein.KindResumed, l.at, skein.Program{Program: agent, Version: l.data.Str("copilotVersion")})}
}

// moved adds that the session continued in another folder, if it did.
func (ts *threads) moved(where loose.Object, at skein.Time) []piece {
	cwd, root := where.Str("cwd"), where.Str("gitRoot", "cwd")
	var set skein.Changed
	if cwd != "" && (cwd != ts.created.Cwd || root != ts.created.Project) {
		ts.created.Cwd, ts.created.Project = cwd, root
		set.Cwd, set.Project = &cwd, &root
	}
	is := checkoutOf(where)
	if was := ts.created.Checkout; cwd != "" && (was == nil && is != (skein.Checkout{}) || was != nil && is != *was) {
		ts.created.Checkout, set.Checkout = &is, &is
	}
	if set.Cwd == nil && set.Checkout == nil {
		return nil
	}
	return []piece{{event: skein.NewEvent(skein.KindChanged, at, set)}}
}

// checkoutOf returns what a context says was checked out.
func checkoutOf(where loose.Object) skein.Checkout {
	address := where.Str("repository")
	if host := where.Str("repositoryHost"); address != "" && host != "" {
		address = "https://" + host + "/" + address
	}
	x := interop.Recorded(address, where.Str("branch"), where.Str("headCommit"))
	root, cwd := where.Str("gitRoot"), where.Str("cwd")
	if below, ok := strings.CutPrefix(cwd, root+"/"); ok && root != "" {
		x.Subfolder = below
	}
	return x
}

// modelChanged adds which model is asked from now on, if it has changed.
func (ts *threads) modelChanged(model string, at skein.Time) []piece {
	if model == "" || model == ts.model {
		return nil
	}
	ts.model = model
	return []piece{{event: skein.NewEvent(skein.KindChanged, at, skein.Changed{Model: &model})}}
}

// compacted reads the end of a compaction. It runs in parallel with the conversation,
// so it covers what there was when it started.
func (r *reader) compacted(l line) []piece {
	d := l.data
	to := r.items[""]
	if r.compacts >= 0 {
		to = r.compacts
	}
	r.compacts = -1
	summary, _ := d.Text("summaryContent")
	what := skein.Compacted{
		Summary: skein.Text(summary).UTF8(), Before: d.Count("preCompactionTokens"), After: d.Count("postCompactionTokens"),
		Trigger: d.Str("trigger"), Failed: !d.Yes("success"),
	}
	ps := []piece{{event: skein.NewEvent(skein.KindCompacted, l.at, what), to: to}}
	return append(append(ps, r.spent.compaction(l, r.model)...), note(l, "", loose.Raw(d.Without("summaryContent"))))
}

// cleared reads that the conversation was cleared.
func cleared(l line) []piece {
	ps := []piece{{event: skein.NewEvent(skein.KindRewound, l.at, skein.Rewound{})}}
	if text, ok := l.data.Text("initialMessage"); ok {
		ps = append(ps, say(l.at, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart(text)}}))
	}
	return ps
}

// rewound reads that an event and all after it were removed.
func (r *reader) rewound(l line) []piece {
	to, ok := r.before[l.data.Str("upToEventId")]
	if !ok {
		return []piece{note(l, "", nil)}
	}
	return []piece{{event: skein.NewEvent(skein.KindRewound, l.at, skein.Rewound{}), to: to}, note(l, "", nil)}
}
