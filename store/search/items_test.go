package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/store/search"
)

func TestTheItemsOfAQuery(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"":                              "",
		"fork pointer":                  "fork [fork] | pointer [pointer]",
		`“fork pointer” snap* -draft`:   `"fork pointer" [fork pointer] | snap* [snap]* | -draft -[draft]`,
		`agent:codex project:"my app"`:  `agent:codex agent=codex | project:"my app" project=my app`,
		"since:2026-11-20 -- until:1d":  "since:2026-11-20 since=2026-11-20 from 2026-11-20T00:00:00.000Z | -- [] | until:1d until=1d to 2026-11-20T14:30:00.000Z",
		"role:nobody role:user foo.bar": "role:nobody role=nobody wrong | role:user role=user wrong | foo.bar [foo bar]",
		"agnt:codex":                    "agnt:codex [agnt codex]",
	} {
		var got []string
		for _, i := range search.Items(text, now) {
			s := i.Text + " "
			switch {
			case i.Field != "":
				s += i.Field + "=" + i.Value
			case i.Term.Not:
				s += "-"
				fallthrough
			default:
				s += fmt.Sprint(i.Term.Words)
			}
			if i.Term.Prefix {
				s += "*"
			}
			if i.Since != 0 {
				s += " from " + i.Since.String()
			}
			if i.Until != 0 {
				s += " to " + i.Until.String()
			}
			if i.Err != nil {
				s += " wrong"
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " | "); s != want {
			t.Errorf("Items(%q) is\n%s\nwant\n%s", text, s, want)
		}
	}
}
