package amplifier

import (
	"cmp"
	"math/big"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// prompt is a user's prompt in the log.
type prompt struct {
	time skein.Time
	text string
}

// maxNoted is the longest line of the log that is kept as an event too, in
// bytes: debugging writes whole requests, which the records have anyway.
const maxNoted = 16 << 10

// logged makes the events of a line of events.jsonl. They do not begin a session by
// themselves: they may be left over from a fork.
func (r *reader) logged(m *making, o object, _ []byte) error {
	name, data := o.str("event"), o.obj("data")
	if m.out.Unknown = name == ""; m.run && name == "" {
		return nil
	}
	m.out.Floating = true
	if m.time = moment(o.str("ts")); m.time == 0 {
		m.time = moment(o.str("timestamp"))
	}
	line := o.without("session_id", "parent_session_id")
	r.keyed(m, r.id, line)
	from := o.str("parent_session_id")
	if from != "" && m.out.CopyKey == "" {
		m.out.CopyKey = copyKey(from, line, m.out.Key)
	}
	if r.early.parent == "" && from == "" { // there may be no metadata yet; a copy names the parent of its original
		r.early.parent = parentIn(name, data)
	}
	call := data.str("tool_call_id")
	switch {
	case name == "tool:pre" && call != "":
		m.add(skein.NewEvent(skein.KindTool, m.time, skein.ToolState{Call: call, State: skein.Running, Start: m.time}))
	case name == "tool:post" && call != "":
		r.answered(m, call, !worked(data))
	case name == "tool:error" && call != "":
		r.answered(m, call, true)
	case name == "llm:response":
		r.response(m, o, data, line)
	case name == "session:resume":
		m.add(skein.NewEvent(skein.KindResumed, m.time, skein.Program{Program: Name}))
	case name == "session:end":
		r.ended = true
		m.add(skein.NewEvent(skein.KindEnded, m.time, skein.Program{Program: Name, How: clip(or(o.str("status"), data.str("status")))}))
	case strings.HasSuffix(name, ":agent_spawned") && call != "" && sane(data.str("sub_session_id")):
		m.add(skein.NewEvent(skein.KindTool, m.time, skein.ToolState{
			Call: call, State: skein.Running, Start: m.time, Child: skein.SessionID(data.str("sub_session_id")),
		}))
	default:
		if name == "prompt:submit" && !r.said {
			r.prompts = append(r.prompts, prompt{m.time, data.str("prompt")})
		}
		if len(line) > maxNoted {
			line = o.without("session_id", "parent_session_id", "data", "raw")
		}
		m.add(note(m.time, or(name, "log"), level(o.str("lvl")), line))
	}
	return nil
}

// parentIn returns the parent that a line of the log names: a sub-agent's log begins
// with session:fork, which has it in one of three places.
func parentIn(name string, data object) string {
	switch name {
	case "session:start", "session:fork":
		return cmp.Or(data.str("parent_id"), data.str("parent"), data.obj("data").str("parent"))
	}
	return ""
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// level returns the level of a note; most are information, which is "".
func level(lvl string) string {
	if l := strings.ToLower(clip(lvl)); l != "info" {
		return l
	}
	return ""
}

func (r *reader) answered(m *making, call string, failed bool) {
	s := skein.ToolState{Call: call, State: skein.Completed, End: m.time}
	if failed {
		s.State = skein.Failed
	}
	m.add(skein.NewEvent(skein.KindTool, m.time, s))
}

// worked reports whether a tool's result says that it succeeded.
func worked(data object) bool {
	res := data.obj("result")
	return res.get("success").Kind() != 'f'
}

// response makes the step of a model's answer, with what it cost.
func (r *reader) response(m *making, o, data object, line []byte) {
	s := skein.Step{
		Phase: "finish", Provider: clip(data.str("provider")), Model: clip(data.str("model")), Stop: clip(or(data.str("stop_reason"), data.str("finish_reason"))),
		Request: "amplifier/" + string(copyKey("", line, "")), // a fork's copy of the line has the same
	}
	if id := or(o.str("request_id"), data.str("request_id")); id != "" {
		s.Request = clip(id)
	}
	s.Usage = usage(s.Provider, data.obj("usage"))
	if err := o.get("error"); o.str("status") == "error" || err != nil && err.Kind() != 'n' {
		s.Error = &skein.ErrorInfo{Kind: clip(o.obj("error").str("type")), Message: or(or(o.obj("error").str("msg"), o.str("error")), "the request failed")}
	}
	m.add(skein.NewEvent(skein.KindStep, m.time, s))
}

// usage returns a request's usage, nil if unknown. All providers except Anthropic
// count cached tokens as input too.
func usage(provider string, o object) *skein.Usage {
	u := skein.Usage{
		Input: o.count("input_tokens", "input", "prompt_tokens"), Output: o.count("output_tokens", "output", "completion_tokens"),
		Reasoning: o.count("reasoning_tokens"), Reported: dollars(o.get("cost_usd")),
		CacheRead:  o.count("cache_read_tokens", "cache_read_input_tokens", "cache_read"),
		CacheWrite: o.count("cache_write_tokens", "cache_creation_input_tokens", "cache_write"),
	}
	if !strings.Contains(provider, "anthropic") && u.Input >= u.CacheRead {
		u.Input -= u.CacheRead
	}
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}

// dollars returns a price, given as a string or a number, in billionths of a dollar;
// 0 if it is neither.
func dollars(v jsontext.Value) int64 {
	s, ok := skein.Unquote(v)
	if !ok && v.Kind() == '0' {
		s = string(v)
	}
	if len(s) > 40 || strings.ContainsAny(s, "eE/_xX") {
		return 0
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || r.Sign() < 0 {
		return 0
	}
	n := new(big.Rat).Mul(r, big.NewRat(1e9, 1))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 0
	}
	return whole.Int64()
}

// orphan makes a session of a folder that has only a log, whose lines do not begin
// one, and messages of the prompts in it, if the session ended before its first save.
// The folder is the last line.
func (r *reader) orphan(m *making) {
	if r.said || r.known {
		return
	}
	m.out.Key = skein.ClientID("amp:orphan:" + r.id)
	m.add(note(0, "no transcript", "", nil))
	if !r.ended { // it may be in its first turn
		return
	}
	for _, p := range r.prompts {
		m.add(skein.Say(p.time, skein.UserSays(p.text)))
	}
}
