package skein

import (
	"bytes"
	"cmp"
	"reflect"
	"strings"
)

// maxLookBack is how many parts, from the newest, a part of a later piece is
// compared with: more than any real message has, few enough that one of a
// hundred thousand pieces is put together in no time.
const maxLookBack = 256

// join adds the piece p to the message, whose parts it may change.
func (e *Entry) join(p piece) {
	e.End = p.seq
	m, next := &e.Message, &p.message
	m.Parts = joinParts(m.Parts, next.Parts)
	for _, f := range []struct {
		to   *string
		from string
	}{{&m.Provider, next.Provider}, {&m.Model, next.Model}, {&m.Agent, next.Agent}, {&m.Request, next.Request}, {&m.Tier, next.Tier}, {&m.Stop, next.Stop}} {
		*f.to = cmp.Or(f.from, *f.to)
	}
	m.Synthetic = m.Synthetic && next.Synthetic
	m.Interrupted = next.Interrupted
	if next.Error != nil {
		m.Error = next.Error
	}
	if len(next.Meta) > 0 {
		m.Meta = next.Meta
	}
	switch {
	case m.Usage == nil:
		m.Usage = next.Usage
	case next.Usage != nil:
		u := m.Usage.Merge(*next.Usage)
		m.Usage = &u
	}
}

// joinParts returns the parts of a message of which first had, then next came.
// It changes had and leaves next as it is.
func joinParts(had, next []Part) []Part {
	all := had
	from := max(0, len(had)-maxLookBack)
	var taken [maxLookBack]bool
	for _, p := range next {
		i := from
		for i < len(had) && (taken[i-from] || !repeats(p, all[i])) {
			i++
		}
		if i == len(had) {
			all = append(all, p)
			continue
		}
		taken[i-from] = true
		all[i] = later(all[i], p)
	}
	return all
}

// repeats reports whether p, of a later piece, is q once more, or q grown.
func repeats(p, q Part) bool {
	if p.Kind != q.Kind {
		return false
	}
	switch {
	case p.Kind == PartCall:
		return p.Call != nil && q.Call != nil && p.Call.ID == q.Call.ID && p.Call.ID != ""
	case p.Kind == PartResult:
		return p.Result != nil && q.Result != nil && p.Result.CallID == q.Result.CallID && p.Result.CallID != ""
	case p.Kind == PartText || p.Kind == PartReasoning || p.Kind == PartSummary:
		// A part with a signature is whole: only the same one repeats it.
		return strings.HasPrefix(string(p.Text), string(q.Text)) &&
			(bytes.Equal(p.Raw, q.Raw) || len(q.Raw) == 0 && q.Text != "")
	}
	return p.Text == q.Text && bytes.Equal(p.Raw, q.Raw) && reflect.DeepEqual(p.File, q.File)
}

// later returns what is known of a part of which first q, then p was said.
func later(q, p Part) Part {
	switch {
	case p.Kind == PartCall && len(p.Call.Input) == 0:
		c := *p.Call
		c.Input = q.Call.Input
		p.Call = &c
	case p.Kind == PartResult && p.Result.Text == "" && len(p.Result.Files) == 0 && len(p.Result.Raw) == 0:
		p.Result = q.Result
	}
	if p.Start == 0 {
		p.Start = q.Start
	}
	if p.End == 0 {
		p.End = q.End
	}
	if len(p.Meta) == 0 {
		p.Meta = q.Meta
	}
	return p
}
