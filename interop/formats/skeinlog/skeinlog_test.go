package skeinlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/memory"
)

func open(t *testing.T) *memory.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return s
}

// fill gives s a session with an image, one with a key, and a fork of it.
func fill(t testing.TB, s skein.Store) {
	t.Helper()
	blob := skein.NewBlob([]byte("a picture"))
	say := func(text string) skein.Event { return skein.Say(1000, skein.UserSays(text)) }
	picture := skein.Say(2000, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Blob: blob.Hash}}}})
	picture.ClientID = "mine"
	odd := skein.Event{Kind: "to-come", Time: 3000, Payload: json.RawMessage(`{"kept":  [1.50]}`)}
	for _, b := range []skein.Batch{
		{Session: "first", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "cli:pear", Cwd: "/home/ada"}), say("hello"), picture, odd}, Blobs: []skein.Blob{blob}},
		{Session: "branch", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 2, skein.Created{Parent: &skein.Parent{Session: "first", Seq: 2, Why: skein.Fork}}), say("other")}},
	} {
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func log(t testing.TB, s skein.Store, id skein.SessionID) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := replay.Write(t.Context(), &b, s, id); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func put(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func bring(t *testing.T, s skein.Store, paths ...string) interop.Report {
	t.Helper()
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, paths, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%q) gives the error %v", paths, err)
	}
	return rep
}

func events(t *testing.T, s skein.Store, id skein.SessionID) (all []string) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%d %s %s %q %s", e.Seq, e.Time, e.Kind, e.ClientID, e.Payload))
	}
	return all
}

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/logs"})
}

// A damaged log followed by a whole one: the fork could not be imported before its
// parent, which came in the second part.
func TestWhatWaitsForALaterPartOfTheLogComesAtOnce(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	whole := log(t, from, "branch")
	headless := bytes.Replace(whole, []byte(`{"seq":1,`), []byte(`{"seq":"x",`), 1)
	cut := bytes.TrimSuffix(whole, bytes.SplitAfter(whole, []byte("\n"))[len(bytes.Split(whole, []byte("\n")))-2])
	path := put(t, "both.jsonl", slices.Concat(headless, cut))
	rep := bring(t, to, path)
	if rep.Sessions != 2 || rep.Events != 4 || rep.Damaged != 1 {
		t.Errorf("Import gives %+v, want 2 sessions with 4 events, 1 damaged line", rep)
	}
	if diff := cmp.Diff(events(t, from, "branch"), events(t, to, "branch")); diff != "" {
		t.Errorf("events of branch (-exported +imported):\n%s", diff)
	}
}

func TestAnImportedSessionEqualsTheExportedOne(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	rep := bring(t, to, put(t, "branch.jsonl", log(t, from, "branch")), put(t, "first.jsonl", log(t, from, "first")))
	if rep.Sessions != 2 || rep.Events != 6 || rep.Messages != 3 || rep.Grown != 0 || rep.Skipped != 0 {
		t.Errorf("Import gives %+v, want 2 new sessions with 6 events, 3 of them messages", rep)
	}
	for _, id := range []skein.SessionID{"first", "branch"} {
		if diff := cmp.Diff(events(t, from, id), events(t, to, id)); diff != "" {
			t.Errorf("events of %s (-exported +imported):\n%s", id, diff)
		}
		if !bytes.Equal(log(t, from, id), log(t, to, id)) {
			t.Errorf("the log of %s differs once it was imported, want the same bytes", id)
		}
	}
}

func TestASecondImportAddsNothing(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	path := put(t, "first.jsonl", log(t, from, "first"))
	bring(t, to, path)
	if rep := bring(t, to, path); rep.Events != 0 || rep.Unchanged != 1 {
		t.Errorf("Import again gives %+v, want 1 file unchanged", rep)
	}
}

func TestALogThatWentOnAddsWhatIsNew(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	bring(t, to, put(t, "first.jsonl", log(t, from, "first")))
	if _, err := skein.Add(t.Context(), from, "first", skein.Say(5000, skein.UserSays("more"))); err != nil {
		t.Fatal(err)
	}
	if rep := bring(t, to, put(t, "first.jsonl", log(t, from, "first"))); rep.Events != 1 || rep.Messages != 1 || rep.Sessions != 0 || rep.Grown != 1 || !slices.Equal(rep.Changed, []skein.SessionID{"first"}) {
		t.Errorf("Import gives %+v, want 1 message of the session first, which has grown", rep)
	}
}

func TestWhatCannotBeTakenIsNamedAndKeepsNothingElseOut(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	if _, err := skein.Add(t.Context(), to, "first", skein.NewEvent(skein.KindCreated, 9, skein.Created{Cwd: "/elsewhere"})); err != nil {
		t.Fatal(err)
	}
	log1 := log(t, from, "first")
	other := bytes.ReplaceAll(bytes.ReplaceAll(log1, []byte(`"session":"first"`), []byte(`"session":"third"`)), []byte("cli:pear"), []byte("cli:plum"))
	newer := bytes.Replace(log1, []byte(`"version":1`), []byte(`"version":99`), 1)
	both := put(t, "both.jsonl", append(log1, other...))
	rep := bring(t, to, both, put(t, "newer.jsonl", newer), put(t, "odd.jsonl", append(bytes.ReplaceAll(other, []byte(`"session":"third"`), []byte(`"session":"fourth"`)), "no JSON\n"...)))
	if rep.Sessions != 2 || rep.Skipped < 2 || rep.Damaged != 1 || rep.Damage[0].Line == 0 {
		t.Errorf("Import gives %+v, want 2 sessions, the other one and the newer file named, 1 damaged line", rep)
	}
	for _, want := range []string{"first", "version 99"} {
		if s := fmt.Sprint(rep.Skips); !strings.Contains(s, want) {
			t.Errorf("Import skips %s, want %q named", s, want)
		}
	}
}

func TestADeletedSessionStaysAway(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from)
	path := put(t, "first.jsonl", log(t, from, "first"))
	bring(t, to, path)
	if _, err := to.Delete(t.Context(), "first", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if rep := bring(t, to, path); rep.Events != 0 || rep.Removed != 1 {
		t.Errorf("Import after Delete gives %+v, want 1 session that was removed", rep)
	}
}

func TestMatchKnowsLogsOnly(t *testing.T) {
	s := open(t)
	fill(t, s)
	if Format().Match("/x/first.txt", log(t, s, "first")).Sure != interop.Known {
		t.Error("Match(a log) is false, want true")
	}
	for _, head := range []string{"", "{}", `{"type":"session_meta","payload":{}}`} {
		if Format().Match("/x/first.jsonl", []byte(head)).Sure != interop.No {
			t.Errorf("Match(%s) is true, want false", head)
		}
	}
}
