package agentuse

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// A partThere is a part that is in the folder.
type partThere struct {
	data  []byte
	file  partFile
	at    skein.Seq // the last message that it covers; 0 for none
	still bool      // the session continues from it
}

// remember reads a part that is in the folder.
func (w *writer) remember(l folder.Line, at skein.Seq, still bool) {
	f, _, damage, err := read[partFile](l.Data())
	if err != nil || damage != "" || f.Superseded {
		return
	}
	p := &partThere{l.Data(), f, at, still}
	w.there[l.File] = p
	if f.Type == "tool" && f.Call != "" {
		w.tools[f.Call] = l.File
	}
}

// answered writes the result of a call into its part in the folder. It reports false
// if there is no such part, or it cannot be changed.
func (w *writer) answered(e *skein.Entry, r *skein.Result) bool {
	name := w.tools[r.CallID]
	p := w.there[name]
	if p == nil || path.Dir(path.Dir(name)) != w.message {
		return false
	}
	s := &p.file.State
	now := int64(max(w.at, e.Time))
	out := stateOut{Input: orObject(s.Input), Title: skein.Text(s.Title), Meta: raw(s.Metadata), Time: spanOut{int64(timeOf(s.Time.Start)), now}}
	if out.Time.Start == 0 {
		out.Time.Start = now
	}
	if raw(s.Resume) != nil && out.Meta == nil { // where the program leaves it when it stops a session
		out.Meta = skein.MustJSON(map[string]json.RawMessage{"resumePayload": raw(s.Resume)})
	}
	out.took(r)
	data, ok := with(p.data, "state", skein.MustJSON(out))
	if !ok {
		return false
	}
	if len(r.Files) > 0 {
		w.losses.Add(e.Seq, "files: left out")
	}
	w.parts = append(w.parts, w.file(name, lines.RopeOf(data), e.End))
	delete(w.tools, r.CallID)
	delete(w.there, name)
	return true
}

func orObject(v jsontext.Value) json.RawMessage {
	if r := raw(v); r != nil {
		return r
	}
	return json.RawMessage("{}")
}

// took records a tool's result.
func (s *stateOut) took(r *skein.Result) {
	switch {
	case r.Failed:
		s.Status, s.Error = "error", &r.Text
	case r.Text == "" && len(r.Raw) > 0:
		s.Status, s.Output = "completed", r.Raw
	default:
		s.Status, s.Output = "completed", skein.MustJSON(r.Text)
	}
}

// ended returns session.json for a conversation that ended with an error or waits for
// no tool anymore: otherwise the program would look for the tool that suspended it.
func (w *writer) ended(session []byte) []byte {
	in, _, _, err := read[sessionFile](session)
	if err != nil || in.Status != "suspended" && (w.failed == nil || in.Status == "") {
		return session
	}
	for _, p := range w.there {
		if st := p.file.State.Status; p.file.Type == "tool" && (st == "pending" || st == "running") {
			return session
		}
	}
	if data, ok := with(session, "status", []byte(`"`+w.status()+`"`)); ok {
		return data
	}
	return session
}

// goBack marks the parts of messages that were rewound since the folder was written,
// as the program marks those of an attempt that it gives up. What comes after the
// remaining ones is to be written, even if it was there before.
func (w *writer) goBack(all []skein.Entry) {
	w.keep = w.d.After
	if !w.d.WentBack() {
		return
	}
	w.keep = 0
	if len(all) > 0 { // it is in message.json
		w.keep = all[0].End
		if all[0].Rewound {
			w.losses.Add(all[0].Seq, "that the first prompt was rewound: left out")
		}
	}
	for name, p := range w.there {
		if p.still {
			w.keep = max(w.keep, p.at)
		} else if data, ok := with(p.data, "superseded", []byte("true")); ok {
			w.marks = append(w.marks, w.file(name, lines.RopeOf(data), p.at))
			delete(w.there, name)
			delete(w.tools, p.file.Call)
		}
	}
	slices.SortFunc(w.marks, func(a, b interop.OutLine) int { return bytes.Compare(a.Body.Bytes(), b.Body.Bytes()) })
}

// with returns the JSON object data with one member set, or added at the end, and
// everything else unchanged.
func with(data []byte, name string, value []byte) ([]byte, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, false
	}
	var begin, end int64
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		is := tok.String() == name
		v, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		if at := dec.InputOffset(); is { // the last one counts
			begin, end = at-int64(len(v)), at
		} else if begin == 0 {
			end = at
		}
	}
	var b bytes.Buffer
	if begin == 0 {
		b.Write(data[:end])
		b.WriteString(",\n  \"" + name + "\": ")
	} else {
		b.Write(data[:begin])
	}
	if err := json.Indent(&b, value, "  ", "  "); err != nil {
		return nil, false
	}
	b.Write(data[end:])
	return b.Bytes(), strings.HasPrefix(strings.TrimSpace(b.String()), "{")
}
