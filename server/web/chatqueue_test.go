package web_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// prompts returns what people typed in a session, in order.
func (p *parrot) prompts(t *testing.T, id skein.SessionID) (all []string) {
	t.Helper()
	entries, err := p.store.Newest(t.Context(), id, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if m := &entries[i].Message; m.Typed() {
			all = append(all, m.Words())
		}
	}
	return all
}

// tail returns the last n of what people typed in s-fork, as one text.
func (p *parrot) tail(t *testing.T, n int) string {
	t.Helper()
	all := p.prompts(t, "s-fork")
	return strings.Join(all[max(0, len(all)-n):], ", ")
}

// Messages that come while the agent answers are sent one after the other, in order.
func TestMessagesWaitWhileTheAgentAnswers(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	end := p.end()
	v.send("/sessions/s-fork/chat", said("first"))
	wants(t, "the page", v.send("/sessions/s-fork/chat", said("second")), "Sent when this answer is complete", "<span>second</span>")
	page := v.send("/sessions/s-fork/chat", said("third <b>"))
	wants(t, "the page", page, "third &lt;b&gt;")
	if got := p.tail(t, 1); got != "first" {
		t.Errorf("while the agent answers, the last prompt is %q, want first", got)
	}
	h := v.hear("/sessions/s-fork/live")
	close(p.hold)
	h.grown(end + 6)
	if got := p.tail(t, 3); got != "first, second, third <b>" {
		t.Errorf("the prompts are %q, want first, second, third", got)
	}
	lacks(t, "the page at the end", v.get("/sessions/s-fork/chat"), "Sent when this answer")
}

// What waits when a turn is stopped is kept until a person sends or removes it.
func TestWaitingMessagesOutliveAStop(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	for _, text := range []string{"first", "second", "third"} {
		v.send("/sessions/s-fork/chat", said(text))
	}
	page := v.send("/sessions/s-fork/chat/stop", url.Values{})
	wants(t, "the page after a stop", page, "Waiting to be sent", "<span>second</span>", "<span>third</span>", "Send now")
	if got := p.tail(t, 1); got != "first" {
		t.Errorf("after a stop, the last prompt is %q, want first", got)
	}
	page = v.send("/sessions/s-fork/chat/queue", url.Values{"do": {"remove"}, "place": {"1"}})
	wants(t, "the page without the second", page, "<span>third</span>")
	lacks(t, "the page without the second", page, "<span>second</span>")
	h := v.hear("/sessions/s-fork/live")
	h.until("state")
	end := p.end()
	v.send("/sessions/s-fork/chat/queue", url.Values{"do": {"send"}})
	h.grown(end + 1)
	if got := p.tail(t, 2); got != "first, third" {
		t.Errorf("the prompts are %q, want first, third", got)
	}
	v.send("/sessions/s-fork/chat/stop", url.Values{})
	if status, _ := v.ask("POST", "/sessions/s-fork/chat/queue", url.Values{"do": {"burn"}}); status != 400 {
		t.Errorf("POST queue with do=burn: %d, want 400", status)
	}
}

// A waiting message that cannot be stored is kept, and the page says why.
func TestAWaitingMessageThatFailsIsKept(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	v.send("/sessions/s-fork/chat", said("first"))
	v.send("/sessions/s-fork/chat", said("fail"))
	h := v.hear("/sessions/s-fork/live")
	h.until("state") // each stream begins with it
	close(p.hold)
	for page := ""; !strings.Contains(page, "there is none"); {
		h.until("state")
		page = v.get("/sessions/s-fork/chat/state")
	}
	wants(t, "the page", v.get("/sessions/s-fork/chat"), "there is none", "<span>fail</span>", "Send now")
}

func TestOnlySoManyMessagesWait(t *testing.T) {
	v := chatting(t, &parrot{hold: make(chan struct{})})
	v.send("/sessions/s-fork/chat", said("first"))
	for i := range 20 {
		v.send("/sessions/s-fork/chat", said(fmt.Sprint("more ", i)))
	}
	wants(t, "the page", v.send("/sessions/s-fork/chat", said("too many")), "20 messages are waiting already", ">too many</textarea>")
}

