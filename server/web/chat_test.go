package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/web"
)

// parrot answers with the text that was said; before it runs something, it
// asks.
type parrot struct {
	store skein.Store
	hold  chan struct{} // if not nil, the answer waits for it
	chose []string      // agent, model and effort of each turn
	files []string      // names and sizes of the files of each turn
}

// Choices implements [web.Talker].
func (p *parrot) Choices(context.Context, skein.Store, *skein.Session) web.TurnChoices {
	return web.TurnChoices{Agents: []web.AgentChoice{{Name: "reviewer", About: "reads changes"}}, Models: []string{"anthropic:" + sonnet, "echo"}, Model: "echo"}
}

// Talk implements [web.Talker].
func (p *parrot) Talk(ctx context.Context, t *web.RunningTurn) error {
	id, now := t.Session, skein.At(composedNow)
	p.chose = append(p.chose, strings.Join([]string{t.Agent, t.Model, t.Effort}, "|"))
	for _, f := range t.Files {
		p.files = append(p.files, fmt.Sprint(f.Name, " ", len(f.Data)))
	}
	if t.Text == "fail" {
		return fmt.Errorf("%w model: there is none", skein.ErrInvalid)
	}
	if id == "" {
		id = "s-new"
		created := skein.Created{Surface: "web", User: t.User}
		if t.From != "" {
			created.Parent = &skein.Parent{Session: t.From, Seq: t.At, Why: skein.Fork}
		}
		if _, err := skein.Add(ctx, p.store, id, skein.NewEvent(skein.KindCreated, now, created)); err != nil {
			return err
		}
	}
	if t.Again {
		t.Text = "again"
	} else if _, err := skein.Add(ctx, p.store, id, skein.Say(now, skein.UserSays(t.Text))); err != nil {
		return err
	}
	t.Begun(id)
	answer := "You said: " + t.Text
	if strings.HasPrefix(t.Text, "run ") {
		call := skein.Call{ID: "asks", Name: "shell", Input: skein.MustJSON(map[string]string{"command": strings.TrimPrefix(t.Text, "run ")})}
		if in := strings.TrimPrefix(t.Text, "run edit "); in != t.Text {
			call.Name, call.Input = "edit_file", json.RawMessage(in)
		}
		reply, err := t.Ask(ctx, web.Question{Text: "Let shell " + t.Text + "?\n\nAll of it", Always: "in this project", Call: &call})
		if err != nil {
			return err
		}
		answer = "The answer was " + reply
	}
	for _, piece := range []string{answer[:4], answer[4:]} {
		t.Write(piece)
	}
	if p.hold != nil {
		select {
		case <-p.hold:
		case <-ctx.Done():
			answer += " (stopped)"
		}
	}
	_, err := skein.Add(context.WithoutCancel(ctx), p.store, id, skein.Say(now, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(answer)}}))
	t.Doing("")
	if t.Text == "break" {
		return errors.New("the model broke")
	}
	return err
}

// end returns the last seq of s-fork.
func (p *parrot) end() skein.Seq {
	s, err := p.store.Session(context.Background(), "s-fork")
	if err != nil {
		panic(err)
	}
	return s.Last
}

// chatting serves the composed sessions with p as the talker.
func chatting(t *testing.T, p *parrot) *visit {
	t.Helper()
	p.store = composed(t)
	chat := web.NewChat(p)
	t.Cleanup(chat.Close)
	return visiting(t, p.store, func(o *web.Options) { o.Chat = chat })
}

func said(text string) url.Values { return url.Values{"text": {text}} }

func TestChatGoesOnInTheSession(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	end := p.end() + 2
	h := v.hear("/sessions/s-fork/live")
	if e, _ := h.next(); e != "state" {
		t.Errorf("the stream begins with %s, want state", e)
	}
	wants(t, "the page", v.send("/sessions/s-fork/chat", said("hello\r\nthere")), "The same, without waiting")
	if got := h.until("piece"); got != `"You "` {
		t.Errorf("the first piece is %s, want %q", got, "You ")
	}
	h.until("state") // the turn is over
	h.grown(end)
	wants(t, "the page", v.get("/sessions/s-fork/chat"), "hello", "You said: hello")
	wants(t, "the session's page", v.get("/sessions/s-fork"), "/sessions/s-fork/chat")
}

func TestChatBeginsASession(t *testing.T) {
	v := chatting(t, &parrot{})
	wants(t, "the form", v.get("/chat"), `action="/chat"`)
	wants(t, "the page", v.send("/chat", said("a new one")), `data-session="s-new"`, "a new one")
	wants(t, "the form", v.send("/chat", said("fail")), "there is none", ">fail</textarea>")
}

func TestATextThatCannotBeStoredIsGivenBack(t *testing.T) {
	for _, path := range []string{"/sessions/s-fork/chat", "/chat"} {
		p := &parrot{}
		v := chatting(t, p)
		if err := p.store.Close(); err != nil {
			t.Fatal(err)
		}
		_, page := v.ask(http.MethodPost, path, said("a <long> text"))
		wants(t, "the page after POST "+path, page, `action="`+path+`"`, ">a &lt;long&gt; text</textarea>", `role="alert"`, "closed", "Reload the page when it is running again")
	}
}

