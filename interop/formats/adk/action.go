package adk

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// actions is what an event does besides saying something.
type actions struct {
	transfer   string // agent that continues
	rewind     string // invocation before which the session continues
	compaction loose.Object
	rest       json.RawMessage // the others that are set
}

// actions returns what is set in an event's actions. Requests for credentials are
// left out: they hold secrets.
func (r *reader) actions(o loose.Object) (a actions) {
	a.transfer = o.Str("transfer_to_agent", "transferToAgent")
	a.rewind = o.Str("rewind_before_invocation_id", "rewindBeforeInvocationId")
	if c := obj(o, "compaction"); obj(c, "compacted_content") != nil {
		a.compaction = c
	}
	left := slices.DeleteFunc(slices.Clone(o), func(m loose.Member) bool {
		switch m.Name {
		case "transfer_to_agent", "transferToAgent", "requested_auth_configs", "requestedAuthConfigs":
			return true
		}
		return loose.IsNull(m.Value) || string(m.Value) == "{}" || string(m.Value) == "[]"
	})
	if len(left) > 0 {
		a.rest = loose.Raw(left.Without())
	}
	return a
}

// A summary replaces the events between two times.
type summary struct {
	start, end skein.Time
	text       string
}

// maxSummaries is how many summaries one event holds at most, and maxSummary how many
// bytes.
const (
	maxSummaries = 100
	maxSummary   = 1 << 20
)

// compaction reads a summary. The kit shows the model all summaries except those
// whose time a later one covers.
func (r *reader) compaction(m *interop.Made, at skein.Time, o loose.Object) {
	start, _ := loose.Number(get(o, "start_timestamp")) // 0: unknown
	end, _ := loose.Number(get(o, "end_timestamp"))
	s := summary{start: loose.Epoch(start), end: loose.Epoch(end)}
	var texts []string
	for _, v := range obj(o, "compacted_content").List("parts") {
		p, _ := loose.Parse(v) // a value that is not an object has no text
		if text, ok := p.Text("text"); ok {
			texts = append(texts, text)
		}
	}
	s.text = strings.Join(texts, "\n")
	r.summaries = slices.DeleteFunc(r.summaries, func(was summary) bool { return was.start >= s.start && was.end <= s.end })
	r.summaries = append(r.summaries, s)
	texts = nil
	size := 0
	for i := len(r.summaries) - 1; i >= 0 && len(texts) < maxSummaries && size < maxSummary; i-- {
		texts = append(texts, r.summaries[i].text)
		size += len(r.summaries[i].text)
	}
	slices.Reverse(texts)
	if drop := len(r.summaries) - len(texts); drop > 0 {
		r.summaries = slices.Delete(r.summaries, 0, drop)
	}
	to := len(r.times)
	for to > 0 && r.times[to-1] > s.end {
		to--
	}
	r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: strings.Join(texts, "\n\n")}))
	m.Items[0].To = to
}
