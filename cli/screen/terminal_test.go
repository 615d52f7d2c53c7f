package screen

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// newTerminal returns a Terminal without a console, and what it writes.
func newTerminal(o Options) (*Terminal, *bytes.Buffer) {
	out := &bytes.Buffer{}
	if o.History == nil {
		o.History = &History{}
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Unix(1000, 0) }
	}
	t := unconnected(o)
	t.paint.w, t.recall = out, newRecall(o.History)
	t.resize(60, 20)
	return t, out
}

func TestEnterSaysAndABackslashGoesOn(t *testing.T) {
	term, out := newTerminal(Options{})
	press(term, "one", `\`, "enter", "two", "enter", "  ", "enter", "ahead", "enter")
	for _, want := range []string{"one\ntwo", "ahead"} {
		got, err := term.Read(t.Context())
		if got != want || err != nil {
			t.Errorf("Read = %q, %v; want %q", got, err, want)
		}
	}
	if s := ansi.Strip(out.String()); !strings.Contains(s, "❯ one\r\n  two\r\n") {
		t.Errorf("the screen has %q, want what was said to stay on it", s)
	}
}

func TestWhatNobodyReadIsKnown(t *testing.T) {
	term, _ := newTerminal(Options{})
	press(term, "one", "enter", "two", "enter", "thr")
	if got, err := term.Read(t.Context()); got != "one" || err != nil {
		t.Fatalf("Read = %q, %v; want one", got, err)
	}
	if got, want := term.Unread(), []string{"two", "thr"}; !slices.Equal(got, want) {
		t.Errorf("Unread = %q, want %q", got, want)
	}
	if got := term.Unread(); len(got) > 0 {
		t.Errorf("the second Unread = %q, want nothing", got)
	}
}

func TestWhatIsGivenBackKeepsWhatIsBeingTyped(t *testing.T) {
	term, _ := newTerminal(Options{})
	press(term, "next")
	term.Prefill("given back")
	if got, want := term.edit.text, "given back\nnext"; got != want {
		t.Errorf("the editor has %q, want %q", got, want)
	}
}

func TestAPasteKeepsItsLines(t *testing.T) {
	term, _ := newTerminal(Options{})
	term.event(uv.PasteEvent{Content: "one\r\ntwo\rthree\xff"})
	if got, want := term.edit.text, "one\ntwo\nthree\ufffd"; got != want {
		t.Errorf("a paste makes %q, want %q", got, want)
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	term, _ := newTerminal(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := term.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v, want the context's error", err)
	}
}

func TestCtrlDLeavesOnlyAnEmptyLine(t *testing.T) {
	term, _ := newTerminal(Options{})
	press(term, "a", "ctrl+d")
	if term.left {
		t.Error("ctrl+d left a line that was not empty")
	}
	press(term, "ctrl+c", "ctrl+d")
	if _, err := term.Read(t.Context()); !errors.Is(err, ErrLeft) {
		t.Errorf("Read = %v, want ErrLeft", err)
	}
}

func TestCtrlCEmptiesStopsAndSoonAgainLeaves(t *testing.T) {
	now := time.Unix(1000, 0)
	term, _ := newTerminal(Options{Now: func() time.Time { return now }})
	press(term, "text", "ctrl+c")
	if term.edit.text != "" || term.left {
		t.Fatalf("ctrl+c makes %q, left %v; want an empty line", term.edit.text, term.left)
	}
	stopped := 0
	term.Begin(func() { stopped++ })
	press(term, "ctrl+c")
	if stopped != 1 || term.left {
		t.Fatalf("ctrl+c stopped %d times, left %v; want once, and to stay", stopped, term.left)
	}
	if left := term.End(); left {
		t.Fatal("End says that the person left")
	}
	now = now.Add(again + time.Second) // too late to count as the second
	press(term, "ctrl+c")
	if term.left {
		t.Fatal("a ctrl+c much later left")
	}
	press(term, "x", "ctrl+c", "ctrl+c") // nor does one after another key
	if term.left {
		t.Fatal("a ctrl+c that emptied the line counted")
	}
	press(term, "ctrl+c")
	if !term.left {
		t.Error("ctrl+c twice did not leave")
	}
}

func TestAnAnswerThatNobodyWaitsForStopsAtOnce(t *testing.T) {
	term, _ := newTerminal(Options{})
	press(term, "ctrl+d")
	stopped := false
	term.Begin(func() { stopped = true })
	if !stopped || !term.End() {
		t.Error("what began after the person left was not stopped")
	}
}

func TestOnlyAChoiceAnswersAQuestion(t *testing.T) {
	term, out := newTerminal(Options{})
	q := Question{Text: "Run it?", Choices: []Choice{{'y', "yes", "yes"}, {'n', "no", "no"}}}
	got := make(chan string)
	go func() {
		answer, err := term.Ask(t.Context(), q)
		got <- answer + errorText(err)
	}()
	for asked := false; !asked; {
		term.mu.Lock()
		asked = term.asked != nil
		term.mu.Unlock()
	}
	press(term, "x", "enter", "esc", "y")
	if answer := <-got; answer != "yes" {
		t.Errorf("Ask = %q, want yes", answer)
	}
	s := newScreen(60)
	s.write(out.String())
	if want := "Run it?\n  → yes\n"; s.String() != want {
		t.Errorf("the screen shows %q, want %q", s, want)
	}
	if term.edit.text != "" {
		t.Errorf("keys for the question were typed: %q", term.edit.text)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestTabOffersAndTakesTurns(t *testing.T) {
	words := []Word{{Text: "/help"}, {Text: "/history"}}
	term, _ := newTerminal(Options{Complete: func(text string, at int) Completion {
		var c Completion
		for _, w := range words {
			if strings.HasPrefix(w.Text, text[:at]) {
				c.Words = append(c.Words, w)
			}
		}
		return c
	}})
	if press(term, "/", "tab"); term.edit.text != "/" {
		t.Errorf("before Read, tab makes %q: its caller may not be ready", term.edit.text)
	}
	press(term, "ctrl+c")
	term.reading = true
	for _, c := range []struct{ keys, want string }{
		{"/ tab", "/h"},
		{"tab", "/help"},
		{"tab", "/history"},
		{"tab", "/help"},
		{"enter", "/help"},
		{"! tab", "/help!"},
		{"ctrl+c / h i tab", "/history "},
	} {
		press(term, strings.Fields(c.keys)...)
		if got := term.edit.text; got != c.want {
			t.Errorf("after %s: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestCtrlRFindsWhatWasTyped(t *testing.T) {
	h := &History{lines: []string{"make test", "make lint", "git log"}}
	term, _ := newTerminal(Options{History: h})
	for _, c := range []struct{ keys, want string }{
		{"m y ctrl+r m a", "make lint"},
		{"ctrl+r", "make test"},
		{"ctrl+r", "make test"},
		{"ctrl+g", "my"},
		{"ctrl+c ctrl+r g", "git log"},
		{"enter", "git log"},
		{"!", "git log!"},
	} {
		press(term, strings.Fields(c.keys)...)
		if got := term.edit.text; got != c.want {
			t.Errorf("after %s: %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestAnAnswerIsPrintedOnceWhateverComesBetween(t *testing.T) {
	term, out := newTerminal(Options{})
	term.Begin(func() {})
	for _, p := range []string{"# One\n\n", "two", " three\n\n```\nco", "de\n", "more\n```\nend"} {
		term.Say(p)
		term.tick()
		term.Print("(between)")
	}
	term.End()
	var printed []string
	s := newScreen(60)
	s.write(out.String())
	for _, l := range s.lines {
		if l = strings.TrimRight(l, " "); l != "(between)" {
			printed = append(printed, l)
		}
	}
	want := "# One\n\ntwo three\n\n    code\n    more\n\nend"
	if got := strings.TrimRight(strings.Join(printed, "\n"), "\n"); got != want {
		t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
	}
}

func TestTextFromModelsObeysNothing(t *testing.T) {
	term, out := newTerminal(Options{})
	term.Begin(func() {})
	term.Say("a\x1b]0;title\x07b\x1b[2J\n\n")
	term.Work(Busy{Doing: "run\x1b[2J", Detail: "x\x1b[5mx\ny"})
	term.tick()
	term.Said()
	if s := out.String(); strings.Contains(s, "title") || strings.Contains(s, "\x1b[2J") || strings.Contains(s, "\x1b[5m") {
		t.Errorf("the terminal is sent %q", s)
	}
}