func TestChatAsksAndEveryPageSeesTheQuestion(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	end := p.end() + 2
	one, two := v.hear("/sessions/s-fork/live"), v.hear("/sessions/s-fork/live")
	one.until("state") // each stream begins with it
	two.until("state")
	v.send("/sessions/s-fork/chat", said("run <b>make"))
	one.until("state")
	two.until("state")
	page := v.get("/sessions/s-fork/chat/state")
	wants(t, "the question", page, "Let shell run &lt;b&gt;make?", `Always allow <code>shell</code> in this project`, "waits for your answer")
	lacks(t, "the question", page, "All of it")
	wants(t, "the page of now", v.get("/now"), "Let shell run &lt;b&gt;make?", `<a href="/sessions/s-fork/chat#say">See all that it would do</a>`)
	id := regexp.MustCompile(`name="question" value="(\w+)"`).FindStringSubmatch(page)
	if id == nil {
		t.Fatalf("the question has no ID:\n%s", page)
	}
	v.send("/sessions/s-fork/chat/reply", url.Values{"question": {id[1]}, "answer": {"always"}})
	two.until("piece")
	two.until("piece")
	two.grown(end)
	wants(t, "the page", v.send("/sessions/s-fork/chat/reply", url.Values{"question": {id[1]}, "answer": {"no"}}), "already answered", "The answer was always")
}

// A permission shows the command or the change that it is for, whole.
func TestAPermissionShowsWhatItIsFor(t *testing.T) {
	for text, want := range map[string][]string{
		"run make \"$release\"": {`class="shell"`, `class="s"`, "The whole input"},
		`run edit {"path":"main.go","old_string":"a := 1\nb","new_string":"a := 2\nb","replace_all":true}`: {`class="diff bare"`, `class="l d"`, `class="l i"`, "replace_all"},
		"run echo \x1b]0;$(rm x)\x07 hi":                             {"␛]0;", "rm x"}, // a terminal would hide it, a shell would run it
		"run true " + strings.Repeat("x", 200_000) + "; rm":          {"xx; rm"},
		"run curl -H token=ghp_0123456789abcdefghijABCDEFGHIJ012345": {"ghp_0123456789"},
	} {
		v := chatting(t, &parrot{})
		v.send("/sessions/s-fork/chat", said(text))
		wants(t, "the permission for "+text[:min(len(text), 20)], v.get("/sessions/s-fork/chat/state"), want...)
		v.send("/sessions/s-fork/chat/stop", url.Values{})
	}
}

// A question asked between a page and its stream, or while the stream is away,
// is seen anyway.
func TestChatTellsWhatWasAskedBefore(t *testing.T) {
	v := chatting(t, &parrot{})
	v.send("/sessions/s-fork/chat", said("run make"))
	if e, _ := v.hear("/sessions/s-fork/live").next(); e != "state" {
		t.Errorf("a stream that begins while something is asked says %q first, want state", e)
	}
}

func TestChatHoldsOneTurnAtATimeAndStopsIt(t *testing.T) {
	v := chatting(t, &parrot{hold: make(chan struct{})})
	v.send("/sessions/s-fork/chat", said("first"))
	page := v.send("/sessions/s-fork/chat/stop", url.Values{})
	if wants(t, "the page", page, "(stopped)"); strings.Contains(page, "is answering") {
		t.Errorf("it goes on after it was stopped:\n%s", page)
	}
}

func TestChatSaysHowATurnWentWrong(t *testing.T) {
	v := chatting(t, &parrot{hold: make(chan struct{})})
	v.send("/sessions/s-fork/chat", said("break"))
	wants(t, "the page", v.send("/sessions/s-fork/chat/stop", url.Values{}), "the model broke")
}

func TestChatIsForAdminsAndOnlyWhereItIsAllowed(t *testing.T) {
	v := chatting(t, &parrot{})
	token, err := v.tokens.Add(tokenOf("local", "write"))
	if err != nil {
		t.Fatal(err)
	}
	v.as(token)
	for _, path := range []string{"/chat", "/sessions/s-fork/chat", "/sessions/s-fork/chat/reply", "/sessions/s-fork/chat/stop"} {
		if status, body := v.ask("POST", path, said("hello")); status != 403 {
			t.Errorf("POST %s with the scope write: %d %s, want 403", path, status, body)
		}
	}
	plain := visiting(t, composed(t), nil)
	if status, _ := plain.ask("GET", "/sessions/s-fork/chat", nil); status != 404 {
		t.Errorf("GET chat of a server without it: %d, want 404", status)
	}
}

func TestPiecesOfAnAnswerAreForAdmins(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	token, err := v.tokens.Add(tokenOf("local", "read"))
	if err != nil {
		t.Fatal(err)
	}
	reader := *v
	reader.as(token)
	h := reader.hear("/sessions/s-fork/live")
	v.send("/sessions/s-fork/chat", said("hello"))
	close(p.hold)
	for i := range 2 {
		if e, data := h.next(); e != "changed" || !json.Valid([]byte(data)) {
			t.Errorf("event %d is %s %s, want changed", i, e, data)
		}
		if _, err := skein.Add(t.Context(), p.store, "s-fork", skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "x"})); err != nil {
			t.Fatal(err)
		}
	}
}

// A call that has not run yet, while the agent works on the turn, is not shown
// as unanswered, and its turn is not over.
func TestACallThatWaitsIsPending(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	v.send("/sessions/s-fork/chat", said("hello"))
	c := &composer{t: t, store: p.store, id: "s-fork", at: skein.At(composedNow)}
	call := skein.Call{ID: "waits", Name: "shell", Input: json.RawMessage(`{"command":"make tea"}`)}
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Model: sonnet, Usage: &skein.Usage{Input: 7_700_000}, Parts: []skein.Part{{Kind: skein.PartCall, Call: &call}}}))
	for _, path := range []string{"/sessions/s-fork/chat", "/sessions/s-fork?before=0", "/sessions/s-fork/messages?before=0"} {
		page := v.get(path)
		wants(t, path, page, "make tea", ">pending<")
		lacks(t, path, page, "no answer", "· 7.7M in, 0 out")
	}
	wants(t, "what was stopped", v.send("/sessions/s-fork/chat/stop", url.Values{}), "no answer", "· 7.7M in, 0 out")
}
