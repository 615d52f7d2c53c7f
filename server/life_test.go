package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

type page[T any] struct {
	Items []T
	Next  string `json:"next_cursor"`
}

type line struct {
	skein.Session
	Name string
}

func TestListsGoOnByCursorAndTakeEveryFilter(t *testing.T) {
	s := newSite(t)
	for _, id := range []skein.SessionID{"a", "b", "c", "d"} { // all of the same time: ordered by ID
		s.begin(id, skein.Created{Key: "k:" + string(id), Agent: "codex", Surface: "cli"}, "hello "+string(id))
	}
	s.begin("x", skein.Created{Project: "/x", Agent: "other", Title: "The X"}, "hi", "there")
	s.wants(201, "POST /v1/sessions", `{"id":"empty"}`, nil)
	var got []skein.SessionID
	next := ""
	for range 9 {
		var p page[line]
		s.wants(200, "GET /v1/sessions?limit=2&cursor="+next, "", &p)
		for _, l := range p.Items {
			got = append(got, l.ID)
		}
		if next = p.Next; next == "" {
			break
		}
	}
	if want := []skein.SessionID{"x", "a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("GET /v1/sessions in pages of two = %v, want %v", got, want)
	}
	for query, want := range map[string]string{
		"agent=codex&limit=1": "a", "key=k:b": "b", "project=/x": "x", "title=the%20x": "x", "id_prefix=empt&include_empty=1": "empty", "surface=cli&id_suffix=c": "c",
		"tag=none": "", "pinned=true": "", "bin=true": "", "model=claude-sonnet-4-5": "x", "since=1970-01-01&agent=other": "x", "until=1960-01-01": "", "open_calls=1": "", "parent=a": "", "origin=codex": "",
		"born=1&agent=other": "x", "larger_than=100000000000": "", "profile=none": "", "user=nobody": "",
	} {
		var p page[line]
		s.wants(200, "GET /v1/sessions?"+query, "", &p)
		ids := ""
		for _, l := range p.Items {
			ids += string(l.ID)
		}
		if ids != want || p.Items == nil {
			t.Errorf("GET /v1/sessions?%s = %q, want %q", query, ids, want)
		}
	}
	var found line
	if s.wants(200, "GET /v1/keys/k:c", "", &found); found.ID != "c" || found.Name != "hello c" {
		t.Errorf("GET /v1/keys/k:c = %+v, want c", found)
	}
	if s.wants(200, "GET /v1/resolve?name=the+x", "", &found); found.ID != "x" {
		t.Errorf("GET /v1/resolve?name=the x = %+v, want x", found)
	}
}

func TestAChangeIsMadeToTheVersionThatWasRead(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "hello")
	tag := s.send("GET /v1/sessions/a", "").Header.Get("ETag")
	s.raw(304, "GET /v1/sessions/a", "", "If-None-Match: "+tag)
	w := s.send("PATCH /v1/sessions/a", `{"title":"T","description":"D","pinned":true,"tags":["b","a"],"model":"m","cwd":"/c","profile":"p","status":"s","key":"k"}`, "If-Match: "+tag)
	var l line
	if err := json.NewDecoder(w.Body).Decode(&l); err != nil || w.StatusCode != http.StatusOK || l.Title != "T" || l.TitleBy != skein.ByPerson || l.Description != "D" || !l.Pinned || strings.Join(l.Tags, "") != "ab" || l.Model != "m" || l.Cwd != "/c" || l.Profile != "p" || l.Status != "s" || l.Key != "k" {
		t.Errorf("PATCH = %d %+v (%v), want it changed", w.StatusCode, l, err)
	}
	s.refuses(412, "stale", "PATCH /v1/sessions/a", `{"title":"U"}`, "If-Match: "+tag)
	s.raw(200, "GET /v1/sessions/a", "", "If-None-Match: "+tag)
	last := l.Last
	if s.wants(200, "PATCH /v1/sessions/a", `{"title":"T","pinned":true,"tags":["a","b"]}`, &l, "If-Match: "+w.Header.Get("ETag")); l.Last != last {
		t.Errorf("PATCH to what it is ends at %d, want still %d", l.Last, last)
	}
	s.wants(200, "PATCH /v1/sessions/a", `{"key":"","pinned":false}`, &l, "If-Match: *")
	if l.Key != "" || l.Pinned {
		t.Errorf("PATCH key and pin away = %+v", l)
	}
	s.refuses(400, "invalid", "PATCH /v1/sessions/a", `{"id":"b"}`)
	s.refuses(404, "not_found", "PATCH /v1/sessions/none", `{"title":"x"}`)
	if _, err := skein.LeasesOf(s.store).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "p", TTL: 1e12}); err != nil {
		t.Fatal(err)
	}
	now := s.send("GET /v1/sessions/a", "").Header.Get("ETag")
	s.wants(200, "PATCH /v1/sessions/a", `{"title":"while it is held"}`, nil, "If-Match: "+now)
}

