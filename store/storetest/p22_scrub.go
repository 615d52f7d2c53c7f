package storetest

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

func scrubbing() []check {
	return []check{
		{name: "no trace of it, and everything else as it was", run: noTrace},
		{name: "however it is escaped", run: escapedSecrets},
		{name: "blobs and source records", run: scrubBytes},
		{name: "in what forks show", run: scrubForks},
		{name: "what a session adds up to follows", run: scrubFolds},
		{name: "client IDs still answer", run: scrubbedAgain},
		{name: "what cannot be scrubbed", run: badSecrets},
		{name: "it is still gone when the data is opened again", two: scrubReopened},
	}
}

const secret = "sk-pw-7f\"3é"

// wantNoSecret checks that no way to read session id shows the secrets.
func (t *test) wantNoSecret(id skein.SessionID, secrets ...string) {
	t.Helper()
	seen := func(what string, b []byte) {
		t.Helper()
		for _, s := range secrets {
			if blotted, found := erase.Mask(b, []string{s}); found {
				t.Errorf("%s of %s shows the secret %q: %.300s\n(blotted: %.300s)", what, id, s, b, blotted)
			}
		}
	}
	for _, e := range t.events(id) {
		seen("an event", e.Payload)
		if !json.Valid(e.Payload) {
			t.Errorf("the payload of event %d is no JSON any more: %.300s", e.Seq, e.Payload)
		}
	}
	seen("the row", skein.MustJSON(t.session(id)))
	seen("Newest", skein.MustJSON(t.newest(id, 1000, 0)))
	for _, f := range all(t, skein.SourcesOf(t.s).Files(t.Context(), "")) {
		if f.Session != id {
			continue
		}
		seen("the state", f.State)
		for _, r := range t.records(f.Format, f.Path, 0) {
			seen("a record", r.Raw)
			seen("a record's damage", []byte(r.Damage))
		}
	}
	for _, s := range secrets {
		if hits := t.search(skein.Query{Substring: s, Session: id, Each: true}); len(hits) > 0 {
			t.Errorf("Search finds the secret %q: %+v", s, hits)
		}
	}
}

func (t *asker) scrub(id skein.SessionID, secrets ...string) skein.Scrubbed {
	t.Helper()
	d, err := skein.LifecycleOf(t.s).Scrub(t.Context(), id, secrets)
	if err != nil {
		t.Fatalf("Scrub(%s) = %v", id, err)
	}
	return d
}

func noTrace(t *test) {
	t.add("a", begin(skein.Created{Title: "key " + secret, Project: "/p"}), user("my key is "+secret+" and "+secret), user("innocent"))
	t.add("a", ran("bash", "c1", `{"command":"curl -H \"k: token-99\""}`, "ok "+secret)...)
	t.add("a", titled("about "+secret), noted(secret), skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 3, Summary: secret}),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: user("now it is " + secret).Payload}),
		skein.Event{Kind: "unknown", Payload: skein.MustJSON(map[string]any{"deep": []string{secret}, secret: 1})},
		paid("r", noon, "m", skein.Usage{Input: 3}))
	before, row := t.events("a"), t.session("a")
	d := t.scrub("a", secret, "token-99")
	if d.Events != 9 || d.Records != 0 || d.Blobs != 0 || len(d.Forks) != 0 {
		t.Errorf("Scrub = %+v, want 9 events", d)
	}
	t.wantNoSecret("a", secret, "token-99")
	after := t.events("a")
	if len(after) != len(before)+1 {
		t.Fatalf("there are %d events after the scrub, want %d and one that says so", len(after), len(before))
	}
	for i, e := range before {
		blotted, _ := erase.Mask(e.Payload, []string{secret, "token-99"})
		e.Payload = blotted
		equal(t, "event", after[i], e)
	}
	last := after[len(before)]
	n, err := skein.Decode[skein.Noted](last)
	if last.Kind != skein.KindNoted || err != nil || n.Name != "scrubbed" || bytes.Contains(last.Payload, []byte("token")) {
		t.Errorf("the last event is %s %s, want noted, scrubbed", last.Kind, last.Payload)
	}
	s := t.session("a")
	if s.Revision != row.Revision+1 || s.Messages != row.Messages || s.Turns != row.Turns || s.Usage != row.Usage || s.Last != row.Last+1 {
		t.Errorf("Session = %+v, want the next revision and otherwise as it was, %+v", s, row)
	}
	t.wantFound("innocent", at("a", 3))
	t.wantFound("curl", at("a", 4))
	if hits := t.find("now it is"); len(hits) != 1 || strings.Contains(hits[0].Snippet, "7f") {
		t.Errorf("Search finds %+v, want the amended message without the secret", hits)
	}
	t.wantFolded("a")
	if d := t.scrub("a", secret); d.Events != 0 {
		t.Errorf("second Scrub = %+v, want nothing to do", d)
	}
}

