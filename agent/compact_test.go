package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/llm"
)

// chat makes n turns without tools: n items that are not the user's.
func (g *rig) chat(n int) {
	g.t.Helper()
	for i := range n {
		g.say(fmt.Sprint("question ", i), "done")
	}
}

// compactions are those in the session, also the ones that failed.
func (g *rig) compactions() (all []skein.Compacted) {
	g.t.Helper()
	for _, e := range g.events() {
		if e.Kind == skein.KindCompacted {
			all = append(all, decode[skein.Compacted](g.t, e))
		}
	}
	return all
}

func TestACompactionComesAfterFortyItems(t *testing.T) {
	g := open(t)
	g.chat(41)
	if n := len(g.compactions()); n != 0 {
		t.Fatalf("there are %d compactions before the request after 41 answers, want 0", n)
	}
	g.model.answers = []answer{says("it was about questions"), says("well")}
	g.say("the next", "well")
	c := g.compactions()
	if len(c) != 1 || c[0].Trigger != "auto" || !strings.Contains(c[0].Summary, "it was about questions") || c[0].Before != 15 {
		t.Fatalf("the compactions are %+v, want one with the summary", c)
	}
	shown := g.model.requests[len(g.model.requests)-1].Messages
	if first := shown[0].Parts; !strings.Contains(string(first[0].Text), "it was about questions") {
		t.Errorf("the context begins with %q, want the summary", first[0].Text)
	}
	// 83 items: the newest ten begin with an answer, so the tail has one more.
	if n := len(shown); n != 11 || showMessage(shown[1]) != `assistant "done"` {
		t.Errorf("after it there are %d messages, the second is %s; want 11, from the question before it", n, showMessage(shown[1]))
	}
	if last := shown[0].Parts[len(shown[0].Parts)-1].Text; last != "question 36" {
		t.Errorf("the tail begins with %q, want question 36", last)
	}
	s, err := g.Session(t.Context())
	if err != nil || s.Compactions != 1 || s.Usage.Requests != 43 {
		t.Errorf("Session has %d compactions and %d requests, %v, want 1 and 43", s.Compactions, s.Usage.Requests, err)
	}
	g.chat(41)
	if n := len(g.compactions()); n != 2 {
		t.Errorf("there are %d compactions after 41 further answers, want 2", n)
	}
}

func TestASummaryIsAskedForInAConversationOfItsOwn(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.CompactAfter = 12 })
	g.chat(13)
	g.say("the next", "done")
	r := g.model.requests[13]
	last := r.Messages[len(r.Messages)-1]
	if len(r.Tools) != 0 || r.System == "be good" || !strings.Contains(string(last.Parts[len(last.Parts)-1].Text), "Sum up") || last.Role != skein.RoleUser {
		t.Errorf("the request for a summary is %+v, want it without tools, with a question at the end", r)
	}
	if showMessage(r.Messages[0]) != `user "question 0"` {
		t.Errorf("it begins with %s, want the first question", showMessage(r.Messages[0]))
	}
	g.model.answers = nil
	g.chat(13)
	again := g.model.requests[len(g.model.requests)-2]
	if text := string(again.Messages[0].Parts[0].Text); !strings.Contains(text, "summed up") {
		t.Errorf("the request for the second summary begins with %q, want the first one", text)
	}
}

func TestNoCompactionBelowZero(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.CompactAfter = -1 })
	g.chat(60)
	if n := len(g.compactions()); n != 0 {
		t.Errorf("there are %d compactions, want none", n)
	}
}

func TestACompactionNeverCutsARound(t *testing.T) {
	var steps []answer
	for range 4 {
		steps = append(steps, calls("look {}", "note {}", "look {}"))
	}
	g := openWith(t, func(o *agent.Options) { o.Agent.CompactAfter = 15 }, append(steps, says("a summary"), says("one"))...)
	g.say("first", "one") // 17 items, 16 of them before the last request
	c := g.compactions()
	if len(c) != 1 {
		t.Fatalf("there are %d compactions, want 1", len(c))
	}
	g.wantWhole(c[0].To)
	g.model.answers = []answer{says("two")}
	g.say("second", "two")
	if len(g.compactions()) != 1 {
		t.Errorf("the turn was compacted once more")
	}
}

// wantWhole wants no call up to a place to have its result after it.
func (g *rig) wantWhole(to skein.Seq) {
	g.t.Helper()
	called := map[string]bool{}
	for _, e := range g.events() {
		if e.Kind != skein.KindSaid {
			continue
		}
		for _, p := range decode[skein.Message](g.t, e).Parts {
			if p.Call != nil && e.Seq <= to {
				called[p.Call.ID] = true
			}
			if p.Result != nil && e.Seq > to && called[p.Result.CallID] {
				g.t.Errorf("the call %s stands before the cut at %d, its result at %d", p.Result.CallID, to, e.Seq)
			}
		}
	}
}

func TestATurnThatIsTooLongByItselfIsCompactedOnce(t *testing.T) {
	var steps []answer
	for i := range 60 {
		if steps = append(steps, calls("note {}")); i == 20 {
			steps = append(steps, says("a summary"))
		}
	}
	g := openWith(t, func(o *agent.Options) { o.Agent.MaxSteps = 100 }, append(steps, says("well"))...)
	g.say("a long task", "well")
	c := g.compactions()
	if len(c) != 1 || !strings.Contains(c[0].Summary, "a summary") {
		t.Fatalf("the compactions are %+v, want one", c)
	}
	g.wantWhole(c[0].To)
	shown := g.model.requests[len(g.model.requests)-1].Messages
	if !strings.Contains(string(shown[0].Parts[0].Text), "a summary") {
		t.Errorf("the last request begins with %s, want the summary", showMessage(shown[0]))
	}
}

