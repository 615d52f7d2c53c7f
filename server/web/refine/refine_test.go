package refine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/web/refine"
)

var now = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

func TestChipsSayWhatAQueryMeans(t *testing.T) {
	for query, want := range map[string]string{
		"":                          "",
		"migration":                 "the word migration ()",
		`"fork pointer" -draft`:     `the phrase “fork pointer” (-draft); messages without draft ("fork pointer")`,
		"snap* tool:bash":           "words that begin with snap (tool:bash); calls and results of the tool bash (snap*)",
		"bug since:2026-11-20":      "the word bug (since:2026-11-20); from Nov 20, 2026, 00:00 on (bug)",
		"bug until:2026-11-20":      "the word bug (until:2026-11-20); before Nov 21, 2026, 00:00 (bug)",
		"role:nobody bug":           "WRONG invalid role:nobody: roles are user, assistant, tool, system and steer (bug); the word bug (role:nobody)",
		"bug :-)":                   "the word bug (:-)); left out: it has no letter and no digit (bug)",
		"-agent:codex status:error": "WRONG invalid -agent:codex: only words and phrases can be left out (status:error); errors only (-agent:codex)",
	} {
		var got []string
		for _, c := range refine.Chips(query, now) {
			s := c.Means + " (" + c.Without + ")"
			if c.Wrong {
				s = "WRONG " + s
			}
			got = append(got, s)
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("Chips(%q) mean\n%s\nwant\n%s", query, s, want)
		}
	}
}
