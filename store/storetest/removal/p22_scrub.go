package removal

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func scrubbing() []harness.Check {
	return []harness.Check{
		{Name: "no trace of it, and everything else as it was", Run: noTrace},
		{Name: "however it is escaped", Run: escapedSecrets},
		{Name: "blobs and source records", Run: scrubBytes},
		{Name: "in what forks show", Run: scrubForks},
		{Name: "what a session adds up to follows", Run: scrubFolds},
		{Name: "client IDs still answer", Run: scrubbedAgain},
		{Name: "what cannot be scrubbed", Run: badSecrets},
		{Name: "it is still gone when the data is opened again", Two: scrubReopened},
	}
}

// wantNoSecret checks that no way to read session id shows the secrets.
func wantNoSecret(t *harness.Test, id skein.SessionID, secrets ...string) {
	t.Helper()
	seen := func(what string, b []byte) {
		t.Helper()
		for _, s := range secrets {
			if blotted, found := erase.Mask(b, []string{s}); found {
				t.Errorf("%s of %s shows the secret %q: %.300s\n(blotted: %.300s)", what, id, s, b, blotted)
			}
		}
	}
	for _, e := range t.Events(id) {
		seen("an event", e.Payload)
		if !json.Valid(e.Payload) {
			t.Errorf("the payload of event %d is no JSON any more: %.300s", e.Seq, e.Payload)
		}
	}
	seen("the row", skein.MustJSON(t.Session(id)))
	seen("Newest", skein.MustJSON(t.Newest(id, 1000, 0)))
	for _, f := range harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")) {
		if f.Session != id {
			continue
		}
		seen("the state", f.State)
		for _, r := range t.Records(f.Format, f.Path, 0) {
			seen("a record", r.Raw)
			seen("a record's damage", []byte(r.Damage))
		}
	}
	for _, s := range secrets {
		if hits := t.Search(skein.Query{Substring: s, Session: id, Each: true}); len(hits) > 0 {
			t.Errorf("Search finds the secret %q: %+v", s, hits)
		}
	}
}

func noTrace(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Title: "key " + fixture.Secret, Project: "/p"}), fixture.User("my key is "+fixture.Secret+" and "+fixture.Secret), fixture.User("innocent"))
	t.Add("a", fixture.Ran("bash", "c1", `{"command":"curl -H \"k: token-99\""}`, "ok "+fixture.Secret)...)
	t.Add("a", fixture.Titled("about "+fixture.Secret), fixture.Noted(fixture.Secret), skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 3, Summary: fixture.Secret}),
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 2, Payload: fixture.User("now it is " + fixture.Secret).Payload}),
		skein.Event{Kind: "unknown", Payload: skein.MustJSON(map[string]any{"deep": []string{fixture.Secret}, fixture.Secret: 1})},
		fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 3}))
	before, row := t.Events("a"), t.Session("a")
	d := t.Scrub("a", fixture.Secret, "token-99")
	if d.Events != 9 || d.Records != 0 || d.Blobs != 0 || len(d.Forks) != 0 {
		t.Errorf("Scrub = %+v, want 9 events", d)
	}
	wantNoSecret(t, "a", fixture.Secret, "token-99")
	after := t.Events("a")
	if len(after) != len(before)+1 {
		t.Fatalf("there are %d events after the scrub, want %d and one that says so", len(after), len(before))
	}
	for i, e := range before {
		blotted, _ := erase.Mask(e.Payload, []string{fixture.Secret, "token-99"})
		e.Payload = blotted
		harness.Equal(t, "event", after[i], e)
	}
	last := after[len(before)]
	n, err := skein.Decode[skein.Noted](last)
	if last.Kind != skein.KindNoted || err != nil || n.Name != "scrubbed" || bytes.Contains(last.Payload, []byte("token")) {
		t.Errorf("the last event is %s %s, want noted, scrubbed", last.Kind, last.Payload)
	}
	s := t.Session("a")
	if s.Revision != row.Revision+1 || s.Messages != row.Messages || s.Turns != row.Turns || s.Usage != row.Usage || s.Last != row.Last+1 {
		t.Errorf("Session = %+v, want the next revision and otherwise as it was, %+v", s, row)
	}
	t.WantFound("innocent", harness.At("a", 3))
	t.WantFound("curl", harness.At("a", 4))
	if hits := t.Find("now it is"); len(hits) != 1 || strings.Contains(hits[0].Snippet, "7f") {
		t.Errorf("Search finds %+v, want the amended message without the secret", hits)
	}
	t.WantFolded("a")
	if d := t.Scrub("a", fixture.Secret); d.Events != 0 {
		t.Errorf("second Scrub = %+v, want nothing to do", d)
	}
}

