package cline

import (
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// shown makes a task from what was shown, if it has nothing else.
type shown struct {
	begun bool // by the task
	calls int
}

// request is the content of api_req_started's text.
type request struct {
	usage     skein.Usage
	cancelled string
	failure   string
}

// requestOf reads a request to a provider; the error of an answer is part of it.
func requestOf(text, provider string) (q request, ok bool) {
	o, err := loose.Parse([]byte(text))
	if err != nil {
		return q, false
	}
	q.usage = skein.Usage{
		Input: o.Count("tokensIn"), Output: o.Count("tokensOut"), Reasoning: o.Count("reasoningTokens"),
		CacheRead: o.Count("cacheReads"), CacheWrite: o.Count("cacheWrites"), Reported: loose.Billionths(o.Get("cost")),
	}
	if protocol := o.Str("apiProtocol"); protocol == "openai" || protocol == "" && countsCached(provider) {
		uncache(&q.usage)
	}
	q.cancelled, q.failure = o.Str("cancelReason"), o.Str("streamingFailedMessage")
	return q, true
}

// countsCached reports whether the tokens that Cline notes as a task's input include the
// cached ones: it passes on what these providers report as the prompt.
// Checked on 2026-11-23: https://github.com/cline/cline/tree/068316f/src/core/api/providers
func countsCached(provider string) bool { return provider == "openai" || provider == "litellm" }

// uncache takes what was cached out of an input that includes it.
func uncache(u *skein.Usage) {
	if cached := u.CacheRead + u.CacheWrite; cached <= u.Input {
		u.Input -= cached
	}
}

// show reads what was shown to the user. Messages to and from the model are read from
// the other file; this one has requests with their usage, and errors.
func (r *reader) show(m *interop.Made, o loose.Object, n int) {
	at := loose.Millis(o.Get("ts"))
	if at != 0 {
		r.last = at
	}
	say, ask := o.Str("say"), o.Str("ask")
	m.Key = skein.ClientID("cline:" + r.id + ":ui:" + strconv.FormatInt(int64(at), 10) + ":" + say + ask)
	if at == 0 {
		m.Key = skein.ClientID("cline:" + r.id + ":ui:" + strconv.Itoa(n))
	}
	if i := o.Obj("modelInfo"); i != nil {
		r.main.model = used{at, i.Str("providerId"), i.Str("modelId")}
	} else if u := r.modelAt(at); u.model != "" {
		r.main.model = u
	}
	text, _ := o.Text("text")
	switch say {
	case "api_req_started", "deleted_api_reqs", "subagent_usage":
		r.request(m, at, say, text)
	case "error", "diff_error", "shell_integration_warning", "checkpoint_created", "condense_context", "condense_context_error",
		"sliding_window_truncation", "compaction", "subagent", "hook_status", "error_retry", "rooignore_error", "clineignore_error":
		r.note(m, at, say, o)
	default:
		if !r.told {
			r.alone.say(r, m, at, o)
		}
	}
}

// request adds the usage of a request, or of those that the user deleted.
func (r *reader) request(m *interop.Made, at skein.Time, say, text string) {
	q, ok := requestOf(text, r.main.model.provider)
	if !ok || q.usage == (skein.Usage{}) && q.cancelled == "" && q.failure == "" {
		return
	}
	r.counted = r.counted || q.usage != (skein.Usage{})
	s := skein.Step{
		Phase: "finish", Request: "cline:" + r.id + ":" + say + ":" + strconv.FormatInt(int64(at), 10),
		Provider: r.main.model.provider, Model: r.main.model.model, Stop: q.cancelled,
	}
	if q.usage != (skein.Usage{}) {
		s.Usage, s.Several = &q.usage, say != "api_req_started"
	}
	if q.failure != "" {
		s.Error = &skein.ErrorInfo{Kind: q.cancelled, Message: q.failure}
	}
	r.put(m, r.main, skein.NewEvent(skein.KindStep, at, s))
}

func (r *reader) note(m *interop.Made, at skein.Time, say string, o loose.Object) {
	level := ""
	if say == "error" || say == "diff_error" {
		level = "error"
	}
	if cost := loose.Billionths(o.Obj("contextCondense").Get("cost")); cost > 0 {
		r.put(m, r.main, skein.NewEvent(skein.KindStep, at, skein.Step{
			Phase: "finish", Request: "cline:" + r.id + ":" + say + ":" + strconv.FormatInt(int64(at), 10), Usage: &skein.Usage{Reported: cost},
		}))
	}
	r.put(m, r.main, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "cline:" + say, Level: level, Data: loose.Raw(o.Without("ts", "type", "say"))}))
}

// say makes messages of what was shown, for a task that has nothing else.
func (s *shown) say(r *reader, m *interop.Made, at skein.Time, o loose.Object) {
	text, _ := o.Text("text")
	if text == "" || o.Yes("partial") {
		return
	}
	said := skein.Message{Role: skein.RoleAssistant, Provider: r.main.model.provider, Model: r.main.model.model}
	kind := o.Str("say", "ask")
	if kind == "text" && !s.begun { // Roo Code shows a task this way
		kind = "task"
	}
	s.begun = true
	switch kind {
	case "task", "user_feedback", "user_feedback_diff":
		said = skein.UserSays(text)
	case "text", "completion_result", "followup", "plan_mode_respond":
		said.Parts = []skein.Part{skein.TextPart(text)}
	case "reasoning":
		said.Parts = []skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(text)}}
	case "tool", "command", "use_mcp_server", "browser_action", "browser_action_launch":
		s.calls++
		name := kind
		input := loose.AsJSON(text)
		if p, err := loose.Parse(input); err == nil && name == "tool" {
			name = p.Str("tool")
		}
		said.Parts = []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "ui-" + strconv.Itoa(s.calls), Name: name, Input: input}}}
	case "command_output", "browser_action_result", "mcp_server_response":
		said = skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "ui-" + strconv.Itoa(s.calls), Text: skein.Text(text)}}}}
	default:
		return
	}
	r.put(m, r.main, skein.Say(at, said))
}
