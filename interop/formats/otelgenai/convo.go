package otelgenai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A convo is one conversation while it is read.
type convo struct {
	name     string // of the Begin
	id       string
	created  skein.Created
	begun    bool
	items    int
	live     []mark // what the model was shown or said, part by part
	system   string // hash of the newest system message
	answered map[string]bool
}

// A mark is a part that was said.
type mark struct {
	hash   string
	item   int // ordinal
	record int
}

// An exchange is the content of a span or log record: a request to a model, a tool
// call, or something else.
type exchange struct {
	attributes
	of         attributes
	span       string
	raw        jsontext.Value
	start, end skein.Time
	failed     string
}

func (c *convo) emit(m *interop.Made, e skein.Event, blobs []skein.Blob, to int) {
	if !c.begun {
		b := interop.Begin{Name: c.name, ID: skein.SessionID(c.id), Time: e.Time, Created: c.created}
		if b.ID.Check() != nil {
			b.ID = skein.SessionID("otel-" + short(c.id))
		}
		m.Begin = append(m.Begin, b)
		c.begun = true
	}
	c.items++
	m.Items = append(m.Items, interop.Item{Session: c.name, Event: e, Blobs: blobs, To: to})
}

func (c *convo) say(m *interop.Made, record int, at skein.Time, s said) {
	c.emit(m, skein.Say(at, s.msg), s.blobs, 0)
	if s.msg.Role == skein.RoleSystem {
		return
	}
	for i, h := range s.marks {
		c.live = append(c.live, mark{h, c.items, record})
		if r := s.msg.Parts[i].Result; r != nil {
			c.answered[r.CallID] = true
		}
	}
}

// exchange makes the events of a span or log record.
func (r *reader) exchange(m *interop.Made, c *convo, x exchange) {
	switch op := x.str("gen_ai.operation.name"); {
	case op == "execute_tool" || op == "" && x.str("gen_ai.tool.call.id") != "":
		c.tool(m, r.n, x)
	case op == "invoke_agent" || op == "create_agent" || op == "invoke_workflow" || op == "embeddings" || op == "retrieval":
		c.note(m, x) // its model requests have spans of their own
	case len(x.list(attrIn))+len(x.list(attrOut)) > 0:
		if !r.seen[x.span] || x.span == ":" {
			r.seen[x.span] = true
			c.request(m, r.n, x)
		}
	case usageOf(x.attributes) != nil:
		c.emit(m, skein.NewEvent(skein.KindStep, x.end, skein.Step{
			Phase: "finish", Request: x.request(), Provider: x.provider(), Model: x.model(), Tier: x.tier(), Usage: usageOf(x.attributes),
		}), nil, 0)
	default:
		c.note(m, x)
	}
}

func (x exchange) provider() string { return x.str("gen_ai.provider.name", "gen_ai.system") }
func (x exchange) model() string    { return x.str("gen_ai.response.model", "gen_ai.request.model") }

func (x exchange) tier() string {
	return skein.ServiceTier(x.str("openai.response.service_tier", "gen_ai.openai.response.service_tier"))
}

// request returns a name for the request: its span and its log record have the same.
func (x exchange) request() string {
	if id := x.str("gen_ai.response.id"); id != "" || x.span == ":" {
		return loose.Request(id, x.span)
	}
	return "otel:" + x.span
}

func (c *convo) note(m *interop.Made, x exchange) {
	data := loose.Raw(x.raw)
	c.emit(m, skein.NewEvent(skein.KindNoted, x.start, skein.Noted{Name: "otel:" + or(x.str("gen_ai.operation.name"), "record"), Data: data}), nil, 0)
}

// tool adds a call's state, and its result if no message has said it.
func (c *convo) tool(m *interop.Made, record int, x exchange) {
	id := x.str("gen_ai.tool.call.id")
	state := skein.Completed
	if x.failed != "" || x.str("error.type") != "" {
		state = skein.Failed
	}
	c.emit(m, skein.NewEvent(skein.KindTool, x.start, skein.ToolState{Call: id, State: state, Title: x.str("gen_ai.tool.name"), Start: x.start, End: x.end, Meta: x.rest()}), nil, 0)
	v, there := x.attributes["gen_ai.tool.call.result"]
	if !there || id == "" || c.answered[id] {
		return
	}
	s := said{msg: skein.Message{Role: skein.RoleTool}}
	p := resultOf(id, v, state == skein.Failed)
	p.Result.Name = x.str("gen_ai.tool.name")
	s.add(p, id)
	c.say(m, record, x.end, s)
}