func TestForkRewindBinAndTree(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{Project: "/p"}, "one", "1", "two", "2", "three", "3")
	var f struct {
		ID     skein.SessionID
		Parent skein.SessionID
		Seq    skein.Seq
	}
	w := s.send("POST /v1/sessions/a/fork", `{"turn":2,"title":"other way","id":"f"}`)
	if err := json.NewDecoder(w.Body).Decode(&f); err != nil || w.StatusCode != http.StatusCreated || f.ID != "f" || f.Parent != "a" || f.Seq != 5 || w.Header.Get("Location") != "/v1/sessions/f" {
		t.Errorf("POST fork at turn 2 = %d %+v, want f at 5", w.StatusCode, f)
	}
	for turn, want := range map[string]skein.Seq{"1": 3, "3": 7, "-1": 7, "-3": 3} {
		if s.wants(201, "POST /v1/sessions/a/fork", `{"turn":`+turn+`}`, &f); f.Seq != want {
			t.Errorf("fork at turn %s is at %d, want %d", turn, f.Seq, want)
		}
	}
	s.wants(201, "POST /v1/sessions/a/fork", `{"seq":4}`, &f)
	s.refuses(400, "invalid", "POST /v1/sessions/a/fork", `{"seq":4,"turn":1}`)
	s.refuses(400, "invalid", "POST /v1/sessions/a/fork", `{"turn":4}`)
	s.refuses(404, "not_found", "POST /v1/sessions/none/fork", `{"seq":4}`)
	s.begin("kid", skein.Created{Parent: &skein.Parent{Session: "a", Seq: 3, Why: skein.Child}}, "do it")

	var r struct{ Seq, To skein.Seq }
	if s.wants(201, "POST /v1/sessions/a/rewind", `{"turn":-2,"after":7}`, &r); r.Seq != 8 || r.To != 5 {
		t.Errorf("POST rewind to turn -2 = %+v, want seq 8 to 5", r)
	}
	s.refuses(409, "conflict", "POST /v1/sessions/a/rewind", `{"seq":1,"after":7}`)
	var c struct{ Messages []skein.Message }
	if s.wants(200, "GET /v1/sessions/a/events?view=context&provider=anthropic", "", &c); len(c.Messages) != 4 {
		t.Errorf("the context after a rewind has %d messages, want 4", len(c.Messages))
	}

	var tree struct {
		ID       skein.SessionID
		Asked    bool
		Children []struct {
			ID  skein.SessionID
			Why skein.Why
		}
	}
	if s.wants(200, "GET /v1/sessions/kid/tree", "", &tree); tree.ID != "a" || tree.Asked || len(tree.Children) != 7 || tree.Children[0].ID == "" {
		t.Errorf("GET tree = %+v, want a with six forks and a child", tree)
	}

	s.refuses(409, "refused", "DELETE /v1/sessions/a?children=refuse", "")
	s.refuses(400, "invalid", "DELETE /v1/sessions/a?children=eat", "")
	var gone struct {
		Children []skein.SessionID
		Binned   []skein.SessionID `json:"children_binned"`
		Purged   bool
		Forks    []skein.SessionID
	}
	if s.wants(200, "DELETE /v1/sessions/a", "", &gone); len(gone.Children) != 1 || gone.Purged {
		t.Errorf("DELETE = %+v, want one child kept", gone)
	}
	var l line
	if s.wants(200, "GET /v1/sessions/a", "", &l); l.Binned == 0 {
		t.Error("DELETE does not put it in the bin")
	}
	if s.wants(200, "POST /v1/sessions/a/restore", "", &l); l.Binned != 0 {
		t.Errorf("POST restore = %+v, want it out of the bin", l)
	}
	if s.wants(200, "DELETE /v1/sessions/a?children=bin", "", &gone); len(gone.Binned) != 1 {
		t.Errorf("DELETE children=bin = %+v, want one in the bin", gone)
	}
	if s.wants(200, "POST /v1/sessions/a/purge", "", &gone); !gone.Purged || len(gone.Forks) == 0 || !slices.Equal(s.purged, []skein.SessionID{"a"}) {
		t.Errorf("POST purge = %+v, told %v; want it destroyed, and that told", gone, s.purged)
	}
	s.refuses(404, "not_found", "GET /v1/sessions/a", "")
	s.refuses(404, "deleted", "POST /v1/sessions", `{"id":"a"}`)
}

