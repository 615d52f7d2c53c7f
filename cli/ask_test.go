package cli

import (
	"bytes"
	"strings"
	"testing"
)

func TestAQuestionTakesOnlyAClearYes(t *testing.T) {
	for typed, want := range map[string]reply{
		"y\n": yes, "YES\r\n": yes, "a\n": always, "always": always, "n\n": no, "\n": no, "": no, "yep\n": no,
	} {
		env := &Env{}
		var out bytes.Buffer
		env.Stdin, env.Stderr = strings.NewReader(typed+"the next line\n"), &out
		if !strings.HasSuffix(typed, "\n") {
			env.Stdin = strings.NewReader(typed)
		}
		j := &job{Env: env}
		got, err := j.ask(t.Context(), question{text: "Run \x1b[31mrm\x1b[0m?", always: "here"})
		if err != nil || got != want || strings.Contains(out.String(), "\x1b") {
			t.Errorf("ask, answered %q = %q, %v, shown as %q; want %q, without control characters", typed, got, err, out.String(), want)
		}
		if rest, err := readLine(env.Stdin); err != nil || strings.HasSuffix(typed, "\n") && rest != "the next line" {
			t.Errorf("after %q the next line is %q, %v", typed, rest, err)
		}
	}
	env := &Env{}
	env.Stdin, env.Stderr = strings.NewReader("a\n"), &bytes.Buffer{}
	if got, err := (&job{Env: env}).ask(t.Context(), question{text: "Sure?"}); err != nil || got != no {
		t.Errorf("ask where always is no answer, answered a = %q, %v, want no", got, err)
	}
}
