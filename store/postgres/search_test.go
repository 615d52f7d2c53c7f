package postgres

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

func openTest(t testing.TB, dsn string) *Store {
	t.Helper()
	s, err := Open(context.Background(), dsn, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func addText(t testing.TB, s skein.Store, id skein.SessionID, texts ...string) {
	t.Helper()
	b := skein.Batch{Session: id}
	if _, err := s.Session(context.Background(), id); err != nil {
		b.Events = append(b.Events, skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "test"}))
	}
	for _, text := range texts {
		b.Events = append(b.Events, skein.Say(2, skein.UserSays(text)))
	}
	if _, err := s.Append(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

func finds(t testing.TB, s skein.Store, text string) skein.Results {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Each, q.Deadline = true, 20*time.Second // the race detector is slow
	r, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", text, err)
	}
	return r
}

// number returns the number that a query gives.
func (s *Store) number(t testing.TB, query string, args ...any) (n int64) {
	t.Helper()
	err := s.ask(context.Background(), query, args, func(r wire.Row) error { return r.Scan(&n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// until calls f again and again, for a while, until it returns true.
func until(t testing.TB, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(5 * time.Minute); !f(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("after 5 minutes still not: %s", what)
		}
	}
}

func (s *Store) lag(t testing.TB) inspect.Lag {
	t.Helper()
	l, err := s.Lag(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A committed event is found while the index cannot be built, and by another process.
func TestSearchFindsWhatIsNotIndexedYet(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	addText(t, s, "a", "the kettle sings", "nothing here")
	until(t, "the index has all", func() bool { return s.lag(t).Events == 0 })
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- other.write(context.Background(), func(x *tx) error {
			err := x.lockIndex()
			close(held)
			<-free
			return err
		})
	}()
	<-held
	addText(t, s, "b", "a second kettle")
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindAmended, 3, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("a pot"))})}}); err != nil {
		t.Fatal(err)
	}
	r, pots, l := finds(t, s, "kettle"), finds(t, other, "pot"), s.lag(t)
	close(free)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 1 || r.Hits[0].Session != "b" || r.CutOff {
		t.Errorf("Search(kettle) yields %+v while the index cannot be fed, want the one in b", r)
	}
	if len(pots.Hits) != 1 || pots.Hits[0].Session != "a" || pots.Hits[0].Seq != 2 {
		t.Errorf("Search(pot) yields %+v while the index cannot be fed, want the one in a at 2", pots)
	}
	if l.Events != 3 || l.Since == 0 {
		t.Errorf("Lag = %+v while the index cannot be fed, want 3 events", l)
	}
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	if n := s.number(t, `SELECT count(*) FROM found`); n != 4 {
		t.Errorf("the index has %d rows, want 4", n)
	}
}

// The index catches up by itself, in steps that may end within one append.
func TestIndexCatchesUp(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	texts := make([]string, 3*feedRows+7)
	for i := range texts {
		texts[i] = fmt.Sprintf("message %d about looms", i)
	}
	addText(t, s, "a", texts...)
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	if n := s.number(t, `SELECT count(*) FROM found WHERE words @@ '''loom'''`); n != int64(len(texts)) {
		t.Errorf("the index has %d messages, want %d", n, len(texts))
	}
}

// A closed store leaves nothing for others to index.
func TestCloseFeedsTheIndex(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a", "the last word")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if l := openTest(t, dsn).lag(t); l != (inspect.Lag{}) {
		t.Errorf("Lag = %+v after Close, want none", l)
	}
}

// At close, older transactions may still run, whose events would come first.
func TestCloseWaitsForOlderTransactions(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a", "some words")
	older, err := pgx.Connect(t.Context(), pgtest.As(t, dsn, "skein_all"))
	if err != nil {
		t.Fatal(err)
	}
	defer older.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if _, err := older.Exec(t.Context(), `BEGIN; `+lockJournal+`; SELECT pg_current_xact_id()`); err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "the last word")
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	if _, err := older.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if l := openTest(t, dsn).lag(t); l != (inspect.Lag{}) {
		t.Errorf("Lag = %+v after Close, want none", l)
	}
}

// Another process indexes what a process that died left.
func TestAnotherProcessFeedsTheIndex(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	s.index = &indexer{all: s.index.all, wake: make(chan struct{}, 1), done: s.index.done} // it never runs
	addText(t, s, "a", "left behind")
	other := openTest(t, dsn)
	until(t, "the index has all", func() bool { return other.lag(t) == inspect.Lag{} })
}

