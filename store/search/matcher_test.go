package search_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/store/search"
)

// matcher returns the matcher of q. It fails the test if there is an error.
func matcher(t *testing.T, q skein.Query) *search.Matcher {
	t.Helper()
	m, err := search.NewMatcher(q)
	if err != nil {
		t.Fatalf("%+v.Matcher(): %v", q, err)
	}
	return m
}

func TestMatcherMatches(t *testing.T) {
	s := skein.Session{User: "u", Project: "/home/x/api", Agent: "codex", Origin: &skein.Origin{Format: "codex"}}
	m := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		skein.TextPart("The Queue is full."),
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "Read", Input: []byte(`{"path":"src/queue.go"}`)}},
	}}
	e := skein.Say(1000, m)
	failed := m
	failed.Error = &skein.ErrorInfo{Message: "overloaded"}
	other := m
	other.Agent = "reviewer"
	for _, c := range []struct {
		q    skein.Query
		e    skein.Event
		want bool
	}{
		{skein.Query{}, e, false},
		{skein.Query{Terms: []skein.Term{word("queue")}}, e, true},
		{skein.Query{Terms: []skein.Term{word("empty")}}, e, false},
		{skein.Query{Terms: []skein.Term{{Words: []string{"empty"}, Not: true}}, Role: skein.RoleAssistant}, e, true},
		{skein.Query{Substring: "QUEUE IS"}, e, true},
		{skein.Query{Substring: "queue.is"}, e, false},
		{skein.Query{Regex: "Q[a-z]+e"}, e, true},
		{skein.Query{Regex: "^full"}, e, false},
		{skein.Query{User: "u", Agent: "codex", Origin: "codex", Project: "api", Role: skein.RoleAssistant, Tool: "Read", Path: "queue", Since: 1000, Until: 1001}, e, true},
		{skein.Query{Project: "/home/x/api"}, e, true},
		{skein.Query{User: "v", Tool: "Read"}, e, false},
		{skein.Query{Agent: "claude"}, e, false},
		{skein.Query{Agent: "reviewer"}, skein.Say(1000, other), true},
		{skein.Query{Agent: "codex"}, skein.Say(1000, other), false},
		{skein.Query{Origin: "claude-code"}, e, false},
		{skein.Query{Project: "pi"}, e, false},
		{skein.Query{Role: skein.RoleUser}, e, false},
		{skein.Query{Tool: "Write"}, e, false},
		{skein.Query{Tool: "Read"}, eventtest.Results(skein.Part{Kind: skein.PartResult, Result: &skein.Result{Name: "Read"}}), true},
		{skein.Query{Path: "stack"}, e, false},
		{skein.Query{Failed: true}, e, false},
		{skein.Query{Failed: true}, skein.Say(1000, failed), true},
		{skein.Query{Since: 1001}, e, false},
		{skein.Query{Until: 1000}, e, false},
		{skein.Query{Until: 1000}, skein.Say(0, m), false},
		{skein.Query{Since: 1}, skein.NewEvent(skein.KindNoted, 1000, skein.Noted{Name: "queue"}), false},
	} {
		f := eventtest.Facts(t, c.e)
		if got := matcher(t, c.q).Matches(&s, c.e, &f); got != c.want {
			t.Errorf("%+v matches %s: %v, want %v", c.q, c.e.Payload, got, c.want)
		}
	}
	if _, err := search.NewMatcher((skein.Query{Regex: "("})); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Matcher of the regular expression (: %v, want an error wrapping ErrInvalid", err)
	}
}

func TestSnippet(t *testing.T) {
	mark := strings.NewReplacer("[", skein.Mark, "]", skein.EndMark)
	long := strings.Repeat("before ", 50) + "the Queue\n\tis  full" + strings.Repeat(" after", 50)
	for _, c := range []struct {
		query, text, want string
	}{
		{"queue", "", ""},
		{"queue", "The Queue, a queue.", "The [Queue], a [queue]."},
		{"full queue", "queue is full", "[queue] is [full]"},
		{`"queue is"`, "queue is queue", "[queue is] queue"},
		{"parseConfig", "func parseConfigFile()", "func [parseConfig]File()"},
		{"config", "func parseConfigFile()", "func parse[Config]File()"},
		{"京", "東京都", "東[京]都"},
		{"que*", "a queue", "a [queue]"},
		{"queue -full", "queue " + skein.Mark + "full" + skein.EndMark, "[queue] full"},
		{"absent", long, strings.Repeat("before ", 19) + "before…"},
		{"queue", "<command-message>queue</command-message>\n<command-name>/queue</command-name>\n<command-args>now</command-args>", "▪ command: /[queue] now"},
		{"queue", "fill the queue\n<system-reminder>The queue is full.</system-reminder>", "fill the [queue] ▪ system reminder: The [queue] is full."},
		{"full", "<local-command-stdout>is full</local-command-stdout>\nsee", "see ▪ output of a command: is [full]"},
		{"queue", "the <command-name> of a queue", "the <command-name> of a [queue]"},
		{"queue", long, "…before before before before before before before the [Queue] is full" + strings.Repeat(" after", 20) + "…"},
	} {
		q, err := search.Parse(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(mark.Replace(c.want), matcher(t, q).Snippet(c.text)); diff != "" {
			t.Errorf("snippet for %q (-want +got):\n%s", c.query, diff)
		}
	}
	if got, want := matcher(t, skein.Query{Substring: "E É"}).Snippet("e é"), mark.Replace("[e é]"); got != want {
		t.Errorf("snippet for a substring is %q, want %q", got, want)
	}
}