func TestAModelThatIsFullIsHelped(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.Window = 1000 })
	g.chat(12)
	full := says("much")
	full.message.Usage = &skein.Usage{Input: 300, CacheRead: 450, Output: 60}
	g.model.answers = []answer{full}
	g.say("more", "much")
	g.model.answers = []answer{says("a summary"), says("well")}
	g.again(g.model.answers...) // it is known to the next process too
	g.say("on", "well")
	if c := g.compactions(); len(c) != 1 || c[0].Before != 810 {
		t.Errorf("the compactions are %+v, want one, of 810 tokens", c)
	}
	g.chat(3)
	if n := len(g.compactions()); n != 1 {
		t.Errorf("there are %d compactions, want no further one", n)
	}
}

func TestARequestThatIsTooLongIsMadeShorter(t *testing.T) {
	long := fails(&llm.Error{Kind: llm.ErrTooLong, Status: 413})
	g := open(t)
	g.chat(12)
	g.model.answers = []answer{long, says("a summary"), says("well")}
	g.say("on", "well")
	if c := g.compactions(); len(c) != 1 {
		t.Errorf("the compactions are %+v, want one", c)
	}
	g.model.answers = []answer{long, says("a summary"), long, long, long, long}
	if out, err := g.Turn(t.Context(), skein.UserSays("on")); !errors.Is(err, llm.ErrTooLong) {
		t.Errorf("Turn = %+v, %v, want %v in the end", out, err, llm.ErrTooLong)
	}
}

func TestACompactionThatFailsIsToldAndTheTurnGoesOn(t *testing.T) {
	g := openWith(t, func(o *agent.Options) { o.Agent.CompactAfter = 12 })
	g.chat(13)
	g.model.answers = []answer{fails(errBusy), says(" "), fails(&llm.Error{Kind: llm.ErrTooLong}), says("well")}
	g.say("on", "well")
	c := g.compactions()
	if len(c) != 1 || !c[0].Failed || c[0].Summary != "" {
		t.Errorf("the compactions are %+v, want one that failed", c)
	}
	g.say("on", "done")
	if n := len(g.compactions()); n != 1 {
		t.Errorf("it was tried again at once: there are %d compactions", n)
	}
	told := 0
	for _, u := range g.seen {
		if u.Kind == agent.Compacted && u.Err != nil {
			told++
		}
	}
	s, err := g.Session(t.Context())
	if told != 1 || err != nil || s.Compactions != 0 {
		t.Errorf("it was told %d times, Session has %d compactions, %v; want 1 and 0", told, s.Compactions, err)
	}
	g.wantShown(append(questions(13), `user "on"`, `assistant "well"`, `user "on"`)...)
}

func questions(n int) (shown []string) {
	for i := range n {
		shown = append(shown, fmt.Sprintf("user %q", fmt.Sprint("question ", i)), `assistant "done"`)
	}
	return shown
}

func TestCompactDoesItNow(t *testing.T) {
	g := open(t)
	if err := g.Compact(t.Context()); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Compact of nothing = %v, want %v", err, skein.ErrInvalid)
	}
	g.chat(5)
	if err := g.Compact(t.Context()); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Compact of ten messages = %v, want %v", err, skein.ErrInvalid)
	}
	g.chat(2)
	g.again(says("a summary"))
	if err := g.Compact(t.Context()); err != nil {
		t.Fatalf("Compact = %v", err)
	}
	g.say("on", "done")
	shown := g.model.requests[len(g.model.requests)-1].Messages
	if c := g.compactions(); len(c) != 1 || c[0].Trigger != "manual" || len(shown) != 11 {
		t.Errorf("the compactions are %+v, and %d messages are shown; want one, and 11", c, len(shown))
	}
	if _, err := g.Undo(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	g.model.answers = []answer{fails(errGone), fails(errGone), fails(errGone)}
	g.chat(0)
	if err := g.Compact(t.Context()); err == nil {
		t.Error("Compact with a model that fails = nil")
	}
}

func TestATurnThatFillsTheModelAgainIsCompactedAgain(t *testing.T) {
	var steps []answer
	for range 40 {
		a := calls("note {}")
		a.message.Usage = &skein.Usage{Input: 900}
		steps = append(steps, a)
	}
	g := openWith(t, func(o *agent.Options) { o.Agent.Window = 1000 }, steps...)
	for _, a := range steps { // the summaries are answered by the model as it comes
		a.message.Parts = append([]skein.Part{skein.TextPart("on")}, a.message.Parts...)
	}
	g.say("a long task", "done")
	c := g.compactions()
	if len(c) < 3 || len(c) > 8 {
		t.Errorf("there are %d compactions in a turn of 80 items, want one for some twenty", len(c))
	}
	for i, x := range c {
		if i > 0 && x.To < c[i-1].To+10 {
			t.Errorf("compaction %d goes to %d after one to %d, want it to cover ten items more", i, x.To, c[i-1].To)
		}
	}
}