func escapedSecrets(t *test) {
	t.add("a", created(),
		skein.Event{Kind: skein.KindSaid, Payload: []byte(`{"role":"user","parts":[{"kind":"text","text":"\u0073k-pw-7f\u00223\u00e9"}]}`)},
		skein.Event{Kind: skein.KindSaid, Payload: []byte(`{"role":"user","parts":[{"kind":"text","text":"JSON in JSON {\"k\":\"sk-pw-7f\\\"3é\"}"}]}`)},
		skein.Event{Kind: skein.KindNoted, Payload: []byte(`{"name":"n","data":{"n":1234567,"s":"1234567"}}`)},
	)
	if d := t.scrub("a", secret, "3456"); d.Events != 3 {
		t.Errorf("Scrub = %+v, want 3 events", d)
	}
}

func scrubBytes(t *test) {
	with, without := skein.NewBlob([]byte("binary \x00 "+secret+" \xff")), skein.NewBlob([]byte("clean"))
	rs := lines(0, 0, `{"text":"sk-pw-7f\"3é"}`+"\n", "innocent\n", "torn "+secret)
	rs[2].Damage = "near " + secret
	f := skein.SourceFile{Format: "f", Path: "/p", Session: "a", State: []byte(`{"last":"sk-pw-7f\"3é"}`), Size: 77, Offset: 66}
	t.append(skein.Batch{
		Session: "a", Events: []skein.Event{created(), shows("x", with), shows("y", without), user("x")}, Blobs: []skein.Blob{with, without},
		Import: &skein.Import{File: f, Records: rs},
	})
	t.append(skein.Batch{Session: "b", Events: []skein.Event{created(), shows("x", with)}}) // another session's own
	d := t.scrub("a", secret)
	if d.Records != 2 || d.Blobs != 1 {
		t.Errorf("Scrub = %+v, want 2 records and 1 blob", d)
	}
	t.wantNoSecret("a", secret)
	t.noBlob("a", with)
	t.blob("a", without)
	m, err := skein.Decode[skein.Message](t.events("a")[1])
	t.noErr("Decode", err)
	data, err := t.s.Blob(t.Context(), "a", m.Parts[0].File.Blob)
	blotted, _ := erase.Mask(with.Data, []string{secret})
	if err != nil || !bytes.Equal(data, blotted) {
		t.Errorf("the blob is now %q, %v, want %q", data, err, blotted)
	}
	for i, r := range t.records("f", "/p", 0) {
		if len(r.Raw) != len(rs[i].Raw) || r.Key != rs[i].Key || r.Offset != rs[i].Offset {
			t.Errorf("record %d is now %+v, want one of the same length and place as %+v", i, r, rs[i])
		}
	}
	t.blob("b", with)
	t.delete("b")
	t.add("c", created())
	t.refused(skein.Batch{Session: "c", Events: []skein.Event{shows("x", with)}}, skein.ErrInvalid)
}

