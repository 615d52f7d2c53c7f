package agentuse

import (
	"cmp"
	"encoding/json"
	"path"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// part reads a part of the message in the folder of this name. run is
// [interop.Line.Run].
func (r *reader) part(data []byte, message, name string, run bool) (m interop.Made, err error) {
	f, value, damage, err := read[partFile](data)
	if err != nil {
		return m, err
	}
	at := timeOf(f.Time.Start)
	var blobs []skein.Blob
	switch {
	case f.Superseded:
		m = r.make(r.key(name), noted(at, "superseded", "", value))
	case f.Type == "text" && f.Role == "user":
		p := skein.TextPart(string(f.Text))
		p.Synthetic = f.Synthetic
		r.ran = true
		m = r.make(r.key(name), skein.Say(at, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{p}}))
	case f.Type == "text" || f.Type == "reasoning":
		p := skein.Part{Kind: skein.PartKind(f.Type), Text: f.Text, Start: at, End: timeOf(f.Time.End), Synthetic: f.Synthetic, Meta: raw(f.Metadata)}
		m = r.make(r.key(name), r.says(at, message, p))
	case f.Type == "tool":
		var evs []skein.Event
		evs, blobs = r.tool(&f, message, name)
		m = r.make(r.key(name), evs...)
	case f.Type == "file":
		p := skein.Part{Kind: skein.PartFile, File: &skein.File{Name: utf8(f.FileName), Media: utf8(f.Mime), URL: utf8(f.URL)}}
		m = r.make(r.key(name), r.says(at, message, p))
	case f.Type == "agent":
		m = r.make(r.key(name), r.says(at, message, skein.Part{Kind: skein.PartAgent, Text: skein.Text(f.Name)}))
	case f.Type == "step-finish":
		m = r.make(r.key(name), r.finish(at, &f, message))
	case f.Type == "error":
		if m, err = r.failure(at, data, name, value); err != nil {
			return m, err
		}
	case isNoted(f.Type) || !run:
		m = r.make(r.key(name), noted(at, cmp.Or(utf8(f.Type), "part"), level(&f), value))
		m.Unknown = !isNoted(f.Type)
	default:
		m.Unknown = true
	}
	m.Damage = damage
	if len(blobs) > 0 {
		m.Items[len(m.Items)-1].Blobs = blobs
	}
	return m, nil
}

// isNoted reports whether parts of a type are known to be only noted.
func isNoted(kind string) bool {
	switch kind {
	case "log", "learning", "compaction", "step-start", "snapshot", "patch":
		return true
	}
	return false
}

// failure makes the error of a request, if session.json does not say it already.
func (r *reader) failure(at skein.Time, data []byte, name string, value json.RawMessage) (m interop.Made, err error) {
	e, _, _, err := read[errorFile](data)
	if err != nil {
		return m, err
	}
	info := e.info()
	if *info == r.failed {
		return r.make(r.key(name), noted(at, "error", "error", value)), nil
	}
	return r.make(r.key(name), skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "finish", Provider: r.provider, Model: r.model, Error: info})), nil
}

// finish makes what a step of an answer used. message.json has the sum of the steps,
// or 0 as long as the program runs: both name the message as their request, so that
// the larger one counts, once.
func (r *reader) finish(at skein.Time, f *partFile, message string) skein.Event {
	used := f.Tokens.usage()
	used.Reported = loose.Billionths(f.Cost)
	r.steps = r.steps.Plus(used)
	u := r.steps.Merge(r.total)
	s := skein.Step{Phase: "finish", Request: cmp.Or(r.request, message), Provider: r.provider, Model: r.model, Usage: &u, Several: true}
	return skein.NewEvent(skein.KindStep, at, s)
}

func noted(at skein.Time, name, level string, data json.RawMessage) skein.Event {
	return skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: Name + ":" + name, Level: level, Data: data})
}