// request adds what is new in a request to a model, and the answer.
func (c *convo) request(m *interop.Made, record int, x exchange) {
	var in []said
	if parts := x.list(attrSystem); len(parts) > 0 {
		s := said{msg: skein.Message{Role: skein.RoleSystem}}
		for _, p := range parts {
			s.part(p)
		}
		in = append(in, s)
	}
	for _, v := range x.list(attrIn) {
		if s, ok := messageOf(v); ok {
			in = append(in, s)
		}
	}
	if string(x.attributes[attrDelta]) != "true" {
		in = c.news(m, record, x.start, in)
	}
	for _, s := range in {
		if s.msg.Role == skein.RoleAssistant {
			s.msg.Model, s.msg.Provider = x.model(), x.provider()
		}
		c.say(m, record, x.start, s)
	}
	c.answers(m, record, x)
}

// answers adds what the model answered. Of several choices, the first belongs to the
// conversation.
func (c *convo) answers(m *interop.Made, record int, x exchange) {
	usage := usageOf(x.attributes)
	for i, v := range x.list(attrOut) {
		s, ok := messageOf(v)
		if !ok || i > 0 {
			c.emit(m, skein.NewEvent(skein.KindNoted, x.end, skein.Noted{Name: "otel:choice", Data: loose.Raw(v)}), nil, 0)
			continue
		}
		s.msg.Role, s.msg.Model, s.msg.Provider = skein.RoleAssistant, x.model(), x.provider()
		s.msg.Tier, s.msg.Usage, s.msg.Request, s.msg.Meta = x.tier(), usage, x.request(), x.rest()
		if a := x.str("gen_ai.agent.name"); a != c.created.Agent {
			s.msg.Agent = a
		}
		if usage == nil && x.str("gen_ai.response.id") == "" {
			s.msg.Request = ""
		}
		if x.failed != "" {
			s.msg.Error = &skein.ErrorInfo{Kind: x.str("error.type"), Message: x.failed}
		}
		c.say(m, record, x.end, s)
		usage = nil
	}
	if usage != nil || x.failed != "" && len(x.list(attrOut)) == 0 {
		step := skein.Step{Phase: "finish", Request: x.request(), Provider: x.provider(), Model: x.model(), Tier: x.tier(), Usage: usage}
		if x.failed != "" {
			step.Error = &skein.ErrorInfo{Kind: x.str("error.type"), Message: x.failed}
		}
		c.emit(m, skein.NewEvent(skein.KindStep, x.end, step), nil, 0)
	}
}

// maxOverlap is how many parts a request may repeat from the middle of a
// conversation.
const maxOverlap = 2000

// news returns what is new in a request. If the request repeats only the beginning of
// the conversation, the conversation is rewound to there.
func (c *convo) news(m *interop.Made, record int, at skein.Time, in []said) (out []said) {
	var all []string
	for _, s := range in {
		if s.msg.Role != skein.RoleSystem {
			all = append(all, s.marks...)
		}
	}
	same := 0
	for same < len(all) && same < len(c.live) && all[same] == c.live[same].hash {
		same++
	}
	switch {
	case same == len(c.live):
	case same > 0:
		if last := c.live[same-1]; last.record < record {
			c.emit(m, skein.NewEvent(skein.KindRewound, at, skein.Rewound{}), nil, last.item)
		}
		c.live = c.live[:same]
	default:
		same = c.overlap(all)
	}
	return c.skip(in, same)
}

// overlap returns how many of these parts, from the first on, the conversation ends
// with.
func (c *convo) overlap(all []string) int {
	for n := min(len(all), len(c.live), maxOverlap); n > 0; n-- {
		tail := c.live[len(c.live)-n:]
		if matches(tail, all) {
			return n
		}
	}
	return 0
}

func matches(tail []mark, all []string) bool {
	for i, k := range tail {
		if all[i] != k.hash {
			return false
		}
	}
	return true
}

// skip returns messages without their first parts, and without a system message
// that is the newest already.
func (c *convo) skip(in []said, parts int) (out []said) {
	for _, s := range in {
		if s.msg.Role == skein.RoleSystem {
			sum := hash(string(skein.MustJSON(s.msg.Parts)))
			if sum != c.system {
				out = append(out, s)
			}
			c.system = sum
			continue
		}
		n := min(parts, len(s.marks))
		parts -= n
		if n == len(s.marks) && n > 0 {
			continue
		}
		s.msg.Parts, s.marks = s.msg.Parts[n:], s.marks[n:]
		out = append(out, s)
	}
	return out
}
