package refine

import (
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// A QueryPart is a part of a query, with what it means.
type QueryPart struct {
	Text    string // as it was typed
	Means   string // for people
	Without string // the query without it
	Wrong   bool   // it cannot be searched for
}

// Chips returns the parts of a query. Times are in now's zone.
func Chips(query string, now time.Time) (all []QueryPart) {
	items := search.Items(query, now)
	for i, one := range items {
		var others []string
		for k, other := range items {
			if k != i {
				others = append(others, other.Text)
			}
		}
		c := QueryPart{Text: one.Text, Without: strings.Join(others, " "), Wrong: one.Err != nil}
		if c.Means = meaning(&one, now); c.Wrong {
			c.Means = skein.Reason(one.Err)
		}
		all = append(all, c)
	}
	return all
}

// meaning says what is searched for.
func meaning(i *search.QueryItem, now time.Time) string {
	at := func(t skein.Time) string { return t.Std().In(now.Location()).Format("Jan 2, 2006, 15:04") }
	switch i.Field {
	case "":
		return termMeaning(i.Term)
	case "tool":
		return "calls and results of the tool " + i.Value
	case "status":
		return "errors only"
	case "file":
		return "messages whose tools name a path with " + i.Value
	case "role":
		return "said by: " + i.Value
	case "agent":
		return "sessions of the agent " + i.Value
	case "project":
		return "sessions of the project " + i.Value
	case "session":
		return "only the session " + i.Value
	case "since":
		return "from " + at(i.Since) + " on"
	case "until":
		return "before " + at(i.Until)
	case "rewound":
		if i.Value == "yes" {
			return "also what was taken back"
		}
		return "not what was taken back"
	}
	return ""
}

func termMeaning(t skein.Term) (means string) {
	words := strings.Join(t.Words, " ")
	switch {
	case len(t.Words) == 0:
		return "left out: it has no letter and no digit"
	case t.Prefix && len(t.Words) == 1:
		means = "words that begin with " + words
	case t.Prefix:
		means = "phrases that begin with “" + words + "”"
	case len(t.Words) > 1:
		means = "the phrase “" + words + "”"
	default:
		means = "the word " + words
	}
	if t.Not {
		return "messages without " + strings.TrimPrefix(means, "the word ")
	}
	return means
}
