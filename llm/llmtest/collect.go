package llmtest

import (
	"iter"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// Collect reads a stream to its end and returns its message, nil if it had
// none, and its error. It fails the test if the stream breaks a rule that holds
// for every [llm.Provider]: only the last Delta has a Message, or comes with an
// error; the Deltas add up to the Message; an answer is marked as interrupted
// if and only if there is an error; calls are whole, and announced.
func Collect(t testing.TB, stream iter.Seq2[llm.Delta, error]) (m *skein.Message, err error) {
	t.Helper()
	var text, thoughts strings.Builder
	announced := map[string]int{}
	over := false
	for d, e := range stream {
		if over {
			t.Fatalf("Delta %+v after the last one", d)
		}
		text.WriteString(d.Text)
		thoughts.WriteString(d.Reasoning)
		if d.Call != "" {
			announced[d.Call]++
		}
		m, err, over = d.Message, e, e != nil || d.Message != nil
	}
	if !over {
		t.Fatal("the stream ended without a message and without an error")
	}
	if m == nil {
		if text.Len() > 0 {
			t.Errorf("deltas say %q, and there is no message", text.String())
		}
		return m, err
	}
	sum := map[skein.PartKind]string{}
	for _, p := range m.Parts {
		sum[p.Kind] += string(p.Text)
		if p.Call == nil {
			continue
		}
		if announced[p.Call.Name]--; announced[p.Call.Name] < 0 {
			t.Errorf("call of %q without a Delta that says so", p.Call.Name)
		}
		if p.Call.ID == "" || len(p.Call.Input) == 0 {
			t.Errorf("call %+v is not whole", p.Call)
		}
	}
	if got := text.String(); got != sum[skein.PartText] {
		t.Errorf("deltas add up to text %q, message has %q", got, sum[skein.PartText])
	}
	if got := thoughts.String(); got != sum[skein.PartReasoning] {
		t.Errorf("deltas add up to reasoning %q, message has %q", got, sum[skein.PartReasoning])
	}
	if m.Role != skein.RoleAssistant || m.Interrupted != (err != nil) {
		t.Errorf("message has role %q, interrupted %t, and the error is %v", m.Role, m.Interrupted, err)
	}
	return m, err
}