// level returns the severity of what a part notes.
func level(f *partFile) string {
	switch {
	case f.Type == "error" || f.Level == "error":
		return "error"
	case f.Level == "warn":
		return "warning"
	case f.Level == "debug" || f.Level == "info":
		return f.Level
	case f.Level == "system":
		return "info"
	}
	return ""
}

// says makes a piece of the model's answer. What the model says after a tool has run
// is another message.
func (r *reader) says(at skein.Time, message string, p skein.Part) skein.Event {
	if r.ran && p.Kind != skein.PartCall {
		r.round++
	}
	r.ran = r.ran && p.Kind == skein.PartCall
	return skein.Say(at, skein.Message{
		ID: utf8(message) + ":" + strconv.Itoa(r.round), Role: skein.RoleAssistant, Provider: r.provider, Model: r.model, Parts: []skein.Part{p},
	})
}

// tool makes a call, its state, and its result if there is one.
func (r *reader) tool(f *partFile, message, name string) (evs []skein.Event, blobs []skein.Blob) {
	s := &f.State
	call := skein.Call{ID: cmp.Or(utf8(f.Call), utf8(name), "part"), Name: utf8(f.Tool), Input: raw(s.Input)}
	st := skein.ToolState{Call: call.ID, State: stateOf(s.Status), Title: utf8(s.Title), Start: timeOf(s.Time.Start), End: timeOf(s.Time.End)}
	if st.Start == 0 {
		st.Start = timeOf(s.Suspended)
	}
	st.Meta = s.meta(f.Outer)
	st.Child = s.child()
	evs = []skein.Event{
		r.says(st.Start, message, skein.Part{Kind: skein.PartCall, Call: &call}),
		skein.NewEvent(skein.KindTool, max(st.Start, st.End), st),
	}
	r.ran = true
	res := skein.Result{CallID: call.ID, Name: call.Name}
	switch st.State {
	case skein.Failed:
		res.Text, res.Failed = s.Error, true
	case skein.Completed:
		if text, ok := str(s.Output); ok {
			res.Text = skein.Text(text)
		} else {
			res.Raw = raw(s.Output)
			blobs = r.refer(&res, s)
		}
	default:
		return evs, nil
	}
	said := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res}}}
	return append(evs, skein.Say(st.End, said)), blobs
}

// refer adds the file that holds a tool's output.
func (r *reader) refer(res *skein.Result, s *state) []skein.Blob {
	var a artifact
	if json.Unmarshal(s.Output, &a) != nil || a.Path == "" {
		return nil
	}
	base := path.Base(a.Path)
	f, ok := r.artifacts[base]
	if !ok {
		return nil
	}
	res.Files = []skein.File{f}
	return []skein.Blob{r.blobs[base]}
}

func stateOf(status string) skein.CallState {
	switch s := skein.CallState(status); s {
	case skein.Pending, skein.Running, skein.Completed, skein.Failed:
		return s
	}
	return skein.Uncertain
}

// meta returns what else a state has: why it waits, or what the program noted.
func (s *state) meta(outer string) json.RawMessage {
	m := struct {
		Metadata json.RawMessage `json:"metadata,omitempty"`
		Resume   json.RawMessage `json:"resumePayload,omitempty"`
		Outer    string          `json:"parentCallID,omitempty"`
	}{raw(s.Metadata), raw(s.Resume), utf8(outer)}
	if m.Metadata == nil && m.Resume == nil && m.Outer == "" {
		return nil
	}
	return skein.MustJSON(m)
}

// child returns the session that a call waits for, or ran as.
func (s *state) child() skein.SessionID {
	for _, v := range []json.RawMessage{raw(s.Resume), raw(s.Metadata)} {
		var in struct {
			Child   string `json:"childSessionID"`
			Session string `json:"sessionID"`
		}
		if json.Unmarshal(v, &in) == nil && cmp.Or(in.Child, in.Session) != "" {
			return skein.SessionID(cmp.Or(in.Child, in.Session))
		}
	}
	return ""
}
