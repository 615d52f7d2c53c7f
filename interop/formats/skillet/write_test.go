package skillet

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/watch"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata", Lacks: []string{"a system prompt", "a message that failed", "a fork's parent", "a child's parent", "a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "a recorded cost", "what a message used", "what a cache keeps for an hour", "a service tier", "a title", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "reasoning", "steering", "what it used", "a change of folder"}, Recorded: true, Tables: []string{tableName}})
}

func TestSamples(t *testing.T) {
	dir := os.Getenv("SKEIN_SAMPLES")
	if dir == "" {
		t.Skip("SKEIN_SAMPLES is not set: no real sessions to read")
	}
	s := newState(t)
	root := filepath.Join(s.dir, "state")
	if err := os.CopyFS(root, os.DirFS(filepath.Join(dir, "skillet", "state"))); err != nil {
		t.Fatal(err)
	}
	rep := s.bring()
	if rep.Sessions != 3 || rep.Damaged != 0 || rep.Skipped != 0 {
		t.Fatalf("Import = %+v, want 3 sessions", rep)
	}
	if again := s.bring(); again.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", again)
	}
	home := t.TempDir()
	for sess, err := range s.store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Export(t.Context(), s.store, Format(), sess.ID, home, writeback.Exports{})
		if err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", sess.ID, done, err)
		}
	}
	interoptest.SameFiles(t, filepath.Join(root, logsName), filepath.Join(home, "state", logsName))
	was := interoptest.Dump(t, filepath.Join(root, databaseName), tableName)
	if is := interoptest.Dump(t, filepath.Join(home, "state", databaseName), tableName); string(is) != string(was) {
		t.Errorf("database written again:\n%s\nwant\n%s", is, was)
	}
	t.Logf("%d sessions, %d bytes of records", rep.Sessions, rep.Bytes)
}

func TestASessionThatWentOnIsWrittenBack(t *testing.T) {
	s := newState(t)
	s.add("ann@x.org", "plan", 1000, hello, answer)
	s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
	s.bring()
	_, err := s.store.Append(t.Context(), skein.Batch{Session: "ann_x_org:plan", Events: []skein.Event{
		skein.Say(1e12, skein.UserSays("and now")), skein.Say(1e12+5, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("this")}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, logsName, "ann_x_org", "plan.jsonl")
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), s.store, Format(), "ann_x_org:plan")
	if err != nil || done.Events != 2 {
		t.Fatalf("Sync = %+v, %v, want 2 events written", done, err)
	}
	var n int
	if err := s.db.QueryRow(`SELECT count(*) FROM session_items WHERE user_id = 'ann@x.org' AND session_name = 'plan' AND created_at = 1000000000005`).Scan(&n); err != nil || n != 2 {
		t.Errorf("the database has %d new rows (%v), want 2", n, err)
	}
	if is, err := os.Stat(path); err != nil || !os.SameFile(was, is) {
		t.Errorf("the log is another file now (%v), want it appended to", err)
	}
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(log), "\n"); len(lines) != 7 || !strings.Contains(lines[1], `"userInput":"and now"`) || !strings.Contains(lines[5], `"finalResult":{"text":"this"}`) {
		t.Errorf("the log is\n%s\nwant a turn more", log)
	}
	if rep := s.bring(); rep.Events != 0 {
		t.Errorf("Import of what was written back = %+v, want nothing new", rep)
	}
	s.add("ann@x.org", "plan", 1e12+9, `{"role":"user","content":"more"}`)
	if rep := s.bring(); rep.Messages != 1 {
		t.Errorf("Import of what the program added = %+v, want 1 message", rep)
	}
	alone := memory.New()
	defer alone.Close()
	bring(t, alone, s.dir)
	if got, want := shown(t, alone, "ann_x_org:plan"), "user hello | assistant done | user and now | assistant this | user more"; got != want {
		t.Errorf("another store reads %s, want %s", got, want)
	}
}

func TestALogThatIsCutAnywhereIsReadToTheEndLater(t *testing.T) {
	var log string
	for _, l := range []string{
		`{"kind":"user_message","userInput":"hé <é>","timestamp":"2026-01-01T00:00:00.000Z"}`,
		`{"kind":"step","stepResult":{"type":"agent_tool_start","agentName":"a","toolName":"t","toolArgumentsStr":"{}"}}`,
		`{"kind":"step","stepResult":{"type":"agent_tool_end","agentName":"a","toolName":"t","result":"é"}}`,
		`{"kind":"final_result","finalResult":{"text":"done"}}`,
	} {
		log += l + "\n"
	}
	for at := range log {
		s := newState(t)
		path := filepath.Join(s.dir, logsName, "u", "n.jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{log[:at], log} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s.bring()
		}
		if got, want := shown(t, s.store, "u:n"), "user hé <é> | assistant t({}) | tool =é | assistant done"; got != want {
			t.Fatalf("cut at byte %d: %s, want %s", at, got, want)
		}
		if again := s.bring(); again.Events != 0 {
			t.Fatalf("cut at byte %d: a third import = %+v, want nothing new", at, again)
		}
	}
}

func TestWatchFollowsRowsAndLogs(t *testing.T) {
	s := newState(t)
	s.add("u", "n", 1, hello)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reports := make(chan interop.Report, 100)
	done := make(chan error, 1)
	go func() {
		done <- watch.Watch(ctx, s.store, []interop.Format{Format()}, []string{s.dir}, interop.Options{}, func(r interop.Report) { reports <- r })
	}()
	next := func(want int) {
		t.Helper()
		got, late := 0, time.After(5*time.Minute)
		for got < want {
			select {
			case r := <-reports:
				got += r.Events // a change that is seen twice adds nothing the second time
			case <-late:
				t.Fatalf("of a change %d events are reported, want %d", got, want)
			}
		}
		if got != want {
			t.Errorf("of a change %d events are reported, want %d", got, want)
		}
	}
	next(2)
	s.add("u", "n", 2, answer)
	next(1)
	for _, events := range []int{1, 1, 3} { // the second has no rows: it broke off
		s.log("u/n.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
		next(events)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Watch = %v", err)
	}
}

func TestTurnsOfOneMillisecondStayInOrder(t *testing.T) {
	s := memory.New()
	defer s.Close()
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1e12, skein.Created{})}
	for _, word := range []string{"one", "two", "three"} {
		evs = append(evs, skein.Say(1e12, skein.UserSays(word)))
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "mine", Events: evs}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if _, err := writeback.Export(t.Context(), s, Format(), "mine", home, writeback.Exports{NoSide: true}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(home, "state", databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var times int
	if err := db.QueryRow(`SELECT count(DISTINCT created_at) FROM session_items`).Scan(&times); err != nil || times != 3 {
		t.Errorf("three turns have %d times (%v), want 3", times, err)
	}
}
