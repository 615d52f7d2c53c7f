package web

import (
	"context"
	"fmt"
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
		saying("/chat", s.say),
		read("/sessions/{id}/chat", s.chat),
		read("/sessions/{id}/chat/state", s.chatState),
		read("/sessions/{id}/chat/side", s.chatSide),
		saying("/sessions/{id}/chat", s.say),
		change("/sessions/{id}/chat/stop", s.stop),
		change("/sessions/{id}/chat/again", s.again),
		change("/sessions/{id}/chat/queue", s.queue),
		change("/sessions/{id}/chat/reply", s.reply),
	}
	for i := range all {
		all[i].Scope = door.Admin
	}
	return all
}

// chatPage is the data of the page.
type chatPage struct {
	*transcript.Transcript // nil if the session does not exist yet
	Title                  string
	State                  chatState
	Text                   string // of a message that could not be said, or that is edited
	Error                  string
	Lost                   bool      // the form has lost its files
	EditFiles              string    // names of the files that were sent with the message that is edited
	Edit                   skein.Seq // of the message that is edited: what is said goes to a fork before it; 0 for none
	Used                   contextUse
	Chosen                 chosenTurn
	TurnChoices
}

// Action is where the form is sent to.
func (p *chatPage) Action() string {
	if p.Transcript == nil {
		return "/chat"
	}
	return p.Path() + "/chat"
}

// Efforts are the efforts that can be chosen.
func (p *chatPage) Efforts() []string { return []string{"low", "medium", "high"} }

// MaxFiles is how many files a message can have.
func (p *chatPage) MaxFiles() int { return maxSentFiles }

// MaxBytes is how many bytes these can have together.
func (p *chatPage) MaxBytes() int { return maxSentBytes }

// chosenTurn is what a person chose for the turn.
type chosenTurn struct{ Agent, Model, Effort string }

// chosenIn returns what a form chose.
func chosenIn(r *http.Request) chosenTurn {
	return chosenTurn{strings.TrimSpace(r.FormValue("agent")), strings.TrimSpace(r.FormValue("model")), r.FormValue("effort")}
}

// chatState is a running turn.
type chatState struct {
	Path    string
	Working bool
	Words   string // the answer so far
	Doing   string
	Notes   []string
	Open    []askedQuestion
	Waits   []waitingText // that will be said when this turn has ended
	Error   string        // of the turn before
	Again   bool          // the last prompt has no complete answer
}