func escapedSecrets(t *harness.Test) {
	t.Add("a", fixture.Created(),
		skein.Event{Kind: skein.KindSaid, Payload: []byte(`{"role":"user","parts":[{"kind":"text","text":"\u0073k-pw-7f\u00223\u00e9"}]}`)},
		skein.Event{Kind: skein.KindSaid, Payload: []byte(`{"role":"user","parts":[{"kind":"text","text":"JSON in JSON {\"k\":\"sk-pw-7f\\\"3é\"}"}]}`)},
		skein.Event{Kind: skein.KindNoted, Payload: []byte(`{"name":"n","data":{"n":1234567,"s":"1234567"}}`)},
	)
	if d := t.Scrub("a", fixture.Secret, "3456"); d.Events != 3 {
		t.Errorf("Scrub = %+v, want 3 events", d)
	}
}

func scrubBytes(t *harness.Test) {
	with, without := skein.NewBlob([]byte("binary \x00 "+fixture.Secret+" \xff")), skein.NewBlob([]byte("clean"))
	rs := fixture.Lines(0, 0, `{"text":"sk-pw-7f\"3é"}`+"\n", "innocent\n", "torn "+fixture.Secret)
	rs[2].Damage = "near " + fixture.Secret
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", State: []byte(`{"last":"sk-pw-7f\"3é"}`), Size: 77, Offset: 66}
	t.Append(skein.Batch{
		Session: "a", Events: []skein.Event{fixture.Created(), fixture.Shows("x", with), fixture.Shows("y", without), fixture.User("x")}, Blobs: []skein.Blob{with, without},
		Import: &skein.Import{File: f, Records: rs},
	})
	t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.Created(), fixture.Shows("x", with)}}) // another session's own
	d := t.Scrub("a", fixture.Secret)
	if d.Records != 2 || d.Blobs != 1 {
		t.Errorf("Scrub = %+v, want 2 records and 1 blob", d)
	}
	wantNoSecret(t, "a", fixture.Secret)
	t.NoBlob("a", with)
	t.Blob("a", without)
	m, err := skein.Decode[skein.Message](t.Events("a")[1])
	t.NoErr("Decode", err)
	data, err := t.Store.Blob(t.Context(), "a", m.Parts[0].File.Blob)
	blotted, _ := erase.Mask(with.Data, []string{fixture.Secret})
	if err != nil || !bytes.Equal(data, blotted) {
		t.Errorf("the blob is now %q, %v, want %q", data, err, blotted)
	}
	for i, r := range t.Records("f", "/p", 0) {
		if len(r.Raw) != len(rs[i].Raw) || r.Key != rs[i].Key || r.Offset != rs[i].Offset {
			t.Errorf("record %d is now %+v, want one of the same length and place as %+v", i, r, rs[i])
		}
	}
	t.Blob("b", with)
	t.Delete("b")
	t.Add("c", fixture.Created())
	t.Refused(skein.Batch{Session: "c", Events: []skein.Event{fixture.Shows("x", with)}}, skein.ErrInvalid)
}

func scrubForks(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User(fixture.Secret+" first"), fixture.User("x"), fixture.User(fixture.Secret+" later"))
	t.Add("f", fixture.Fork("a", 3), fixture.User("own"))
	t.Add("g", fixture.Fork("f", 2), fixture.User(fixture.Secret+" own"))
	t.Add("h", fixture.Fork("a", 1), fixture.User("never saw it"))
	d := t.Scrub("f", fixture.Secret)
	harness.Equal(t, "Forks", d.Forks, []skein.SessionID{"a", "g"})
	if d.Events != 1 {
		t.Errorf("Scrub = %+v, want 1 event", d)
	}
	for id, want := range map[skein.SessionID]int{"a": 1, "f": 1, "g": 1, "h": 0} {
		if got := t.Session(id).Revision; got != want {
			t.Errorf("the revision of %s is %d, want %d", id, got, want)
		}
		if strings.Contains(t.Session(id).First, "sk-") {
			t.Errorf("the first words of %s are %q", id, t.Session(id).First)
		}
	}
	t.WantFound("later", harness.At("a", 4)) // f does not show it
	d = t.Scrub("a", fixture.Secret)
	harness.Equal(t, "Forks", d.Forks, []skein.SessionID(nil))
	wantNoSecret(t, "a", fixture.Secret)
	t.Delete("a")
	t.Scrub("g", fixture.Secret)
	wantNoSecret(t, "g", fixture.Secret)
	wantNoSecret(t, "f", fixture.Secret)
}

// scrubFolds tests rows whose events moved, and whose base has a later ID.
func scrubFolds(t *harness.Test) {
	t.Add("z", fixture.Begin(skein.Created{Project: "/" + fixture.Secret}), fixture.User(fixture.Secret+" first"), fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 3}))
	t.Add("y", fixture.Fork("z", 3), fixture.User("own"))
	t.Add("x", fixture.Fork("y", 4), fixture.User("own"))
	t.Scrub("x", fixture.Secret)
	for _, id := range []skein.SessionID{"x", "y", "z"} {
		t.WantFolded(id)
		wantNoSecret(t, id, fixture.Secret)
	}
	long := strings.Repeat("a ", 95) + fixture.Secret // the row of a session has only a part of it
	t.Add("w", fixture.Created(), fixture.User(long), fixture.User("later"))
	t.Add("v", fixture.Fork("w", 2))
	t.Add("u", fixture.Fork("v", 3))
	t.Scrub("u", fixture.Secret)
	for _, id := range []skein.SessionID{"u", "v", "w"} {
		t.WantFolded(id)
	}
	t.Delete("z")
	row := t.Session("y")
	t.Add("y", fixture.User("another-secret"))
	t.Scrub("y", "another-secret")
	if s := t.Session("y"); s.Usage != row.Usage || s.Messages != row.Messages+1 || s.First != row.First {
		t.Errorf("after a scrub the new parent is %+v, want what it was, %+v", s, row)
	}
	t.Add("p", fixture.Begin(skein.Created{Project: "/p", Parent: &skein.Parent{Session: "q", Why: skein.Child}}), fixture.User("in the child"))
	t.Add("q", fixture.Fork("p", 2), fixture.User(fixture.Secret)) // a fork of its own child
	t.Delete("p")
	t.Scrub("q", fixture.Secret)
	if s := t.Session("q"); s.Project != "/p" || s.First != "in the child" {
		t.Errorf("after a scrub, a fork of its deleted child is %+v, want project /p and the first words of that", s)
	}
}

func scrubbedAgain(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.ID("1", fixture.User(fixture.Secret)), fixture.ID("2", fixture.User("x")))
	t.Scrub("a", fixture.Secret)
	if r := t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("1", fixture.User(fixture.Secret)), fixture.ID("2", fixture.User("x"))}}); r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append of what was scrubbed = %+v, want seq 2 and nothing new", r)
	}
	wantNoSecret(t, "a", fixture.Secret)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("2", fixture.User("y"))}}, skein.ErrMismatch)
}

func badSecrets(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("role"), fixture.User("abc"))
	want := t.Events("a")
	for _, secrets := range [][]string{nil, {""}, {"abc"}, {"long enough", "abc"}, {"role"}} {
		_, err := skein.LifecycleOf(t.Store).Scrub(t.Context(), "a", secrets)
		t.WantErr("Scrub of "+strings.Join(secrets, ", "), err, skein.ErrInvalid)
	}
	harness.Equal(t, "Events", t.Events("a"), want)
	if r := t.Session("a").Revision; r != 0 {
		t.Errorf("the revision is %d, want 0", r)
	}
	_, err := skein.LifecycleOf(t.Store).Scrub(t.Context(), "nobody", []string{fixture.Secret})
	t.WantErr("Scrub of nobody", err, skein.ErrNotFound)
}

func scrubReopened(t *harness.Test, other skein.Store) {
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User(fixture.Secret), fixture.User("x")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: fixture.Lines(0, 0, fixture.Secret),
	}})
	t.Scrub("a", fixture.Secret)
	want := t.Events("a")
	t.NoErr("Close", t.Store.Close())
	t.Store = other
	wantNoSecret(t, "a", fixture.Secret)
	t.NoErr("Close", other.Close())
	t.Store = t.Dial()
	wantNoSecret(t, "a", fixture.Secret)
	harness.Equal(t, "Events", t.Events("a"), want)
}
