package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/render"
)

// ask asks the person at the terminal a question, on a line of its own. Any answer
// that is not a clear yes counts as no.
func (j *job) ask(ctx context.Context, q question) (reply, error) {
	choices := "[y/N]"
	if q.always != "" {
		choices = "[y/N, a: always " + q.always + "]"
	}
	fmt.Fprintf(j.Stderr, "%s %s ", render.Clean(q.text), choices)
	line, err := j.line(ctx)
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return yes, err
	case "a", "always":
		if q.always != "" {
			return always, err
		}
	}
	return no, err
}

// line reads one line of stdin; at the end of stdin it returns an empty one. It
// returns when ctx is canceled.
func (j *job) line(ctx context.Context) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := readLine(j.Stdin)
		done <- result{text, err}
	}()
	select {
	case got := <-done:
		return got.text, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// toolLine returns one line that says that a tool ran; title is what the call is
// about.
func toolLine(u agent.Update, title string) string {
	mark, name := "→", u.Call.Name
	if u.Result != nil && u.Result.Failed {
		mark = "✗"
	}
	if u.Child != "" {
		mark = "  " + mark // in a delegate's session
	}
	if title != "" && title != name {
		name += ": " + title
	}
	return fmt.Sprintf("%s %s (%s)", mark, cut(render.Line(name), 100), seconds(u.Wait))
}

// seconds formats d for people.
func seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// readLine reads r byte by byte up to the end of a line, and nothing after it.
func readLine(r io.Reader) (string, error) {
	var text []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		if n == 1 && b[0] != '\n' {
			text = append(text, b[0])
		}
		switch {
		case n == 1 && b[0] == '\n', err == io.EOF:
			return string(text), nil
		case err != nil:
			return "", err
		}
	}
}
