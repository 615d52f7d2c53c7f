package postgres

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const secret = "sk-4711-secret"

// traces returns where a text occurs in the tables.
func (s *Store) traces(t testing.TB, text string) (in []string) {
	t.Helper()
	for _, c := range []string{"events.payload", "sessions.state", "scrubs.secrets", "files.state"} {
		table, column, _ := strings.Cut(c, ".")
		s.askIf(t, `SELECT EXISTS (SELECT FROM `+table+` WHERE position(convert_to($1, 'UTF8') IN `+column+`) > 0)`, text, c, &in)
	}
	for _, c := range []string{"sessions.project", "usage.project", "events.agent", "charges.request", "events.message", "events.tools", "events.paths", "found.text"} {
		table, column, _ := strings.Cut(c, ".")
		s.askIf(t, `SELECT EXISTS (SELECT FROM `+table+` WHERE position($1 IN `+column+`) > 0)`, text, c, &in)
	}
	s.askIf(t, `SELECT EXISTS (SELECT FROM names WHERE position(lower($1) IN name) > 0)`, text, "names.name", &in)
	s.askIf(t, `SELECT EXISTS (SELECT FROM found WHERE words @@ plainto_tsquery('simple', $1))`, "4711", "found.words", &in)
	return in
}

func (s *Store) askIf(t testing.TB, sql, text, what string, in *[]string) {
	t.Helper()
	err := (&view{core: s.core}).ask(t.Context(), sql, []any{text}, func(r wire.Row) error {
		var is bool
		if err := r.Scan(&is); is {
			*in = append(*in, what)
		} else if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// secretive appends a session with a secret in each of n messages, in its title
// and in its source records.
func secretive(t testing.TB, s skein.Store, id skein.SessionID, n int) {
	t.Helper()
	b := skein.Batch{
		Session: id,
		Events:  []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{Title: "about " + secret, Project: "/" + secret})},
		Import:  &skein.Import{File: skein.SourceFile{Format: "codex", Path: "/x/" + string(id), Session: id, State: []byte(secret)}},
	}
	for i := range n {
		call := &skein.Call{ID: fmt.Sprint("c", i), Name: "tool-" + secret, Input: []byte(`{"path":"/` + secret + `"}`)}
		m := skein.Message{
			ID: fmt.Sprint(secret, i), Role: skein.RoleAssistant, Agent: "agent " + secret, Request: fmt.Sprint("r", i, secret), Usage: &skein.Usage{Output: 1},
			Parts: []skein.Part{skein.TextPart(fmt.Sprint("it is ", secret, " ", i)), {Kind: skein.PartCall, Call: call}},
		}
		b.Events = append(b.Events, skein.Say(noon, m))
		b.Import.Records = append(b.Import.Records, skein.Record{N: i, Raw: []byte("line " + secret)})
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func TestScrubLeavesNoTraceInTheTables(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	const n = 250
	secretive(t, s, "a", n)
	fork(t, s, "f", "a", 100)
	all.caughtUp(t)
	if in := all.traces(t, secret); len(in) < 9 {
		t.Fatalf("the secret is only in %v", in)
	}
	done, err := s.Scrub(t.Context(), "a", []string{secret})
	if err != nil || done.Events != n+1 || done.Records != n || len(done.Forks) != 1 || len(done.Beyond) == 0 {
		t.Errorf("Scrub = %+v, %v, want %d events, %d records, the fork f and what it cannot reach", done, err, n+1, n)
	}
	if in := all.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
	for r, err := range s.Records(t.Context(), "codex", "/x/a", 0) {
		if err != nil || strings.Contains(string(r.Raw), secret) {
			t.Fatalf("record %d is %q, %v", r.N, r.Raw, err)
		}
	}
	fine(t, all)
}

// A process dies during a scrub; another one finishes the scrub, once the first seems
// to be dead, and not before.
func TestScrubIsFinishedByTheNextProcess(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	ctx := t.Context()
	secretive(t, s, "a", 20)
	all.caughtUp(t)
	h, err := s.headOf(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	sc := scrubOf(t, s.view, h, secret)
	if err := errors.Join(sc.look(ctx), sc.mark(ctx, []string{secret}), sc.changeSome(ctx, h.n, []int64{2, 3})); err != nil {
		t.Fatal(err)
	}
	if was, err := all.resumeScrub(ctx); was || err != nil {
		t.Errorf("resumeScrub = %v, %v of one that is under way", was, err)
	}
	all.sql(t, `UPDATE scrubs SET alive = alive - interval '2 minutes'`)
	if was, err := all.resumeScrub(ctx); !was || err != nil {
		t.Errorf("resumeScrub = %v, %v, want it done", was, err)
	}
	if in := all.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
	if err := sc.step(ctx, func(*tx) error { return nil }); !errors.Is(err, errScrubbed) {
		t.Errorf("a step of who seemed to be dead = %v, want that it was done", err)
	}
	sess, err := s.Session(ctx, "a")
	last := events(t, s, "a")[sess.Last-1]
	if err != nil || sess.Revision != 1 || last.Kind != skein.KindNoted {
		t.Errorf("Session = %+v, %v, last event %+v, want revision 1 and what was noted", sess, err, last)
	}
	all.sql(t, `INSERT INTO scrubs (user_id, id, secrets, alive) VALUES ('ann', 'nobody', '["secret"]', now() - interval '1 hour')`)
	if was, err := all.resumeScrub(ctx); !was || err != nil {
		t.Errorf("resumeScrub of a session that is gone = %v, %v", was, err)
	}
	if n := all.rows(t)["scrubs"]; n != 0 {
		t.Errorf("there are %d scrubs, want none", n)
	}
}

// A process dies when it has changed all events, but not yet the rows of forks.
func TestScrubThatIsFinishedReachesForksOfWhatWasChanged(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	ctx := t.Context()
	secretive(t, s, "a", 3)
	fork(t, s, "f", "a", 2)
	fork(t, s, "g", "f", 2)
	h, err := s.headOf(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	sc := scrubOf(t, s.view, h, secret)
	if err := errors.Join(sc.look(ctx), sc.mark(ctx, []string{secret}), sc.change(ctx)); err != nil {
		t.Fatal(err)
	}
	all.sql(t, `UPDATE scrubs SET alive = alive - interval '2 minutes'`)
	if was, err := all.resumeScrub(ctx); !was || err != nil {
		t.Errorf("resumeScrub = %v, %v, want it done", was, err)
	}
	if in := all.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
}

// A fork made during a scrub takes texts from the session's row, which is changed last.
func TestScrubReachesForksThatAreMadeMeanwhile(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	ctx := t.Context()
	prompt := func(text string) skein.Event { return skein.Say(noon, skein.UserSays(text)) }
	add := func(id skein.SessionID, evs ...skein.Event) {
		t.Helper()
		if _, err := skein.Add(ctx, s, id, evs...); err != nil {
			t.Fatal(err)
		}
	}
	add("a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Project: "/" + secret}), prompt("my key is "+secret), prompt("and now?"))
	h, err := s.headOf(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	sc := scrubOf(t, s.view, h, secret)
	if err := errors.Join(sc.look(ctx), sc.mark(ctx, []string{secret}), sc.change(ctx), sc.showing(ctx)); err != nil {
		t.Fatal(err)
	}
	fork(t, s, "f", "a", 3)
	fork(t, s, "g", "f", 3)
	if err := errors.Join(sc.files(ctx), sc.refoldAll(ctx)); err != nil {
		t.Fatal(err)
	}
	if in := all.traces(t, secret); !slices.Equal(in, []string{"scrubs.secrets"}) {
		t.Errorf("the secret is in %v, want only in what is to be done", in)
	}
	if forks := sc.Done.Forks; !slices.Equal(forks, []skein.SessionID{"f", "g"}) {
		t.Errorf("Scrub of a says that it has reached %v, want f and g", forks)
	}
}

// Others append during a scrub; the session's projection is right afterward.
func TestScrubWhileOthersAppend(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	ctx := t.Context()
	secretive(t, s, "a", 150)
	done := make(chan error)
	go func() {
		_, err := s.Scrub(ctx, "a", []string{secret})
		done <- err
	}()
	for i := 0; ; i++ {
		if _, err := skein.Add(ctx, s, "a", skein.Say(noon, skein.UserSays(fmt.Sprint("more ", i)))); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		default:
			continue
		}
		break
	}
	if in := all.traces(t, secret); len(in) > 0 {
		t.Errorf("the secret is in %v", in)
	}
	evs := events(t, s, "a")
	want, err := skein.Fold("a", evs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Session(ctx, "a")
	if err != nil || got.Messages != want.Messages || got.LastPrompt != want.LastPrompt || got.Title != want.Title || got.Last != want.Last {
		t.Errorf("Session = %+v, %v, want %+v", got, err, want)
	}
	fine(t, all)
}

// A fork takes its parent's texts as they were read. They must not have changed when it
// is written, even if the call repeats what the parent has.
func TestForkIsWrittenOnlyOfWhatItsParentStillIs(t *testing.T) {
	s := opened(t)
	ctx := t.Context()
	first := skein.Say(noon, skein.UserSays("hello"))
	first.ClientID = "c1"
	if _, err := skein.Add(ctx, s, "a", skein.NewEvent(skein.KindCreated, noon, skein.Created{}), first); err != nil {
		t.Fatal(err)
	}
	h, err := s.headOf(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	created := skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 2, Why: skein.Fork}})
	for name, batches := range map[string][]skein.Batch{
		"a fork":                 {{Session: "f", Events: []skein.Event{created}}},
		"a fork, and what a has": {{Session: "a", Events: []skein.Event{first}}, {Session: "f", Events: []skein.Event{created}}},
	} {
		j := &job{ctx: ctx}
		for _, b := range batches {
			p, err := s.packBatch(b)
			if err != nil {
				t.Fatal(err)
			}
			j.batches = append(j.batches, p)
		}
		err := s.tryWrite(ctx, func(t *tx) error {
			w := newWork(s.view)
			w.tx, w.looked = t, true
			if err := w.look([]*job{j}); err != nil {
				return err
			}
			if _, err := w.job(j); err != nil {
				return err
			}
			err := s.write(ctx, func(other *tx) error { return other.touch(&h) })
			return errors.Join(err, w.finish())
		})
		if !wire.Again(err) {
			t.Errorf("%s: written when its parent was changed: %v, want that it is tried again", name, err)
		}
	}
}

func scrubOf(t *testing.T, s *view, h head, secret string) *scrub {
	t.Helper()
	m, err := erase.NewMasker([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	return newScrub(s, m, h)
}
