package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/replay"
)

func assistant(parts ...skein.Part) skein.Message {
	return skein.Message{
		Role: skein.RoleAssistant, Provider: "anthropic", Model: "m1", Request: "old", Parts: parts,
		Usage: &skein.Usage{Input: 7, Output: 3, Requests: 1, Reported: 9}, Stop: "end_turn",
	}
}

func call(id string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "shell", Input: json.RawMessage(`{"command":"ls"}`)}}
}

func result(id, text string) skein.Message {
	return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}}}
}

func entries(messages ...skein.Message) (all []skein.Entry) {
	turn := 0
	for i, m := range messages {
		if m.Typed() {
			turn++
		}
		all = append(all, skein.Entry{Seq: skein.Seq(i + 2), End: skein.Seq(i + 2), Turn: turn, Message: m})
	}
	return all
}

// recorded returns a session of two turns, with an answer that broke off, one
// that a program inserted and one that came in two pieces.
func recorded() []skein.Entry {
	broken := assistant(skein.TextPart("I"))
	broken.Interrupted = true
	put := assistant(skein.TextPart("API Error"))
	put.Synthetic = true
	return entries(
		skein.UserSays("list it"), broken, put,
		assistant(skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: json.RawMessage(`{"signature":"s"}`)}, skein.TextPart("Let me see. "+strings.Repeat("naïve ", 50))),
		assistant(call("c1")),
		result("c1", "a.go"),
		assistant(skein.TextPart("One file.")),
		skein.UserSays("thanks"),
		assistant(skein.TextPart("Welcome.")),
	)
}

func ask(ctx context.Context, m *replay.Model, messages []skein.Message) (text string, last *skein.Message, err error) {
	for d, e := range m.Stream(ctx, llm.Request{Messages: messages}) {
		text += d.Text
		last, err = d.Message, e
	}
	return text, last, err
}

// play asks m with the prompts, one for each turn, and answers its calls with
// the outputs.
func play(t *testing.T, m *replay.Model, prompts []string, outputs ...string) (said []string, messages []skein.Message, err error) {
	t.Helper()
	for _, p := range prompts {
		messages = append(messages, skein.UserSays(p))
		for called := true; called; {
			text, last, err := ask(t.Context(), m, messages)
			if err != nil {
				return said, messages, err
			}
			if text != last.Words() {
				t.Errorf("it streams %q, and its message is %q", text, last.Words())
			}
			said, messages, called = append(said, text), append(messages, *last), false
			for _, p := range last.Parts {
				if p.Call != nil {
					messages, outputs, called = append(messages, result(p.Call.ID, outputs[0])), outputs[1:], true
				}
			}
		}
	}
	return said, messages, nil
}

func TestItAnswersWhatWasAnsweredInOrder(t *testing.T) {
	m := replay.New("s1", recorded(), replay.Options{Differ: replay.Strict, ID: func() string { return "new" }})
	if got := m.About().String(); got != "replay:s1" {
		t.Errorf("About is %s, want replay:s1", got)
	}
	said, messages, err := play(t, m, []string{"list it", "thanks"}, "a.go")
	if err != nil || len(said) != 3 || said[1] != "One file." || said[2] != "Welcome." || m.Left() != 0 {
		t.Fatalf("it says %q, %v, %d left; want three answers", said, err, m.Left())
	}
	first := messages[1]
	if first.Provider != "replay" || first.Request != "new" || first.Usage != nil || len(first.Parts) != 3 || first.Parts[0].Raw != nil {
		t.Errorf("first answer is %+v with %+v; want replay's own, of both pieces, without usage and signature", first, first.Usage)
	}
	if _, _, err := ask(t.Context(), m, append(messages, skein.UserSays("more"))); !errors.Is(err, llm.ErrRequest) || !strings.Contains(err.Error(), "no more answers (it has 3)") {
		t.Errorf("the fourth request: %v, want %v that says there are 3", err, llm.ErrRequest)
	}
}

