package goose

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A message is a message as the program stores it.
type message struct {
	id, role, created string
	at                skein.Time
	content           jsontext.Value
	about             loose.Object // who sees it, and more; nil if missing
}

// hidden reports whether the message is hidden from the user or from the model
// (agent).
func (in *message) hidden(who string) bool {
	return in.about.Get(who+"Visible").Kind() == 'f'
}

// message reads a message.
func (r *reader) message(m *interop.Made, in message) {
	said := r.content(in.content)
	said.role(in.role)
	m.Key = r.key(&in, said)
	agent, private := !in.hidden("agent"), in.hidden("user")
	first := private && !r.private && !in.about.Yes("turnContext")
	if !in.about.Yes("turnContext") {
		r.private = private
	}
	switch {
	case said.Role == "":
		r.unknown(m, skein.NewEvent(skein.KindNoted, in.at, skein.Noted{Name: "goose:message", Data: loose.Raw(in.content)}))
		return
	case said.notices > 0 && said.notices == len(said.Parts):
		r.put(m, skein.NewEvent(skein.KindNoted, in.at, skein.Noted{Name: "goose:notice", Data: loose.Raw(in.content)}))
		return
	case first && in.role == "user" && r.said && !r.shown:
		// It replaces everything before it, which the model no longer sees. After the
		// next compaction it is hidden itself.
		r.put(m, skein.NewEvent(skein.KindCompacted, in.at, skein.Compacted{Summary: said.Words()}))
		m.Items[0].To = r.items - 1
		r.shown = agent
		return
	}
	r.said, r.shown = true, r.shown || agent
	said.Synthetic = private
	if in.about.Yes("steer") && said.Role == skein.RoleUser {
		said.Role = skein.RoleSteer
	}
	if by := in.about.Obj("inference"); by != nil && said.Role == skein.RoleAssistant {
		said.Provider, said.Model = by.Str("provider"), by.Str("resolvedModel", "model", "requestedModel")
	}
	if in.about.Yes("outputTokenLimitReached") {
		said.Stop = "outputTokenLimitReached"
	}
	r.put(m, skein.Say(in.at, said.Message), said.blobs...)
}

// key returns a message's key. A message keeps its ID when the program rewrites or
// copies the conversation, but IDs made for messages without one differ each time,
// and name the session: for those, the content counts, so that a message has the same
// key in a file, in the database made from it, and in a copy.
func (r *reader) key(in *message, said said) skein.ClientID {
	of, made := madeFor(in.id)
	switch {
	case in.id == "" || strings.HasPrefix(in.id, "msg_"+r.id+"_"):
		of = r.id
	case !made:
		return skein.ClientID("goose:" + in.id)
	}
	h := hash(of, in.role, in.created, string(skein.MustJSON(said.Parts)))
	var short [8]byte
	_, _ = hex.Decode(short[:], []byte(h[:16])) // it is hexadecimal
	r.equals[short]++
	return skein.ClientID(fmt.Sprintf("goose:h:%s:%d", h, r.equals[short]))
}

// madeFor returns the session that a message's ID names, and whether it names
// one: msg_20250710_103000_….
func madeFor(id string) (session string, ok bool) {
	rest, ok := strings.CutPrefix(id, "msg_")
	day, rest, ok2 := strings.Cut(rest, "_")
	number, _, ok3 := strings.Cut(rest, "_")
	return day + "_" + number, ok && ok2 && ok3 && len(day) == 8 && digits(day) && digits(number)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
