package screen

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAPipeIsReadLineByLine(t *testing.T) {
	p := Plain(Streams{In: strings.NewReader("one\n\n  two \\\nthree\r\nlast"), Out: io.Discard, Err: io.Discard})
	for _, want := range []string{"one", "two \nthree", "last"} {
		if got, err := p.Read(t.Context()); got != want || err != nil {
			t.Errorf("Read = %q, %v; want %q", got, err, want)
		}
	}
	if got, err := p.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("Read at the end = %q, %v; want EOF", got, err)
	}
}

func TestAReadOfAPipeEndsWithItsContextAndLosesNothing(t *testing.T) {
	r, w := io.Pipe()
	p := Plain(Streams{In: r, Out: io.Discard, Err: io.Discard})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Read = %v, want the context's error", err)
	}
	go func() { _, _ = io.WriteString(w, "late\n") }()
	if got, err := p.Read(t.Context()); got != "late" || err != nil {
		t.Errorf("Read = %q, %v; want what came later", got, err)
	}
}

func TestAPipeGetsPlainText(t *testing.T) {
	var out, rest bytes.Buffer
	p := Plain(Streams{In: strings.NewReader(""), Out: &out, Err: &rest})
	for _, piece := range []string{"# Head\n\nit is **bo", "ld** \x1b[3", "1mred\n", "end"} {
		p.Say(piece)
	}
	p.Note("\x1b[2mnote\x1b[0m")
	p.Print("\x1b[1mbold\x1b[0m")
	p.Say("open")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "# Head\n\nit is **bold** red\nend\nbold\nopen\n"; got != want {
		t.Errorf("out has %q, want %q", got, want)
	}
	if got, want := rest.String(), "note\n"; got != want {
		t.Errorf("err has %q, want %q", got, want)
	}
}

func TestTheNextLineOfAPipeAnswersAQuestion(t *testing.T) {
	p := Plain(Streams{In: strings.NewReader("what\nY\nno\n"), Out: io.Discard, Err: io.Discard})
	q := Question{Text: "?", Choices: []Choice{{'y', "yes", "yes"}, {'n', "no", "no"}}}
	for _, want := range []string{"yes", "no"} {
		if got, err := p.Ask(t.Context(), q); got != want || err != nil {
			t.Errorf("Ask = %q, %v; want %q", got, err, want)
		}
	}
	if _, err := p.Ask(t.Context(), q); !errors.Is(err, io.EOF) {
		t.Errorf("Ask at the end = %v, want EOF", err)
	}
}

func TestAPipeThatIsGoneEndsTheConversation(t *testing.T) {
	p := Plain(Streams{In: strings.NewReader("one\n"), Out: broken{}, Err: io.Discard})
	p.Print("x")
	if _, err := p.Read(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Read = %v, want the pipe's error", err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