// A text that the server refuses does not stop indexing: every search checks it.
func TestIndexGetsPastWhatTheServerRefuses(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	if _, err := s.index.try(t.Context(), 1, func(*journaled) (foundRow, bool) { return foundRow{}, false }); err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "an awkward text", "and a good one")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	err := s.write(t.Context(), func(x *tx) error {
		_, err := x.Exec(`UPDATE found SET words = $1 WHERE text LIKE '%awkward%'`, lexemes.Bare())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := finds(t, s, "awkward"); len(r.Hits) != 1 {
		t.Errorf("Search(awkward) yields %+v, want the text", r)
	}
	if r := finds(t, s, "good"); len(r.Hits) != 1 {
		t.Errorf("Search(good) yields %+v, want one", r)
	}
	if r := finds(t, s, "awkward -text"); len(r.Hits) != 0 {
		t.Errorf("Search(awkward -text) yields %+v, want none", r)
	}
}

func TestLongTextsAreFoundByPhraseAndToTheirEnd(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	var long, huge strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "word%d ", i%500)
	}
	for i := range 150_000 {
		fmt.Fprintf(&huge, "word%d ", i)
	}
	addText(t, s, "long", long.String()+"the red fox sleeps", "red and fox", "a red fox")
	addText(t, s, "huge", huge.String()+"the blue fox sleeps")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	for query, want := range map[string]int{
		`"red fox"`:       2,
		`"fox red"`:       0,
		`"red fox sl"*`:   1,
		`red -"red fox"`:  1,
		`word7 "red fox"`: 1,
		`"blue fox"`:      1,
		`blue sleeps`:     1,
		`word149999 blue`: 1,
		`word149999 red`:  0,
		`red`:             3,
	} {
		if r := finds(t, s, query); len(r.Hits) != want || r.CutOff {
			t.Errorf("Search(%s) yields %d hits (cut off %v), want %d", query, len(r.Hits), r.CutOff, want)
		}
	}
}

func TestStemsAreFoundAndShown(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	addText(t, s, "a", "we have configured all parsers", "nothing")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	r := finds(t, s, "configuring parser")
	if len(r.Hits) != 1 || r.Hits[0].Snippet != "we have "+skein.Mark+"configured"+skein.EndMark+" all "+skein.Mark+"parsers"+skein.EndMark {
		t.Errorf("Search(configuring parser) yields %+v, want the text with configured and parsers marked", r.Hits)
	}
}

// Two letters beyond ASCII equal K and S if case is ignored, but not in folded words.
func TestSubstringsFindOddLetters(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	addText(t, s, "a", "a ta\u017fk", "a tas\u212a", "a TASK", "a tusk")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	for _, q := range []skein.Query{{Substring: "task"}, {Regex: "(?i)task"}} {
		q.Each, q.Deadline = true, 20*time.Second
		r, err := s.Search(t.Context(), q)
		if err != nil || len(r.Hits) != 3 {
			t.Errorf("Search(%+v) yields %d hits, error %v, want 3", q, len(r.Hits), err)
		}
	}
}