func TestOnlyWhoOwnsSessionsMayDestroyThem(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{User: "ann"}, "x")
	s.begin("b", skein.Created{User: "ann"}, "x")
	s.begin("c", skein.Created{User: "bob"}, "x")
	s.as("", "write").refuses(403, "scope", "POST /v1/sessions/a/purge", "")
	s.as("", "read").refuses(403, "scope", "POST /v1/sessions/a/purge", "")
	s.as("", "write").refuses(403, "scope", "POST /v1/prune", `{"purge":true}`)
	ann := s.as("ann", "write")
	ann.raw(200, "POST /v1/sessions/a/purge", "")
	ann.refuses(404, "not_found", "POST /v1/sessions/c/purge", "")
	s.as("", "admin").raw(200, "POST /v1/sessions/c/purge", "")
}

func TestPruneShowsFirst(t *testing.T) {
	s := newSite(t)
	s.begin("old", skein.Created{}, "x")
	s.begin("held", skein.Created{}, "x")
	s.begin("kept", skein.Created{}, "x")
	s.wants(200, "PATCH /v1/sessions/kept", `{"pinned":true}`, nil)
	s.wants(201, "POST /v1/sessions", `{"id":"new"}`, nil)
	type pruned struct{ ID, Done string }
	var p page[pruned]
	if s.wants(200, "GET /v1/prune?older_than=1d", "", &p); len(p.Items) != 3 || p.Items[0].Done != "" {
		t.Errorf("GET prune = %+v, want old, held and kept, whose pin is nothing said in it, and nothing done", p)
	}
	if s.wants(200, "POST /v1/prune", `{"older_than":"1d","keep_pinned":true}`, &p); len(p.Items) != 2 || p.Items[0].Done != "binned" {
		t.Errorf("POST prune = %+v, want two in the bin", p)
	}
	if _, err := skein.LeasesOf(s.store).Acquire(t.Context(), "held", skein.LeaseRequest{TTL: 1e12}); err != nil {
		t.Fatal(err)
	}
	s.wants(200, "POST /v1/prune", `{"purge":true}`, &p)
	if done := map[string]string{p.Items[0].ID: p.Items[0].Done, p.Items[1].ID: p.Items[1].Done}; done["old"] != "destroyed" || done["held"] != "locked" {
		t.Errorf("POST prune with purge = %+v, want old destroyed and held locked", p)
	}
	if _, err := s.store.Session(t.Context(), "kept"); err != nil {
		t.Errorf("a pinned session after prune: %v", err)
	}
}

func TestHeadersOfDownloads(t *testing.T) {
	s := newSite(t)
	png := skein.NewBlob([]byte("\x89PNG\r\n\x1a\n0000"))
	svg := skein.NewBlob([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	for _, b := range []skein.Blob{png, svg} {
		m := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Blob: b.Hash, Media: "image/svg+xml"}}}}
		if _, err := s.store.Append(t.Context(), skein.Batch{Session: skein.SessionID(b.Hash[:8]), Blobs: []skein.Blob{b}, Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, m)}}); err != nil {
			t.Fatal(err)
		}
	}
	for want, b := range map[string]skein.Blob{"image/png": png, "application/octet-stream": svg} {
		path := "GET /v1/sessions/" + string(b.Hash[:8]) + "/blobs/" + string(b.Hash)
		w := s.send(path, "")
		if h := w.Header; w.StatusCode != http.StatusOK || h.Get("Content-Type") != want || h.Get("Content-Disposition") != "attachment" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s = %d %v, want %s as an attachment", path, w.StatusCode, h, want)
		}
		s.raw(304, path, "", "If-None-Match: "+w.Header.Get("ETag"))
	}
	s.refuses(404, "not_found", "GET /v1/sessions/"+string(png.Hash[:8])+"/blobs/"+string(svg.Hash), "")
	for to, want := range map[string]string{"html": "text/html; charset=utf-8", "md": "text/markdown; charset=utf-8", "json": "application/json", "skein": "application/x-ndjson"} {
		w := s.send("GET /v1/sessions/"+string(png.Hash[:8])+"/export?to="+to, "")
		if d := w.Header.Get("Content-Disposition"); w.StatusCode != http.StatusOK || w.Header.Get("Content-Type") != want || !strings.HasPrefix(d, "attachment; filename=") {
			t.Errorf("export to %s = %d %v, want an attachment of type %s", to, w.StatusCode, w.Header, want)
		}
	}
}
