package web

import (
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
)

// chatPages are the pages on which a person talks with an agent.
type chatPages struct{ *site }

// routes are the routes of conversations. Tools run on the server's
// machine, as the user who started it: that takes the scope admin.
func (s chatPages) routes() []door.Route {
	if s.Chat == nil {
		return nil
	}
	all := []door.Route{
		read("/chat", s.newChat),
		change("/chat", s.say),
		read("/sessions/{id}/chat", s.chat),
		read("/sessions/{id}/chat/state", s.chatState),
		change("/sessions/{id}/chat", s.say),
		change("/sessions/{id}/chat/stop", s.stop),
		change("/sessions/{id}/chat/reply", s.reply),
	}
	for i := range all {
		all[i].Scope = door.Admin
	}
	return all
}

// chatPage is the data of the page.
type chatPage struct {
	*transcript.Transcript
	Title string
	State chatState
	Text  string // a text that could not be said
	Error string
}

// chatState is a running turn.
type chatState struct {
	Path    string
	Working bool
	Words   string // the answer so far
	Doing   string
	Notes   []string
	Open    []Question
	Error   string // of the turn before
}

// stateOf returns the state of the turn in a session.
func (s chatPages) stateOf(id skein.SessionID) chatState {
	t, wrong := s.Chat.at(id)
	if t == nil {
		return chatState{Path: transcript.SessionPath(id), Error: wrong}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return chatState{
		Path: transcript.SessionPath(id), Working: true, Words: s.Redact(render.Clean(t.words)), Doing: t.doing,
		Notes: append([]string(nil), t.notes...), Open: append([]Question(nil), t.open...),
	}
}

// newChat shows the form that begins a session.
func (s chatPages) newChat(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "newchat", layoutData{Title: "New chat", At: "chat", Data: &chatPage{}})
}

// chat shows the end of a session, and the form for the next message.
func (s chatPages) chat(w http.ResponseWriter, r *http.Request) { s.chatWith(w, r, "", nil) }

// chatWith is chat, after err kept a text from being said.
func (s chatPages) chatWith(w http.ResponseWriter, r *http.Request, text string, wrong error) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	store := door.From(r.Context()).Store
	found, err := transcript.Windows{Store: transcript.Legible(store), Session: one.ID, Size: windowSize}.Until(r.Context(), 0)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t, err := s.transcripts.Make(r.Context(), store, s.viewOf(r, one), found)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p := &chatPage{Transcript: t, Title: render.Line(t.Session.Name()), State: s.stateOf(one.ID), Text: text}
	if wrong != nil {
		p.Error = wordsOf(wrong)
	}
	s.show(w, r, "chat", layoutData{Title: one.Name(), At: "chat", Class: "session chat", Data: p})
}

// chatState answers with the running turn alone.
func (s chatPages) chatState(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if ok {
		s.fragment(w, "chat", "state", s.stateOf(one.ID))
	}
}

// say says the text of a form in a session, or in a new one.
func (s chatPages) say(w http.ResponseWriter, r *http.Request) {
	v := door.From(r.Context())
	t := &RunningTurn{User: v.User, Text: strings.ReplaceAll(strings.TrimSpace(r.PostFormValue("text")), "\r\n", "\n"), Model: strings.TrimSpace(r.PostFormValue("model"))}
	if r.PathValue("id") != "" {
		one, ok := s.one(w, r)
		if !ok {
			return
		}
		t.Session = one.ID
	} else {
		t.Agent = strings.TrimSpace(r.PostFormValue("agent"))
	}
	if t.Text == "" {
		back(w, r, r.URL.Path, "")
		return
	}
	was := t.Session
	id, err := s.Chat.say(r.Context(), t)
	switch {
	case err == nil:
		back(w, r, transcript.SessionPath(id)+"/chat#say", "")
	case was != "":
		s.chatWith(w, r, t.Text, err)
	default:
		s.show(w, r, "newchat", layoutData{Title: "New chat", At: "chat", Data: &chatPage{Text: t.Text, Error: wordsOf(err)}})
	}
}

// wordsOf returns the error for the person who runs the server, and what to do.
func wordsOf(err error) string {
	p := door.ProblemOf(err)
	if p.Code == "internal" {
		return skein.Reason(err) // an admin may see it
	}
	if next := advice(p); next != "" {
		return p.Detail + ". " + next
	}
	return p.Detail
}

// stop ends the running turn.
func (s chatPages) stop(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	if t, _ := s.Chat.at(one.ID); t != nil {
		t.stop()
		select {
		case <-t.over:
		case <-r.Context().Done():
		}
	}
	back(w, r, transcript.SessionPath(one.ID)+"/chat#say", "")
}

// reply answers a question of the agent.
func (s chatPages) reply(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	done := ""
	switch answer := r.PostFormValue("answer"); answer {
	case Yes, Always, No:
		if !s.Chat.reply(one.ID, r.PostFormValue("question"), answer) {
			done = "This question was already answered."
		}
	default:
		door.Refuse(w, r, http.StatusBadRequest, "invalid", "answer %q: want yes, no or always", answer)
		return
	}
	back(w, r, local(r.PostFormValue("back"), transcript.SessionPath(one.ID)+"/chat#say"), done)
}