// What is not indexed yet is found whatever the database's bytea_output.
func TestWhatIsNotIndexedIsFoundInAnyNotation(t *testing.T) {
	dsn := pgtest.DSN(t)
	name := dsn[strings.LastIndex(dsn, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+name+` SET bytea_output = 'escape'`)
	s := openTest(t, dsn)
	begun(t, dsn, fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d, %d)`, indexLockClass, indexLockKey))
	addText(t, s, "a", `Łódź and C:\temp`)
	for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{"łódź"}}}}, {Substring: `c:\temp`}} {
		q.Deadline = 20 * time.Second
		if r, err := s.Search(t.Context(), q); err != nil || len(r.Hits) != 1 {
			t.Errorf("Search(%+v) yields %d hits, error %v, want 1", q, len(r.Hits), err)
		}
	}
}

// A word that is everywhere does not delay the answer: it has the newest hits, and says
// that it was cut off.
func TestSearchIsCutOffAtTheDeadline(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	texts := make([]string, 3000)
	for i := range texts {
		texts[i] = fmt.Sprintf("common %d", i)
	}
	addText(t, s, "a", texts...)
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	q := skein.Query{Terms: []skein.Term{{Words: []string{"common"}}}, Each: true, Deadline: time.Nanosecond}
	r, err := s.Search(t.Context(), q)
	if err != nil || !r.CutOff {
		t.Errorf("Search after its deadline: cut off %v, error %v, want true, nil", r.CutOff, err)
	}
}

// Words that occur in many of the newest messages, and in few older ones, are found in
// all of them.
func TestSearchFindsOldPlacesOfWhatIsFrequentNow(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	texts := slices.Concat(slices.Repeat([]string{"a loom of old"}, 5), slices.Repeat([]string{"x"}, 20_000), slices.Repeat([]string{"the loom"}, 30))
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for i, text := range texts {
		evs = append(evs, skein.Say(skein.Time(i+2), skein.UserSays(text)))
	}
	if _, err := skein.Add(t.Context(), s, "a", evs...); err != nil {
		t.Fatal(err)
	}
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	q := skein.Query{Terms: []skein.Term{{Words: []string{"loom"}}}, Each: true, Limit: 100}
	for _, v := range []skein.Store{s, s.As(skein.Local)} {
		if r, err := v.Search(t.Context(), q); err != nil || len(r.Hits) != 35 || r.CutOff {
			t.Errorf("Search gives %d hits, cut off %v, error %v; want %d, all there is", len(r.Hits), r.CutOff, err, 35)
		}
	}
}

// plans runs a query of a function as a user, or "" for all users, and returns the
// plans of the statements in it.
func plans(t *testing.T, dsn, user, query string) string {
	t.Helper()
	admin, err := url.Parse(pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin.Path = "/" + cfg.Database
	if cfg, err = pgx.ParseConfig(admin.String()); err != nil {
		t.Fatal(err)
	}
	role := wire.RoleOf(skein.User(user))
	var said strings.Builder
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { fmt.Fprintln(&said, n.Message) }
	c, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	for _, sql := range []string{
		`LOAD 'auto_explain'`, `SET auto_explain.log_min_duration = 0`, `SET auto_explain.log_nested_statements = on`,
		`SET auto_explain.log_level = notice`, `SELECT set_config('skein.user', '` + user + `', false)`, `SET ROLE ` + role,
	} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Exec(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

// The one function finds rows by an index, and only the user's.
func TestFindGoesByTheIndexAndTheUser(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	err := (&view{core: s.core}).write(t.Context(), func(x *tx) error {
		_, err := x.Exec(`INSERT INTO found (user_id, n, seq, at, role, failed, odd, text, words)
			SELECT u, n, seq, seq, 'user', false, false, w, to_tsvector('simple', w) FROM unnest(ARRAY['ann', 'bob', 'c', 'd', 'e', 'f', 'g', 'h']) u, generate_series(1, 20) n, generate_series(1, 200) seq,
				LATERAL (SELECT 'common rare' || n * seq || ' word' || seq % 50 AS w) x`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if _, err := owner.Exec(t.Context(), `VACUUM ANALYZE found`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, call, index, cond string }{
		{"words", `'ann', '''rare77''', '''/huge''', false, '', false, 0, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_by_words", "Index Cond: ((user_id = 'ann'::text) AND (words @@ "},
		{"pieces", `'ann', '''rare77'' | ''/huge''', NULL, true, '', false, 0, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_by_words", "Index Cond: ((user_id = 'ann'::text) AND (words @@ "},
		{"everybody's words", `NULL, '''rare77''', '''/huge''', false, '', false, 0, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_by_words", "Index Cond: (words @@ "},
		{"everybody's words that are nowhere", `NULL, '''nowhere''', '''/huge''', false, '', false, -9223372036854775808, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_by_words", "Index Cond: (words @@ "},
		{"everybody's newest", `NULL, '''common''', '''/huge''', false, '', false, 190, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_", "Index Cond: (at >= "},
		{"newest", `'ann', '''common''', '''/huge''', false, '', false, 190, NULL, false, NULL, 10, 40`, "Bitmap Index Scan on found_", "Index Cond: ("},
	} {
		user := "ann"
		if strings.HasPrefix(c.call, "NULL") {
			user = ""
		}
		plan := plans(t, dsn, user, `SELECT * FROM find(`+c.call+`)`)
		if !strings.Contains(plan, c.index) || !strings.Contains(plan, c.cond) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("find by %s has the plan\n%s\nwant %s with %s", c.name, plan, c.index, c.cond)
		}
	}
	ann := (&view{core: s.core, user: "ann"}).store()
	if n := ann.number(t, `SELECT count(*) FROM find('ann', '''word7''', '''/huge''', false, '', false, 0, NULL, false, NULL, 1000, 4000) WHERE user_id = 'ann'`); n != 80 {
		t.Errorf("find finds %d rows of ann's, want 80", n)
	}
	for _, who := range []string{"'bob'", "NULL"} {
		err := ann.ask(t.Context(), `SELECT * FROM find(`+who+`, '''word7''', '''/huge''', false, '', false, 0, NULL, false, NULL, 1000, 4000)`, nil, func(wire.Row) error { return nil })
		if sqlstate.Of(err) != sqlstate.NoPermission {
			t.Errorf("find for %s as ann: error %v, want none of another user's rows", who, err)
		}
	}
}

// Texts with a substring come newest first, whatever else the index knows of them.
func TestPiecesAreFoundNewestFirst(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	addText(t, s, "a", "the words, number words words", "these words, number two", "no word of it", "these words, number three")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	for _, q := range []skein.Query{{Substring: "e words, num"}, {Substring: " words"}, {Regex: " words,"}} {
		q.Each, q.Deadline = true, 20*time.Second
		r, err := s.Search(t.Context(), q)
		if err != nil || !slices.IsSortedFunc(r.Hits, func(a, b skein.Hit) int { return int(b.Seq) - int(a.Seq) }) || len(r.Hits) == 0 {
			t.Errorf("Search(%+v) yields %+v, %v, want the newest first", q, r.Hits, err)
		}
	}
}
