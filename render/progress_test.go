package render

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

// progressOf returns a session whose calls ended differently, and whose
// requests failed.
func progressOf() (s skein.Session, events []skein.Event, entries []skein.Entry) {
	s = skein.Session{ID: "told"}
	put := func(kind skein.Kind, payload any) {
		e := skein.NewEvent(kind, noon, payload)
		e.Seq = skein.Seq(len(events) + 1)
		events = append(events, e)
		if m, ok := payload.(skein.Message); ok {
			entries = append(entries, skein.Entry{Seq: e.Seq, End: e.Seq, Turn: 1, Time: noon, Message: m})
		}
	}
	call := func(id string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "Bash", Input: []byte(`{"command":"do ` + id + `"}`)}}
	}
	result := func(id string, failed bool) skein.Message {
		return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text("of " + id), Failed: failed}}}}
	}
	put(skein.KindCreated, skein.Created{})
	put(skein.KindSaid, skein.UserSays("Go."))
	put(skein.KindStep, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Kind: "overloaded", Message: "try later", Status: 529}})
	put(skein.KindSaid, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{call("p"), call("r"), call("u"), call("f"), call("n"), call("a"), call("b")}})
	for id, state := range map[string]skein.CallState{"p": skein.Pending, "r": skein.Running, "u": skein.Uncertain, "f": skein.Failed, "a": skein.Running, "b": skein.Running} {
		put(skein.KindTool, skein.ToolState{Call: id, State: state})
	}
	put(skein.KindSaid, result("b", true))
	put(skein.KindSaid, result("a", false))
	put(skein.KindSaid, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}, Error: &skein.ErrorInfo{Message: "gone"}})
	put(skein.KindStep, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Message: "gone"}})
	put(skein.KindStep, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Message: "no key sk-1"}})
	s.Last = skein.Seq(len(events))
	return s, events, entries
}

