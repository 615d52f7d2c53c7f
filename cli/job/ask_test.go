package job

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/config"
)

func TestAQuestionTakesOnlyAClearYes(t *testing.T) {
	for typed, want := range map[string]Decision{
		"y\n": Yes, "YES\r\n": Yes, "a\n": Always, "always": Always, "n\n": No, "\n": No, "": No, "yep\n": No,
	} {
		env := &config.Env{}
		var out bytes.Buffer
		env.Stdin, env.Stderr = strings.NewReader(typed+"the next line\n"), &out
		if !strings.HasSuffix(typed, "\n") {
			env.Stdin = strings.NewReader(typed)
		}
		j := &Job{Env: env}
		got, err := j.Ask(t.Context(), Question{Text: "Run \x1b[31mrm\x1b[0m?", Always: "here"})
		if err != nil || got != want || strings.Contains(out.String(), "\x1b") {
			t.Errorf("ask, answered %q = %q, %v, shown as %q; want %q, without control characters", typed, got, err, out.String(), want)
		}
		if rest, err := readLine(env.Stdin); err != nil || strings.HasSuffix(typed, "\n") && rest != "the next line" {
			t.Errorf("after %q the next line is %q, %v", typed, rest, err)
		}
	}
	env := &config.Env{}
	env.Stdin, env.Stderr = strings.NewReader("a\n"), &bytes.Buffer{}
	if got, err := (&Job{Env: env}).Ask(t.Context(), Question{Text: "Sure?"}); err != nil || got != No {
		t.Errorf("ask where always is no answer, answered a = %q, %v, want no", got, err)
	}
}