// stateOf returns the state of the turn in a session.
func (s chatPages) stateOf(one skein.Session) chatState {
	t, wrong := s.Chat.at(one.ID)
	state := chatState{Path: transcript.SessionPath(one.ID), Waits: s.Chat.waiting(one.ID)}
	for i := range state.Waits {
		state.Waits[i].Text = s.Redact(render.Clean(state.Waits[i].Text))
	}
	if t == nil {
		state.Error = wrong
		return state
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	state.Working, state.Words, state.Doing = true, s.Redact(render.Clean(t.words)), t.doing
	state.Notes = append([]string(nil), t.notes...)
	for _, q := range t.open {
		state.Open = append(state.Open, s.asked(one, q))
	}
	return state
}

// wholeState is stateOf, and whether the last prompt can be answered again.
func (s chatPages) wholeState(ctx context.Context, one skein.Session) (state chatState, err error) {
	if state = s.stateOf(one); !state.Working {
		state.Again, err = unanswered(ctx, transcript.Legible(door.From(ctx).Store), one.ID)
	}
	return state, err
}

// newChat shows the form that begins a session.
func (s chatPages) newChat(w http.ResponseWriter, r *http.Request) { s.newWith(w, r, "", nil) }

// newWith is newChat, after err kept a text from being said.
func (s chatPages) newWith(w http.ResponseWriter, r *http.Request, text string, wrong error) {
	p := &chatPage{Text: text, TurnChoices: s.Chat.talker.Choices(r.Context(), s.store(r.Context()), &skein.Session{}), Chosen: chosenIn(r)}
	if wrong != nil {
		p.Error, p.Lost = wordsOf(wrong), sent(r)
	}
	s.show(w, r, "chat", layoutData{Title: "New chat", At: "chat", Class: "session chat", Data: p})
}

// chat shows the end of a session, and the form for the next message. With edit=SEQ that
// form has an earlier message.
func (s chatPages) chat(w http.ResponseWriter, r *http.Request) { s.chatWith(w, r, "", nil) }

// chatWith is chat, after err kept a text from being said.
func (s chatPages) chatWith(w http.ResponseWriter, r *http.Request, text string, wrong error) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	p, err := s.page(r, one)
	if err == nil {
		err = s.edited(r, p, one.ID)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	p.TurnChoices, p.Chosen = s.Chat.talker.Choices(r.Context(), s.store(r.Context()), &one), chosenIn(r)
	if wrong != nil {
		p.Text, p.Error, p.Lost = text, wordsOf(wrong), sent(r)
	}
	s.show(w, r, "chat", layoutData{Title: one.Name(), At: "chat", Class: "session chat", Data: p})
}

// page returns what the page shows of a session.
func (s chatPages) page(r *http.Request, one skein.Session) (*chatPage, error) {
	store := door.From(r.Context()).Store
	found, err := transcript.Windows{Store: transcript.Legible(store), Session: one.ID, Size: windowSize}.Until(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	used, err := s.contextOf(found.Entries)
	if err != nil {
		return nil, err
	}
	t, err := s.transcripts.Make(r.Context(), store, s.viewOf(r, one), found)
	if err != nil {
		return nil, err
	}
	state, err := s.wholeState(r.Context(), one)
	return &chatPage{Transcript: t, Title: render.Line(t.Session.Name()), State: state, Used: used}, err
}

// edited puts the message that a request wants to edit into the form.
func (s chatPages) edited(r *http.Request, p *chatPage, id skein.SessionID) error {
	text := r.FormValue("edit")
	if text == "" {
		return nil
	}
	at, err := seqOf("edit", text)
	if err != nil {
		return err
	}
	m, err := typedAt(r.Context(), transcript.Legible(door.From(r.Context()).Store), id, at)
	if err != nil {
		return err
	}
	p.Edit, p.Text, p.EditFiles = at, s.Redact(m.Words()), sentWith(m)
	return nil
}

// chatState answers with the running turn alone.
func (s chatPages) chatState(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	state, err := s.wholeState(r.Context(), one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.fragment(w, "chat", "state", state)
}

// chatSide answers with the plan, and how much of the context is used.
func (s chatPages) chatSide(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	p, err := s.page(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.fragment(w, "chat", "side", p)
}

// say says the text of a form in a session, or in a new one.
func (s chatPages) say(w http.ResponseWriter, r *http.Request) {
	files, err := sentIn(r)
	chosen := chosenIn(r)
	t := &RunningTurn{
		User: door.From(r.Context()).User, Agent: chosen.Agent, Model: chosen.Model, Effort: chosen.Effort,
		Text: strings.ReplaceAll(strings.TrimSpace(r.PostFormValue("text")), "\r\n", "\n"), Files: files,
	}
	if t.Text == "" && len(files) > 0 {
		err = fmt.Errorf("%w: files without a message; say what should be done with them", skein.ErrInvalid)
	} else if t.Text == "" && err == nil {
		back(w, r, r.URL.Path, "")
		return
	}
	again := s.newWith
	if r.PathValue("id") != "" {
		one, ok := s.one(w, r)
		if !ok {
			return
		}
		t.Session, again = one.ID, s.chatWith
	}
	if err == nil {
		err = s.fork(r, t)
	}
	var id skein.SessionID
	if err == nil {
		id, err = s.Chat.say(r.Context(), t)
	}
	if err != nil {
		again(w, r, t.Text, err)
		return
	}
	back(w, r, chatPath(id), "")
}

// fork lets t go to a fork of its session, if a form edits a message: the fork begins
// right before that message.
//
// The error is the store's, or says that the message cannot be edited.
func (s chatPages) fork(r *http.Request, t *RunningTurn) error {
	if r.PostFormValue("edit") == "" {
		return nil
	}
	at, err := seqOf("edit", r.PostFormValue("edit"))
	if err == nil {
		_, err = typedAt(r.Context(), transcript.Legible(door.From(r.Context()).Store), t.Session, at)
	}
	if err == nil {
		t.From, t.At, t.Edits, t.Session = t.Session, at-1, at, ""
	}
	return err
}

// wordsOf returns the error for the person who runs the server, and what to do.
func wordsOf(err error) string {
	p := door.ProblemOf(err)
	if p.Code == "internal" {
		return skein.Reason(err) // an admin may see it
	}
	p.Detail = strings.TrimPrefix(p.Detail, "invalid: ")
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
	back(w, r, chatPath(one.ID), "")
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
	back(w, r, local(r.PostFormValue("back"), chatPath(one.ID)), done)
}
