package copilot

import (
	"cmp"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// spent is the models' usage. A message has only its output tokens; input tokens are
// reported at the end, as a total for each model: for this run or, if the session was
// resumed, for all runs together.
type spent struct {
	runs map[string]*run        // by model, since the last end
	told map[string]skein.Usage // what the last end reported, by model
}

// A run is what is known about a model's requests since the last end.
type run struct {
	used    skein.Usage // reported by messages and compactions
	request string      // the last one
	last    int64       // output tokens that it reported
}

func newSpent() spent { return spent{map[string]*run{}, map[string]skein.Usage{}} }

func (s spent) run(model string) *run {
	if s.runs[model] == nil {
		s.runs[model] = &run{}
	}
	return s.runs[model]
}

// message returns the request of a message, and its output.
func (s spent) message(l line, model string) (request string, u *skein.Usage) {
	out := l.data.Count("outputTokens")
	if out == 0 {
		return "", nil
	}
	request = l.data.Str("requestId", "apiCallId", "messageId")
	if request == "" {
		request = l.id
	}
	r := s.run(model)
	if request = "cp:" + request; request == r.request {
		r.used.Output += max(out-r.last, 0) // a further piece of the same
		r.last = max(out, r.last)
	} else {
		r.used = r.used.Plus(skein.Usage{Output: out, Requests: 1})
		r.last, r.request = out, request
	}
	return request, &skein.Usage{Output: out}
}

// compaction makes a step of a compaction's usage.
func (s spent) compaction(l line, model string) []piece {
	o := l.data.Obj("compactionTokensUsed")
	if m := o.Str("model"); m != "" {
		model = m
	}
	cached := o.Count("cacheReadTokens", "cachedInput")
	u := skein.Usage{
		Input:     max(o.Count("inputTokens", "input")-cached-o.Count("cacheWriteTokens"), 0),
		Output:    o.Count("outputTokens", "output"),
		CacheRead: cached, CacheWrite: o.Count("cacheWriteTokens"),
	}
	if u == (skein.Usage{}) {
		return nil
	}
	r := s.run(model)
	r.used = r.used.Plus(u)
	r.used.Requests++
	step := skein.Step{Phase: "finish", Mode: "compaction", Request: "cp:" + l.id, Provider: provider, Model: model, Usage: &u}
	return []piece{{event: skein.NewEvent(skein.KindStep, l.at, step)}}
}

// shutdown reads how a run ended and its usage.
func (r *reader) shutdown(l line) (ps []piece) {
	for _, m := range l.data.Obj("modelMetrics") {
		metric, err := loose.Parse(m.Value)
		if err != nil {
			continue
		}
		for _, step := range r.spent.end(l, m.Name, metric) {
			ps = append(ps, piece{event: skein.NewEvent(skein.KindStep, l.at, step)})
		}
	}
	clear(r.spent.runs)
	how := "done"
	if l.data.Str("shutdownType") == "error" {
		how = "error"
	}
	end := skein.Program{Program: agent, Version: r.created.Version, How: how}
	return append(ps, note(l, "", nil), piece{event: skein.NewEvent(skein.KindEnded, l.at, end)})
}

// maxUntold is how many requests without a message are counted one by one at the end
// of a run: otherwise a file could make a million events of one number.
const maxUntold = 10_000

// end returns a step for each request without a message, the first with the usage
// that was not reported before. If messages reported all requests, that usage is
// added to the last one, so that no request is invented.
func (s spent) end(l line, model string, metric loose.Object) (steps []skein.Step) {
	o := metric.Obj("usage")
	read, write := o.Count("cacheReadTokens"), o.Count("cacheWriteTokens")
	all := skein.Usage{
		Input: max(o.Count("inputTokens")-read-write, 0), Output: o.Count("outputTokens"),
		Reasoning: o.Count("reasoningTokens"), CacheRead: read, CacheWrite: write,
		Requests: metric.Obj("requests").Count("count"),
	}
	run, was := s.run(model), s.told[model]
	s.told[model] = all
	known := run.used
	if all.Output >= was.Output+run.used.Output { // total of all runs
		known = known.Plus(was)
	}
	u := all.Minus(known)
	untold := min(u.Requests, maxUntold)
	several := max(u.Requests, 0)+run.used.Requests > 1 // whose prompts are reported as one sum
	u = skein.Usage{
		Input: max(u.Input, 0), Output: max(u.Output, 0), Reasoning: max(u.Reasoning, 0),
		CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0),
	}
	alone := skein.Usage{Requests: 1} // nothing else is known about it
	step := func(request string, u skein.Usage) {
		steps = append(steps, skein.Step{
			Phase: "finish", Request: request, Provider: provider, Model: model, Usage: &u, Several: several,
		})
	}
	own := "cp:" + l.id + ":" + short(model)
	switch {
	case untold > 0:
		step(own, cmp.Or(u, alone))
	case u == (skein.Usage{}):
	case run.request == "":
		step(own, u)
	default:
		u.Output += run.last
		step(run.request, u)
	}
	for n := int64(2); n <= untold; n++ {
		step(own+":"+strconv.FormatInt(n, 10), alone)
	}
	return steps
}