func TestItSaysWhereARequestDiffers(t *testing.T) {
	for _, c := range []struct {
		prompts, outputs []string
		answer           int
		got, want        string
	}{
		{[]string{"list this"}, nil, 1, "user: list this", "user: list it"},
		{[]string{"list it"}, []string{"b.go"}, 2, "result: b.go", "result: a.go"},
		{[]string{"list it", "bye"}, []string{"a.go "}, 3, "user: bye", "user: thanks"},
	} {
		_, _, err := play(t, replay.New("s1", recorded(), replay.Options{Differ: replay.Strict}), c.prompts, c.outputs...)
		d := (*replay.DifferenceError)(nil)
		if !errors.As(err, &d) || d.Answer != c.answer || d.Got != c.got || d.Want != c.want || !errors.Is(err, llm.ErrRequest) {
			t.Errorf("%q with %q: %v; want answer %d to differ: %q, %q", c.prompts, c.outputs, err, c.answer, c.got, c.want)
		}
		if said, _, err := play(t, replay.New("s1", recorded(), replay.Options{}), c.prompts, append(c.outputs, "z")...); err != nil || len(said) < c.answer {
			t.Errorf("%q with %q, not strict: %q, %v; want answers", c.prompts, c.outputs, said, err)
		}
	}
}

func TestAnotherProcessGoesOn(t *testing.T) {
	_, messages, err := play(t, replay.New("s1", recorded(), replay.Options{}), []string{"list it"}, "a.go")
	if err != nil {
		t.Fatal(err)
	}
	// An answer that broke off, as marked in a context, does not count.
	messages = append(messages, skein.Message{Role: skein.RoleAssistant, Provider: "replay", Parts: []skein.Part{
		{Kind: skein.PartText, Text: "[This answer was interrupted.]", Synthetic: true}, skein.TextPart("Wel"),
	}})
	text, _, err := ask(t.Context(), replay.New("s1", recorded(), replay.Options{Differ: replay.Strict}), append(messages, skein.UserSays("thanks")))
	if text != "Welcome." || err != nil {
		t.Errorf("a new model goes on with %q, %v; want Welcome.", text, err)
	}
}

func TestAnAnswerThatWasNotHeardComesAgain(t *testing.T) {
	m := replay.New("s1", recorded(), replay.Options{})
	prompt := []skein.Message{skein.UserSays("list it")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last llm.Delta
	var err error
	for last, err = range m.Stream(ctx, llm.Request{Messages: prompt}) {
		if last.Text != "" {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || last.Message == nil || !last.Message.Interrupted || len(last.Message.Words()) == 0 || len(last.Message.Words()) > 30 {
		t.Errorf("cancelled: %+v, %v; want what was said, marked, and %v", last.Message, err, context.Canceled)
	}
	if text, _, err := ask(t.Context(), m, prompt); err != nil || !strings.HasPrefix(text, "Let me see.") {
		t.Errorf("asked again: %q, %v; want the whole first answer", text, err)
	}
}

func TestWhatAProgramAsksTakesNoAnswer(t *testing.T) {
	m := replay.New("s1", recorded(), replay.Options{})
	title := skein.UserSays("Give it a title")
	title.Synthetic = true
	if _, _, err := ask(t.Context(), m, []skein.Message{skein.UserSays("list it"), title}); !errors.Is(err, llm.ErrRequest) {
		t.Errorf("a request for a title: %v, want %v", err, llm.ErrRequest)
	}
	if m.Left() != 3 {
		t.Errorf("%d answers left, want 3", m.Left())
	}
}

func TestWhatWasRewoundIsNotAnswered(t *testing.T) {
	all := recorded()
	for i := range all[:7] {
		all[i].Rewound = true
	}
	if text, _, err := ask(t.Context(), replay.New("s1", all, replay.Options{Differ: replay.Strict}), []skein.Message{skein.UserSays("thanks")}); text != "Welcome." || err != nil {
		t.Errorf("it answers %q, %v; want Welcome.", text, err)
	}
}