func TestATurnIsChosen(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	wants(t, "the form", v.get("/sessions/s-fork/chat"), `<option value="reviewer" title="reads changes">reviewer</option>`, `<option value="echo">`, `placeholder="echo"`, "<option>high</option>")
	v.send("/sessions/s-fork/chat", url.Values{"text": {"hello"}, "agent": {"reviewer"}, "model": {"echo"}, "effort": {"high"}})
	v.send("/sessions/s-fork/chat/stop", url.Values{})
	if want := []string{"reviewer|echo|high"}; !slices.Equal(p.chose, want) {
		t.Errorf("the turn is for %q, want %q", p.chose, want)
	}
	page := v.send("/chat", url.Values{"text": {"fail"}, "agent": {"reviewer"}, "model": {"none"}, "effort": {"low"}})
	wants(t, "the form after a failure", page, `value="reviewer" selected`, `value="none"`, "<option selected>low</option>")
}

// A message that is edited goes to a fork, and the session stays as it was.
func TestAnEditedMessageGoesToAFork(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	v.send("/sessions/s-fork/chat", said("two\nlines"))
	v.send("/sessions/s-fork/chat/stop", url.Values{})
	before, end := p.prompts(t, "s-fork"), p.end()
	at := fmt.Sprint(end - 1)
	wants(t, "the page", v.get("/sessions/s-fork/chat"), "/sessions/s-fork/chat?edit="+at+"#say")
	wants(t, "the form", v.get("/sessions/s-fork/chat?edit="+at), "Editing message "+at, ">two\nlines</textarea>", `name="edit" value="`+at+`"`)
	wants(t, "the page of the fork", v.send("/sessions/s-fork/chat", url.Values{"text": {"three lines"}, "edit": {at}}), `data-session="s-new"`, "three lines")
	if got, want := p.prompts(t, "s-new"), append(slices.Clone(before[:len(before)-1]), "three lines"); !slices.Equal(got, want) {
		t.Errorf("the prompts of the fork are %q, want %q", got, want)
	}
	if got := p.prompts(t, "s-fork"); !slices.Equal(got, before) {
		t.Errorf("the prompts of the session are %q, want %q as before", got, before)
	}
	for _, wrong := range []string{fmt.Sprint(end), "0", "900000", "x"} {
		if status, _ := v.ask("GET", "/sessions/s-fork/chat?edit="+wrong, nil); status != 404 && status != 400 {
			t.Errorf("GET with edit=%s: %d, want 404 or 400", wrong, status)
		}
	}
}

// The last prompt can be answered again: in place if it has no answer, in a fork if it has.
func TestAPromptIsAnsweredAgain(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	lacks(t, "the page of an answered prompt", v.get("/sessions/s-fork/chat"), "Try again")
	if _, err := skein.Add(t.Context(), p.store, "s-fork", skein.Say(0, skein.UserSays("unheard"))); err != nil {
		t.Fatal(err)
	}
	end := p.end()
	wants(t, "the page of an unanswered one", v.get("/sessions/s-fork/chat"), "Try again")
	v.send("/sessions/s-fork/chat/again", url.Values{})
	page := v.send("/sessions/s-fork/chat/stop", url.Values{})
	wants(t, "the page after it", page, "You said: again")
	lacks(t, "the page after it", page, "Try again")
	if p.end() != end+1 {
		t.Errorf("the session has %d events, want %d", p.end(), end+1)
	}
	wants(t, "the fork's page", v.send("/sessions/s-fork/chat/again", url.Values{"at": {fmt.Sprint(end)}}), `data-session="s-new"`, "unheard")
	wants(t, "the fork's page after it", v.send("/sessions/s-new/chat/stop", url.Values{}), "You said: again")
	if p.end() != end+1 {
		t.Errorf("the session has %d events after its fork was answered, want %d", p.end(), end+1)
	}
}