func scrubForks(t *test) {
	t.add("a", created(), user(secret+" first"), user("x"), user(secret+" later"))
	t.add("f", fork("a", 3), user("own"))
	t.add("g", fork("f", 2), user(secret+" own"))
	t.add("h", fork("a", 1), user("never saw it"))
	d := t.scrub("f", secret)
	equal(t, "Forks", d.Forks, []skein.SessionID{"a", "g"})
	if d.Events != 1 {
		t.Errorf("Scrub = %+v, want 1 event", d)
	}
	for id, want := range map[skein.SessionID]int{"a": 1, "f": 1, "g": 1, "h": 0} {
		if got := t.session(id).Revision; got != want {
			t.Errorf("the revision of %s is %d, want %d", id, got, want)
		}
		if strings.Contains(t.session(id).First, "sk-") {
			t.Errorf("the first words of %s are %q", id, t.session(id).First)
		}
	}
	t.wantFound("later", at("a", 4)) // f does not show it
	d = t.scrub("a", secret)
	equal(t, "Forks", d.Forks, []skein.SessionID(nil))
	t.wantNoSecret("a", secret)
	t.delete("a")
	t.scrub("g", secret)
	t.wantNoSecret("g", secret)
	t.wantNoSecret("f", secret)
}

// scrubFolds tests rows whose events moved, and whose base has a later ID.
func scrubFolds(t *test) {
	t.add("z", begin(skein.Created{Project: "/" + secret}), user(secret+" first"), paid("r", noon, "m", skein.Usage{Input: 3}))
	t.add("y", fork("z", 3), user("own"))
	t.add("x", fork("y", 4), user("own"))
	t.scrub("x", secret)
	for _, id := range []skein.SessionID{"x", "y", "z"} {
		t.wantFolded(id)
		t.wantNoSecret(id, secret)
	}
	long := strings.Repeat("a ", 95) + secret // the row of a session has only a part of it
	t.add("w", created(), user(long), user("later"))
	t.add("v", fork("w", 2))
	t.add("u", fork("v", 3))
	t.scrub("u", secret)
	for _, id := range []skein.SessionID{"u", "v", "w"} {
		t.wantFolded(id)
	}
	t.delete("z")
	row := t.session("y")
	t.add("y", user("another-secret"))
	t.scrub("y", "another-secret")
	if s := t.session("y"); s.Usage != row.Usage || s.Messages != row.Messages+1 || s.First != row.First {
		t.Errorf("after a scrub the new parent is %+v, want what it was, %+v", s, row)
	}
}

func scrubbedAgain(t *test) {
	t.add("a", created(), id("1", user(secret)), id("2", user("x")))
	t.scrub("a", secret)
	if r := t.append(skein.Batch{Session: "a", Events: []skein.Event{id("1", user(secret)), id("2", user("x"))}}); r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append of what was scrubbed = %+v, want seq 2 and nothing new", r)
	}
	t.wantNoSecret("a", secret)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("2", user("y"))}}, skein.ErrMismatch)
}

func badSecrets(t *test) {
	t.add("a", created(), user("role"), user("abc"))
	want := t.events("a")
	for _, secrets := range [][]string{nil, {""}, {"abc"}, {"long enough", "abc"}, {"role"}} {
		_, err := skein.LifecycleOf(t.s).Scrub(t.Context(), "a", secrets)
		t.wantErr("Scrub of "+strings.Join(secrets, ", "), err, skein.ErrInvalid)
	}
	equal(t, "Events", t.events("a"), want)
	if r := t.session("a").Revision; r != 0 {
		t.Errorf("the revision is %d, want 0", r)
	}
	_, err := skein.LifecycleOf(t.s).Scrub(t.Context(), "nobody", []string{secret})
	t.wantErr("Scrub of nobody", err, skein.ErrNotFound)
}

func scrubReopened(t *test, other skein.Store) {
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), user(secret), user("x")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: lines(0, 0, secret),
	}})
	t.scrub("a", secret)
	want := t.events("a")
	t.noErr("Close", t.s.Close())
	t.s = other
	t.wantNoSecret("a", secret)
	t.noErr("Close", other.Close())
	t.s = t.dial()
	t.wantNoSecret("a", secret)
	equal(t, "Events", t.events("a"), want)
}
