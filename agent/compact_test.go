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

// chat runs n turns without tools: n items that are not the user's.
func (g *rig) chat(n int) {
	g.t.Helper()
	for i := range n {
		g.say(fmt.Sprint("question ", i), "done")
	}
}

func TestACompactionKeepsWhatFitsThoughSomethingLongDoesNot(t *testing.T) {
	g := open(t)
	g.say("first", "done")
	g.say(strings.Repeat("long ", 20<<10), "done")
	g.chat(39)
	g.model.answers = []answer{says("it was about questions"), says("well")}
	g.say("the next", "well")
	var kept []string
	for _, p := range g.model.requests[len(g.model.requests)-1].Messages[0].Parts {
		kept = append(kept, string(p.Text)[:min(len(p.Text), 10)])
	}
	if has := strings.Join(kept, ", "); !strings.HasPrefix(has, "first, question 0, question 1, ") || strings.Contains(has, "long") {
		t.Errorf("after a compaction the context begins with %s; want all that is short", has)
	}
}

// compactions returns those in the session, including failed ones.
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
	if first := shown[0].Parts; first[0].Text != "question 0" || first[35].Text != "question 35" || !strings.Contains(string(first[36].Text), "it was about questions") {
		t.Errorf("the context begins with %s, want 36 questions and the summary", showMessage(shown[0]))
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
	if len(r.Tools) != 0 || r.System == "be good" || !strings.Contains(string(last.Parts[len(last.Parts)-1].Text), "Summarize") || last.Role != skein.RoleUser {
		t.Errorf("the request for a summary is %+v, want it without tools, with a question at the end", r)
	}
	if showMessage(r.Messages[0]) != `user "question 0"` {
		t.Errorf("it begins with %s, want the first question", showMessage(r.Messages[0]))
	}
	g.model.answers = nil
	g.chat(13)
	again := g.model.requests[len(g.model.requests)-2]
	if text := showMessage(again.Messages[0]); !strings.HasPrefix(text, `user "question 0"`) || !strings.Contains(text, "Summary of everything else") {
		t.Errorf("the request for the second summary begins with %q, want what the first one kept, and it", text)
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
	g := openWith(t, func(o *agent.Options) { o.Agent.CompactAfter = 15 }, append(steps, says("one"))...)
	g.say("first", "one") // 17 items that are not the user's
	g.model.summary = "a summary"
	g.chat(6)
	c := g.compactions()
	if len(c) != 1 {
		t.Fatalf("there are %d compactions, want 1", len(c))
	}
	g.wantWhole(c[0].To)
}

// wantWhole checks that no call up to a seq has its result after it.
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

func TestTheTurnUnderWayStaysWhole(t *testing.T) {
	for _, after := range []int{0, 12, 400} {
		var steps []answer
		for range 150 {
			steps = append(steps, calls("note {}"))
		}
		g := openWith(t, func(o *agent.Options) { o.Agent.MaxSteps, o.Agent.CompactAfter = 200, after })
		g.chat(8)
		g.model.answers, g.model.summary = steps, "a summary" // of the turns before this one
		g.say("the task in hand", "done")
		last := g.model.requests[len(g.model.requests)-1].Messages
		var shown strings.Builder
		for _, m := range last {
			shown.WriteString(showMessage(m))
		}
		if n := strings.Count(shown.String(), "result("); n != 150 || !strings.Contains(shown.String(), "the task in hand") {
			t.Errorf("compact after %d: the last request has %d of 150 results and begins with %s, want the task and all of them", after, n, showMessage(last[0]))
		}
		for i := range 8 {
			if want := fmt.Sprint("question ", i); !strings.Contains(shown.String(), want) {
				t.Errorf("compact after %d: the last request does not have %q", after, want)
			}
		}
		if n := len(g.compactions()); n != map[int]int{0: 1, 12: 1, 400: 0}[after] {
			t.Errorf("compact after %d: there are %d compactions", after, n)
		}
	}
}

func TestACompactionKeepsWhatTheUserSaid(t *testing.T) {
	g := open(t)
	g.chat(3)
	g.model.answers = []answer{says("a summary")}
	if err := g.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.model.answers = nil
	g.chat(1)
	g.wantShown(
		`user "question 0" "question 1" "[The messages above are verbatim. Summary of everything else that was said and done up to here:]\n\na summary" "question 2"`,
		`assistant "done"`, `user "question 0"`)
	g.model.answers = []answer{says("another summary")}
	if err := g.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := g.model.requests[len(g.model.requests)-1]
	if got := showMessage(r.Messages[0]); !strings.Contains(got, "question 1") || !strings.Contains(got, "a summary") {
		t.Errorf("the request for the second summary begins with %s, want what the first one kept, and its summary", got)
	}
	g.say("on", "done")
	if got := showMessage(g.model.requests[len(g.model.requests)-1].Messages[0]); !strings.Contains(got, `"question 0" "question 1" "question 2"`) {
		t.Errorf("after the second compaction the context begins with %s, want all questions", got)
	}
	if text, err := g.Undo(t.Context(), 4); err != nil || text != "question 1" {
		t.Errorf("Undo of what a compaction keeps = %q, %v, want question 1", text, err)
	}
}

func TestFewLargeTurnsFit(t *testing.T) {
	large := strings.Repeat("a large prompt ", 1000)
	g := open(t)
	g.model.reads = 16 << 10
	g.say(large+"one", "done")
	g.say(large+"two", "done")
	g.model.answers = []answer{calls("look {\"x\":\"" + large + "\"}"), says("well")}
	g.say("look", "well")
	g.say(large+"three", "done")
	g.again()
	g.say(large+"four", "done")
	last := g.model.requests[len(g.model.requests)-1].Messages
	if got := last[len(last)-1]; !strings.HasSuffix(got.Words(), "four") || len(got.Words()) < len(large) {
		t.Errorf("the last prompt was cut to %d bytes, want it whole", len(got.Words()))
	}
	out, err := g.Turn(t.Context(), skein.UserSays(large+large))
	if !errors.Is(err, llm.ErrTooLong) || !strings.Contains(fmt.Sprint(err), "30000 bytes") || !strings.Contains(fmt.Sprint(err), "16384") {
		t.Errorf("Turn with a prompt that is too long = %+v, %v, want an error with its size and the limit", out, err)
	}
	g.say("and on", "done")
}

// A prompt that was rejected as too long by itself is summarized like other
// older messages: without its middle.
func TestARefusedPromptIsInNoSummarysWay(t *testing.T) {
	g := open(t)
	g.model.reads = 16 << 10
	if _, err := g.Turn(t.Context(), skein.UserSays(strings.Repeat("long ", 6000))); !errors.Is(err, llm.ErrTooLong) {
		t.Fatalf("a prompt that is too long by itself = %v, want %v", err, llm.ErrTooLong)
	}
	g.say("short", "done")
	if err := g.Compact(t.Context()); err != nil {
		t.Errorf("Compact after it = %v, want nil", err)
	}
	last := g.model.requests[len(g.model.requests)-1].Messages
	if got := last[len(last)-1].Words(); !strings.Contains(got, "Summarize this conversation") {
		t.Errorf("the summary was asked for with %.200q, want the question whole", got)
	}
}

func TestATurnThatIsTooLongByItselfLosesItsOldestResults(t *testing.T) {
	var steps []answer
	for range 30 {
		steps = append(steps, calls("look {\"x\":\""+strings.Repeat("y", 2000)+"\"}"))
	}
	g := open(t, steps...)
	g.model.reads = 80 << 10
	g.say("look at it all", "done")
	last := g.model.requests[len(g.model.requests)-1].Messages
	if got := showMessage(last[0]); got != `user "look at it all"` {
		t.Errorf("the last request begins with %s, want the task", got)
	}
	if got := showMessage(last[2]); !strings.Contains(got, "is left out here. session_read with") {
		t.Errorf("the first result is %.200s, want a mark in its place", got)
	}
	if got := showMessage(last[len(last)-1]); !strings.Contains(got, strings.Repeat("y", 2000)) {
		t.Errorf("the last result is %.200s, want it whole", got)
	}
	if len(g.compactions()) != 0 || len(last) != 61 {
		t.Errorf("there are %d compactions and %d messages, want none, and 61", len(g.compactions()), len(last))
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
	g.again(g.model.answers...) // the next process knows it too
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
	g.model.answers = []answer{fails(errBusy), says(" "), fails(&llm.Error{Kind: llm.ErrTooLong}), fails(errGone), says("well")}
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
	g.chat(1)
	if err := g.Compact(t.Context()); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Compact of one turn = %v, want %v", err, skein.ErrInvalid)
	}
	g.chat(6)
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

func TestATurnThatFillsTheModelLosesItsOldestResults(t *testing.T) {
	var steps []answer
	for range 40 {
		steps = append(steps, calls("look {\"x\":\""+strings.Repeat("y", 700)+"\"}"))
	}
	g := openWith(t, func(o *agent.Options) { o.Agent.Window = 10_000 }, steps...)
	g.model.counts = true
	g.say("a long task", "done")
	for i, r := range g.model.requests {
		if n := sizeOf(r); n > 40_000 {
			t.Errorf("request %d takes %d bytes, want the oldest results to go", i, n)
		}
	}
	last := g.model.requests[40].Messages
	if len(g.compactions()) != 0 || showMessage(last[0]) != `user "a long task"` || len(last) != 81 {
		t.Errorf("there are %d compactions, and of %d messages the first is %s; want none, and the task", len(g.compactions()), len(last), showMessage(last[0]))
	}
}
