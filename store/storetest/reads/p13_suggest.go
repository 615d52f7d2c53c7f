package reads

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// anyWord checks that a term can be any of several words, and must then be none of them
// if it is excluded.
func anyWord(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("a kettle"), fixture.User("a pot boils"), fixture.User("parseConfigFile"), fixture.User("a pan"))
	var many []string
	for range 1500 {
		many = append(many, "none"+strings.Repeat("x", len(many)%80))
	}
	for want, terms := range map[string][]skein.Term{
		"2 3":   {{Words: []string{"kettle", "pot"}, Any: true}},
		"3":     {{Words: []string{"kettle", "pot"}, Any: true}, {Words: []string{"boils"}}},
		"5":     {{Words: []string{"a"}}, {Words: []string{"kettle", "pot"}, Any: true, Not: true}},
		"2 3 5": {{Words: []string{"ket", "po", "pa"}, Any: true, Prefix: true}, {Words: []string{"a"}}},
		"2 4":   {{Words: append([]string{"ConfigFile", "kettle"}, many...), Any: true}},
	} {
		r, err := t.Store.Search(t.Context(), skein.Query{Terms: terms, Each: true, Newest: true, Deadline: harness.Patience})
		t.NoErr("Search", err)
		var got []string
		for _, h := range r.Hits {
			got = append(got, fmt.Sprint(h.Seq))
		}
		slices.Sort(got)
		if g := strings.Join(got, " "); g != want {
			t.Errorf("the search that should find %s finds %s", want, g)
		}
	}
}

// suggestions checks what is suggested for words that no message has.
func suggestions(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("the kettle is on the stove"), fixture.User("boil, settle down"), fixture.User("Über den Wolken, naïve"), fixture.User("stove, stove and a store"))
	for typed, want := range map[string]string{
		"kettel":            "kettle",
		"Kettel -stove":     "", // the corrected query finds nothing: both are in one message
		"ketle":             "kettle",
		"kkettle":           "kettle",
		"kettle":            "",
		"kettel stvoe":      "kettle stove",
		"kettel xylophone":  "",
		"kettel role:user":  "kettle role:user",
		"kettel role:tool":  "",
		"wolkne":            "wolken",
		`"kettel stove"`:    "",
		"-kettel role:user": "",
		"kettel*":           "",
		"onn":               "",
		"st0ve":             "",
	} {
		q, err := search.Parse(typed)
		t.NoErr("Parse", err)
		if got, err := search.Suggest(t.Context(), t.Store, typed, q); got != want || err != nil {
			t.Errorf("Suggest(%s) = %q, %v, want %q", typed, got, err, want)
		}
	}
}
