package screen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/render"
)

// Streams are what a [PlainScreen] reads and writes.
type Streams struct {
	In     io.Reader
	Out    io.Writer // answers, and what is printed
	Err    io.Writer // notes and questions
	Prompt string    // written to Err before each Read; may be ""
}

// A PlainScreen is a Screen without a terminal. Make one with [Plain].
type PlainScreen struct {
	s       Streams
	in      *bufio.Reader
	pending chan line // receives a line whose reader stopped waiting; nil if there is none

	mu   sync.Mutex
	line string // the incomplete last line of an answer
	err  error  // from writing to Out
}

type line struct {
	text string
	err  error
}

// Plain returns a Screen that reads lines and writes text without escape sequences.
// A line that ends in a backslash continues in the next one. The answer to a
// question is the next line.
func Plain(s Streams) *PlainScreen { return &PlainScreen{s: s, in: bufio.NewReader(s.In)} }

// Read implements [Screen].
func (p *PlainScreen) Read(ctx context.Context) (string, error) {
	for {
		fmt.Fprint(p.s.Err, p.s.Prompt)
		text, err := p.next(ctx)
		for goesOn := true; err == nil && goesOn; {
			if text, goesOn = strings.CutSuffix(text, `\`); goesOn {
				var more string
				more, err = p.next(ctx)
				text += "\n" + more
			}
		}
		text = strings.TrimSpace(text)
		if text != "" && (err == nil || errors.Is(err, io.EOF)) {
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// next returns the next line. At the end of the input the error is io.EOF.
func (p *PlainScreen) next(ctx context.Context) (string, error) {
	p.mu.Lock()
	err := p.err
	p.mu.Unlock()
	if err != nil {
		return "", err
	}
	if p.pending == nil {
		c := make(chan line, 1)
		p.pending = c
		go func() {
			text, err := p.in.ReadString('\n')
			if text != "" && errors.Is(err, io.EOF) {
				err = nil
			}
			c <- line{strings.TrimRight(text, "\r\n"), err}
		}()
	}
	select {
	case l := <-p.pending:
		p.pending = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Print implements [Screen].
func (p *PlainScreen) Print(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	p.write(strings.TrimRight(text, "\n") + "\n")
}

// Note implements [Screen].
func (p *PlainScreen) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	fmt.Fprintln(p.s.Err, ansi.Strip(strings.TrimRight(text, "\n")))
}

// write writes to Out; it keeps an error for Read.
func (p *PlainScreen) write(text string) {
	if _, err := io.WriteString(p.s.Out, ansi.Strip(text)); err != nil && p.err == nil {
		p.err = err
	}
}

// Say implements [Screen]. Only complete lines are written: a piece may end in the
// middle of an escape sequence.
func (p *PlainScreen) Say(piece string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line += piece
	if end := strings.LastIndexByte(p.line, '\n') + 1; end > 0 {
		p.write(render.Clean(p.line[:end]))
		p.line = p.line[end:]
	}
}

// Said implements [Screen].
func (p *PlainScreen) Said() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

// flush writes the rest of an answer.
func (p *PlainScreen) flush() {
	if p.line != "" {
		p.write(render.Clean(p.line) + "\n")
		p.line = ""
	}
}

// Begin implements [Screen]. It ignores stop: a pipe has no keys.
func (p *PlainScreen) Begin(func()) {}

// Work implements [Screen]. It does nothing: nobody is watching.
func (p *PlainScreen) Work(Busy) {}

// End implements [Screen].
func (p *PlainScreen) End() (left bool) {
	p.Said()
	return false
}

// Ask implements [Screen]. It asks again until the answer is one of the choices.
func (p *PlainScreen) Ask(ctx context.Context, q Question) (string, error) {
	for {
		var labels []string
		for _, c := range q.Choices {
			labels = append(labels, fmt.Sprintf("[%c] %s", c.Key, c.Label))
		}
		p.Note(strings.TrimRight(q.Text, "\n") + "\n" + strings.Join(labels, "  "))
		text, err := p.next(ctx)
		if err != nil {
			return "", err
		}
		text = strings.ToLower(strings.TrimSpace(text))
		for _, c := range q.Choices {
			if text == string(c.Key) || text == strings.ToLower(c.Label) || text == strings.ToLower(c.Value) {
				return c.Value, nil
			}
		}
	}
}

// Unread implements [Screen]: there is nothing, because each line is read when it is
// needed.
func (p *PlainScreen) Unread() []string { return nil }

// Prefill implements [Screen]. It does nothing.
func (p *PlainScreen) Prefill(string) {}

// Close implements [Screen].
func (p *PlainScreen) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
	return p.err
}
