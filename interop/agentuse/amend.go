package agentuse

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
)

// A partThere is a part that the folder has.
type partThere struct {
	data []byte
	file partFile
	made map[skein.ClientID]bool // the events that were made of it
}

// remember takes in a part that the folder has.
func (w *writer) remember(r skein.Record, l folder.Line) {
	f, _, damage, err := read[partFile](l.Data())
	if err != nil || damage != "" || f.Superseded {
		return
	}
	p := &partThere{data: l.Data(), file: f, made: map[skein.ClientID]bool{r.Key: r.Events == 1}}
	for i := range r.Events {
		p.made[r.Key+skein.ClientID("/"+strconv.Itoa(i))] = true
	}
	w.there[l.File] = p
	if f.Type == "tool" && f.Call != "" {
		w.tools[f.Call] = l.File
	}
}

// answered writes the result of a call into its part, which the folder has. It
// reports false if there is none, or none that can be changed.
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
	w.parts = append(w.parts, w.file(name, data, e.End))
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

// took says what a tool answered.
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

// ended returns session.json as it is when no tool is waited for any more: the
// program would look for the one that it was suspended by.
func (w *writer) ended(session []byte) []byte {
	in, _, _, err := read[sessionFile](session)
	if err != nil || in.Status != "suspended" {
		return session
	}
	for _, p := range w.there {
		if st := p.file.State.Status; p.file.Type == "tool" && (st == "pending" || st == "running") {
			return session
		}
	}
	if data, ok := with(session, "status", []byte(`"completed"`)); ok {
		return data
	}
	return session
}

// goBack marks the parts of messages that were gone back over since the folder
// was written, as the program marks those of an attempt that it gives up.
func (w *writer) goBack(all []skein.Entry) {
	var back []skein.Seq
	for _, e := range w.d.Events {
		if r, err := skein.Decode[skein.Rewound](e); e.Kind == skein.KindRewound && e.Seq > w.d.After && err == nil {
			back = append(back, r.To)
		}
	}
	ids := map[skein.Seq]skein.ClientID{}
	for _, e := range w.d.Events {
		ids[e.Seq] = e.ClientID
	}
	for i := range all {
		e := &all[i]
		if e.Seq > w.d.After || !e.Rewound || !after(e.Seq, back) {
			continue
		}
		marked := e.Message.Role == skein.RoleTool // it stands in its call's part
		for name, p := range w.there {
			for seq := e.Seq; seq <= e.End; seq++ {
				if ids[seq] == "" || !p.made[ids[seq]] {
					continue
				}
				if data, ok := with(p.data, "superseded", []byte("true")); ok {
					w.marks = append(w.marks, w.file(name, data, 0))
					delete(w.there, name)
					marked = true
				}
				break
			}
		}
		if !marked {
			w.losses.Add(e.Seq, "that a message was gone back over: left out")
		}
	}
}

// after reports whether seq comes after one of these.
func after(seq skein.Seq, back []skein.Seq) bool {
	for _, to := range back {
		if seq > to {
			return true
		}
	}
	return false
}

// with returns the JSON object that data is with another value of a member, or
// with this member at its end, and everything else as it stands.
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
