package render

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestWhatAProgramWrappedIsOneLabelledLine(t *testing.T) {
	const text = "<local-command-stdout>\nseven pears\n\nin the basket\n</local-command-stdout>\n\nbuy *one*"
	e := skein.Entry{Seq: 1, Message: skein.UserSays(text)}
	page := asHTML(t, skein.Session{ID: "s"}, []skein.Entry{e}, Options{})
	if !strings.Contains(page, "<summary>output of a command: seven pears in the basket</summary>") || strings.Contains(page, "local-command") {
		t.Errorf("the page has\n%s\nwant the output folded under one line", page)
	}
	e.Message.Role = skein.RoleAssistant
	if page = asHTML(t, skein.Session{ID: "s"}, []skein.Entry{e}, Options{}); !strings.Contains(page, "local-command") {
		t.Errorf("what a model said is shown as\n%s\nwant its own words", page)
	}
}

func TestMarkdownHasAllOfAnEnvelopeThatSomebodyTyped(t *testing.T) {
	long := strings.Repeat("pears ", 100) + "plums"
	for _, program := range []bool{false, true} {
		m := skein.UserSays("<skill>" + long + "</skill>")
		m.Synthetic = program
		text := asMarkdown(t, skein.Session{ID: "s"}, []skein.Entry{{Seq: 1, End: 1, Message: m}}, Options{})
		if got := strings.Contains(text, "plums"); got == program {
			t.Errorf("put in by a program %v: the end of the envelope is there %v, want the opposite:\n%s", program, got, text)
		}
	}
}

func TestAFailureIsToldWithoutEnvelopes(t *testing.T) {
	for text, want := range map[string]string{
		"<tool_use_error>File has not\nbeen read yet.</tool_use_error>": "File has not been read yet.",
		"exit 1\n\n<system-reminder>Do not say so.</system-reminder>":   "exit 1",
		"<system-reminder>It is empty.</system-reminder>":               "<system-reminder>It is empty.</system-reminder>",
		"expected <b>, got <i>": "expected <b>, got <i>",
	} {
		if got := FailureLine(&skein.Result{Text: skein.Text(text), Failed: true}); got != want {
			t.Errorf("FailureLine(%q) = %q, want %q", text, got, want)
		}
	}
}