func eachEvent(events []skein.Event) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestDocumentsTellWhichEventsWereLost(t *testing.T) {
	var events []skein.Event
	put := func(kind skein.Kind, payload any) {
		events = append(events, skein.NewEvent(kind, noon, payload))
		events[len(events)-1].Seq = skein.Seq(len(events))
	}
	lost := func() { put(skein.KindNoted, skein.Noted{Name: skein.NoteLost, Level: "error"}) }
	put(skein.KindCreated, skein.Created{})
	lost()
	lost()
	put(skein.KindSaid, skein.UserSays("Go."))
	put(skein.KindNoted, skein.Noted{Name: "x", Level: "error", Data: []byte(`"lost"`)})
	lost()
	entries := []skein.Entry{{Seq: 4, End: 4, Turn: 1, Time: noon, Message: skein.UserSays("Go.")}}
	for name, write := range map[string]func(*testing.T, skein.Session, []skein.Entry, Options) string{"HTML": asHTML, "Markdown": asMarkdown} {
		what, err := ProgressOf(&skein.Session{}, eachEvent(events), 6, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := write(t, skein.Session{ID: "a", Last: 6}, entries, Options{Told: what})
		first, said, last := strings.Index(got, "Events 2 to 3 were lost"), strings.Index(got, "Go."), strings.Index(got, "Event 6 was lost")
		if first < 0 || said < first || last < said || strings.Contains(got, "Event 5") {
			t.Errorf("%s tells of what was lost at %d and %d, of the message at %d; want it where it stood:\n%s", name, first, last, said, got)
		}
	}
}

// A call is not reported as running while nobody holds the session's lease.
func TestCallsThatADeadProgramLeftRunningAreUncertain(t *testing.T) {
	_, events, entries := progressOf()
	for _, tt := range []struct {
		s    skein.Session
		want string
	}{
		{skein.Session{LockedBy: "skein chat"}, "running"},
		{skein.Session{}, "uncertain: nobody knows whether it took effect"},
		{skein.Session{Origin: &skein.Origin{Format: "codex"}}, "running"}, // it is unknown who works on it
	} {
		what, err := ProgressOf(&tt.s, eachEvent(events), entries[len(entries)-1].Seq, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := what.Call(&entries[1], "r"); got != tt.want {
			t.Errorf("Call of what runs in %+v = %q, want %q", tt.s, got, tt.want)
		}
	}
}

func TestDocumentsTellHowFarCallsCameAndWhichRequestsFailed(t *testing.T) {
	s, events, entries := progressOf()
	hide := func(text string) string { return strings.ReplaceAll(text, "sk-1", "[key]") }
	for name, write := range map[string]func(*testing.T, skein.Session, []skein.Entry, Options) string{"HTML": asHTML, "Markdown": asMarkdown} {
		what, err := ProgressOf(&skein.Session{LockedBy: "x"}, eachEvent(events), s.Last, hide)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(write(t, s, entries, Options{Told: what}), `\`, "")
		for text, n := range map[string]int{
			"pending: it has not run": 1, "running": 1, "uncertain: nobody knows whether it took effect": 1, "no result": 1,
			"A request failed: overloaded: try later (HTTP 529)": 1, "A request failed: no key [key]": 1, "gone": 1,
		} {
			if have := strings.Count(got, text); have != n {
				t.Errorf("%s has %q %d times, want %d:\n%s", name, text, have, n, got)
			}
		}
		if at := strings.Index(got, "try later"); at > strings.Index(got, "do p") {
			t.Errorf("%s has the failed request not where it was", name)
		}
	}
	md := asMarkdown(t, s, entries, Options{})
	if !strings.Contains(md, "**Tool result 7:** `Bash` (failed)") || !strings.Contains(md, "**Tool result 6:** `Bash`\n") {
		t.Errorf("Markdown does not say which call a result answers:\n%s", md)
	}
	if page := asHTML(t, s, entries, Options{}); !strings.Contains(page, "answers call 7, failed, ") || !strings.Contains(page, "<span>call 7</span>") {
		t.Errorf("HTML does not say which call a result answers:\n%s", page)
	}
}

func TestJSONTellsHowFarCallsCameAndWhatAnswersThem(t *testing.T) {
	s, events, entries := progressOf()
	late := skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "b", State: skein.Completed}) // its result says that it failed
	late.Seq = skein.Seq(len(events) + 1)
	what, err := ProgressOfCalls(&skein.Session{LockedBy: "x"}, eachEvent(append(events, late)), s.Last)
	if err != nil {
		t.Fatal(err)
	}
	want := []CallProgress{
		{"p", skein.Pending, 0},
		{"r", skein.Running, 0},
		{"u", skein.Uncertain, 0},
		{"f", skein.Failed, 0},
		{"n", Open, 0},
		{"a", skein.Completed, 12},
		{"b", skein.Failed, 11},
	}
	if diff := cmp.Diff(want, what.Entry(entries[1]).Calls); diff != "" {
		t.Errorf("the calls of a message (-want +got):\n%s", diff)
	}
	if got := what.Entry(entries[0]).Calls; len(got) > 0 {
		t.Errorf("a message without calls has %v", got)
	}
}

// A repeated ID belongs to another call.
func TestJSONTellsCallsWithOneIDApart(t *testing.T) {
	var events []skein.Event
	say := func(role skein.Role, p skein.Part) skein.Entry {
		m := skein.Message{Role: role, Parts: []skein.Part{p}}
		e := skein.Say(noon, m)
		e.Seq = skein.Seq(len(events) + 1)
		events = append(events, e)
		return skein.Entry{Seq: e.Seq, End: e.Seq, Message: m}
	}
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "1", Name: "Bash"}}
	result := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "1"}}
	first := say(skein.RoleAssistant, call)
	say(skein.RoleTool, result)
	second := say(skein.RoleAssistant, call)
	say(skein.RoleTool, result)
	say(skein.RoleTool, result)
	third := say(skein.RoleAssistant, call)
	what, err := ProgressOfCalls(&skein.Session{LockedBy: "x"}, eachEvent(events), 6)
	if err != nil {
		t.Fatal(err)
	}
	got := []CallProgress{what.Entry(first).Calls[0], what.Entry(second).Calls[0], what.Entry(third).Calls[0]}
	if diff := cmp.Diff([]CallProgress{{"1", skein.Completed, 2}, {"1", skein.Completed, 4}, {"1", Open, 0}}, got); diff != "" {
		t.Errorf("three calls with one ID (-want +got):\n%s", diff)
	}
}

// Reading a part of a session reads no more of it than the calls in that part
// require.
func TestTellStopsWhereNothingMoreCanCome(t *testing.T) {
	_, events, _ := progressOf()
	read := 0
	what, err := ProgressOf(&skein.Session{}, func(yield func(skein.Event, error) bool) {
		for _, e := range events {
			read++
			if !yield(e, nil) {
				return
			}
		}
	}, 2, nil)
	if err != nil || read != 3 || len(what.Before(nil)) != 0 {
		t.Errorf("ProgressOf up to event 2 read %d events, %v; want 3", read, err)
	}
}

// A turn that was taken back takes its failed requests with it, wherever the rewind
// is; what was lost stays.
func TestWhatFailedInATurnThatWasTakenBackIsNotLive(t *testing.T) {
	failed := func(text string) skein.Event {
		return skein.NewEvent(skein.KindStep, noon, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Message: text}})
	}
	events := []skein.Event{
		skein.NewEvent(skein.KindCreated, noon, skein.Created{}), skein.Say(noon, skein.UserSays("one")), failed("first"),
		skein.Say(noon, skein.UserSays("two")), failed("second"), skein.NewEvent(skein.KindNoted, noon, skein.Noted{Name: skein.NoteLost, Level: "error"}),
		skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 3}), skein.Say(noon, skein.UserSays("three")), failed("third"),
	}
	for i := range events {
		events[i].Seq = skein.Seq(i + 1)
	}
	for _, to := range []skein.Seq{6, 9} {
		what, err := ProgressOf(&skein.Session{}, eachEvent(events), to, nil)
		if err != nil {
			t.Fatal(err)
		}
		live, all := what.Live().Before(nil), what.Before(nil)
		want := []string{"A request failed: first", "Event 6 was lost when the store was damaged", "A request failed: third"}[:2+(to-6)/3]
		if diff := cmp.Diff(want, live); diff != "" {
			t.Errorf("up to %d (-want +got):\n%s", to, diff)
		}
		want = slices.Insert(want, 1, "A request failed (taken back): second")
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("with what was taken back up to %d (-want +got):\n%s", to, diff)
		}
	}
	if (*Outcomes)(nil).Live() != nil {
		t.Error("Live of no progress is some")
	}
}
