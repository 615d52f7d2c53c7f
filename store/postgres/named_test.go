package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// titledAs appends sessions with titles; their IDs are t0, t1, …
func titledAs(t *testing.T, s skein.Store, titles ...string) {
	t.Helper()
	for i, title := range titles {
		addEvents(t, s, skein.SessionID(fmt.Sprint("t", i)), skein.NewEvent(skein.KindCreated, skein.Time(i+1), skein.Created{Title: title}), skein.Say(skein.Time(i+1), skein.UserSays("first words")))
	}
}

func addEvents(t *testing.T, s skein.Store, id skein.SessionID, evs ...skein.Event) {
	t.Helper()
	if _, err := skein.Add(t.Context(), s, id, evs...); err != nil {
		t.Fatal(err)
	}
}

// listed returns the IDs of the sessions of f, in their order.
func listed(t *testing.T, s skein.Store, f skein.Filter) (ids []skein.SessionID) {
	t.Helper()
	for x, err := range s.Sessions(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, x.ID)
	}
	return ids
}

// A title is found whatever its characters, only by its current text, and whether few
// or many sessions have it.
func TestTitlesAreFound(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	ann, bob := s.As("ann"), s.As("bob")
	titledAs(t, ann, "Fix the Parser", "ÉTÉ à Zürich", "100% of a_b\\c", "nul \x00 byte", "\xff end", "K\u212a")
	addEvents(t, bob, "other", skein.NewEvent(skein.KindCreated, 9, skein.Created{Title: "fix the parser of bob"}), skein.Say(9, skein.UserSays("x")))
	many := make([]string, mostNamed+3)
	for i := range many {
		id := skein.SessionID(fmt.Sprintf("m%03d", i))
		addEvents(t, ann, id, skein.NewEvent(skein.KindCreated, 1000, skein.Created{}), skein.Say(skein.Time(2000+i), skein.UserSays("Many of a Kind")))
		many[i] = string(id)
	}
	slices.Reverse(many)
	for title, want := range map[string]string{
		"fix the PARSER": "t0", "x the p": "t0", "été": "t1", "ZÜRICH": "t1", "100% of": "t2", "A_B\\": "t2", "a%b": "", "nul \x00": "t3", "\xff E": "t4", "kk": "t5",
		"first words": "", "many of a kind": strings.Join(many, " "),
	} {
		ids := listed(t, ann, skein.Filter{Title: title})
		if got := strings.Trim(fmt.Sprint(ids), "[]"); got != want {
			t.Errorf("Sessions with the title %q: %.80s, want %.80s", title, got, want)
		}
	}
	if got := listed(t, ann, skein.Filter{Title: "kind", Limit: 2}); len(got) != 2 || string(got[0]) != many[0] {
		t.Errorf("the newest two of many: %s, want %s", got, many[:2])
	}
	if got := listed(t, s, skein.Filter{Title: "fix the parser"}); len(got) != 2 {
		t.Errorf("everybody's sessions with the title: %s, want other and t0", got)
	}
	if got := listed(t, s, skein.Filter{Title: "fix the parser", User: "bob"}); len(got) != 1 {
		t.Errorf("bob's sessions with the title, by everybody's view: %s, want other", got)
	}
	addEvents(t, ann, "t0", skein.NewEvent(skein.KindTitled, 20, skein.Titled{Title: "Mend the Lexer", By: skein.ByPerson}))
	if got := listed(t, ann, skein.Filter{Title: "parser"}); len(got) != 0 {
		t.Errorf("Sessions with the old title: %s, want none", got)
	}
	if got := listed(t, ann, skein.Filter{Title: "lexer"}); len(got) != 1 {
		t.Errorf("Sessions with the new title: %s, want t0", got)
	}
	if _, err := skein.LifecycleOf(ann).Delete(t.Context(), "t0", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, `SELECT count(*) FROM names WHERE name LIKE '%lexer%'`); n != 0 {
		t.Errorf("%d names are left of a deleted session, want 0", n)
	}
}

// Titles are looked up by the index, and only the user's.
func TestTitlesGoByTheIndexAndTheUser(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	s.sql(t, `INSERT INTO names (user_id, n, name) SELECT CASE WHEN i % 2 = 0 THEN 'ann' ELSE 'bob' END, i, 'some words ' || i FROM generate_series(1, 20000) i`)
	owner, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if _, err := owner.Exec(t.Context(), `VACUUM ANALYZE names`); err != nil {
		t.Fatal(err)
	}
	plan := plans(t, dsn, "ann", `SELECT * FROM named('ann', '%words 7776%', 500)`)
	if !strings.Contains(plan, "Bitmap Index Scan on names_by_trigrams") || !strings.Contains(plan, "Index Cond: ((user_id = 'ann'::text) AND (name ~~ ") || strings.Contains(plan, "Seq Scan") {
		t.Errorf("named has the plan\n%s\nwant names_by_trigrams with user and name", plan)
	}
	ann := (&view{core: s.core, user: "ann"}).store()
	for _, who := range []string{"'bob'", "NULL"} {
		err := ann.ask(t.Context(), `SELECT * FROM named(`+who+`, '%', 10)`, nil, func(wire.Row) error { return nil })
		if sqlstate.Of(err) != sqlstate.NoPermission {
			t.Errorf("named for %s as ann: error %v, want none of another user's rows", who, err)
		}
	}
}
