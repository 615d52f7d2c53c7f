package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// document is the part of an OpenAPI document that the tests read.
type document struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		ID          string `json:"operationId"`
		Summary     string
		Tags        []string
		Scope       string `json:"x-scope"`
		Parameters  []struct{ Name, In string }
		Responses   map[string]json.RawMessage
		RequestBody struct {
			Content map[string]json.RawMessage
		}
	}
	Components map[string]map[string]json.RawMessage
}

// elsewhere are operations of other packages, which are not among the routes
// here.
func elsewhere() []string {
	return []string{"GET /metrics", "POST /mcp", "POST /v1/inbox/{key}", "GET /v1/acp", "POST /v1/acp", "DELETE /v1/acp"}
}

// unlisted are the routes that are not operations of the API.
func unlisted() []string {
	return []string{
		"GET /login", "POST /login", "POST /logout",
		"GET /v1/openapi.json", "GET /v1/docs", "GET /v1/docs/style.css",
	}
}

func TestEveryRouteIsInTheDocumentAndTheOtherWayRound(t *testing.T) {
	s := newSite(t)
	var doc document
	s.wants(200, "GET /v1/openapi.json", "", &doc)
	if !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Errorf("the document is OpenAPI %q, want 3.1", doc.OpenAPI)
	}
	var documented []string
	ids := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			what := strings.ToUpper(method) + " " + path
			documented = append(documented, what)
			if ids[op.ID] || op.ID == "" || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s: ID %q, summary %q, tags %v: want one of its own, words and a tag", what, op.ID, op.Summary, op.Tags)
			}
			ids[op.ID] = true
			for part := range strings.SplitSeq(path, "/") {
				name, ok := strings.CutPrefix(part, "{")
				if ok && !slices.ContainsFunc(op.Parameters, func(p struct{ Name, In string }) bool {
					return p.In == "path" && p.Name+"}" == name
				}) {
					t.Errorf("%s: no parameter %s", what, part)
				}
			}
		}
	}
	routes := map[string]door.Route{}
	for _, r := range s.door.Routes() {
		if slices.Contains(unlisted(), r.Pattern) {
			continue
		}
		routes[r.Pattern] = r
		if !slices.Contains(documented, r.Pattern) {
			t.Errorf("%s is a route and not in the document", r.Pattern)
			continue
		}
		method, path, _ := strings.Cut(r.Pattern, " ")
		op := doc.Paths[path][strings.ToLower(method)]
		want := ""
		if r.Scope > door.Open {
			want = r.Scope.String()
		}
		if op.Scope != want {
			t.Errorf("%s says it needs the scope %q, want %q", r.Pattern, op.Scope, want)
		}
		if has := len(op.RequestBody.Content) > 0; has != (r.Body > 0) {
			t.Errorf("%s: a body in the document: %v; it takes %d bytes", r.Pattern, has, r.Body)
		}
		for _, kind := range r.Types {
			if op.RequestBody.Content[kind] == nil {
				t.Errorf("%s takes %s, which is not in the document", r.Pattern, kind)
			}
		}
	}
	for _, what := range documented {
		if _, ok := routes[what]; !ok && !slices.Contains(elsewhere(), what) {
			t.Errorf("%s is in the document and no route", what)
		}
	}
}

func TestAnUnknownParameterIsSaid(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "hello")
	for what, words := range map[string][]string{
		"GET /v1/sessions?limt=1":                    {`"limt"`, "limit", "cursor"},
		"GET /v1/sessions?limit=1&limit=2":           {"parameter limit is given 2 times"},
		"GET /v1/sessions?a=%zz":                     {"not a URL query"},
		"GET /v1/sessions?a;b":                       {"not a URL query"},
		"GET /v1/sessions/a?x=1":                     {`"x"`, "this operation has no parameters"},
		"GET /v1/sessions/a/events?after=0&Follow=1": {`"Follow"`, "follow"},
		"GET /v1/stream?after=now":                   {`"after"`, "from"},
		"GET /v1/search?query=x":                     {`"query"`, "q"},
	} {
		got := s.problem(what, "")
		if got.Status != 400 || got.Code != "invalid" {
			t.Errorf("%s = %+v, want 400 invalid", what, got)
		}
		for _, w := range words {
			if !strings.Contains(got.Detail, w) {
				t.Errorf("%s = %q, want %s in it", what, got.Detail, w)
			}
		}
	}
}

func TestEveryReferenceInTheDocumentLeadsSomewhere(t *testing.T) {
	s := newSite(t)
	b := s.raw(200, "GET /v1/openapi.json", "")
	var doc document
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	refs := 0
	for rest := string(b); ; refs++ {
		_, after, ok := strings.Cut(rest, `"$ref":"#/components/`)
		if !ok {
			break
		}
		ref, after, _ := strings.Cut(after, `"`)
		kind, name, _ := strings.Cut(ref, "/")
		if rest = after; doc.Components[kind][name] == nil {
			t.Errorf("the document refers to %s, which it has not", ref)
		}
	}
	if refs < 100 {
		t.Errorf("the document has %d references, want many", refs)
	}
}

// pathOf fills the parameters of a pattern.
func pathOf(r door.Route) string {
	return strings.NewReplacer("{id}", "a", "{key}", "k", "{hash}", strings.Repeat("0", 64), "{$}", "").Replace(r.Pattern)
}

func TestNoRouteIsOpenToStrangersOrPagesOfOthers(t *testing.T) {
	s := newSite(t)
	for _, r := range s.door.Routes() {
		s, what := newSite(t), pathOf(r) // a new one each time: wrong tokens are counted
		s.refuses(403, "host", what, "", "Host: evil.example")
		s.refuses(403, "host", what, "", "Host: 127.0.0.1.evil.example")
		s.refuses(403, "origin", what, "", "Origin: https://evil.example")
		s.refuses(403, "origin", what, "", "Origin: null")
		if method, _, _ := strings.Cut(what, " "); method != "GET" {
			s.refuses(403, "origin", what, "", "Sec-Fetch-Site: cross-site")
		}
		if r.Scope == door.Open {
			continue
		}
		s.refuses(401, "token", what, "", "Authorization: ")
		s.refuses(401, "token", what, "", "Authorization: Bearer "+s.token+"x")
		s.refuses(401, "token", what, "", "Authorization: Basic "+s.token)
	}
	reader := s.as("", "read")
	for _, r := range s.door.Routes() {
		if r.Scope > door.Read {
			reader.refuses(403, "scope", pathOf(r), "")
		}
	}
}

func TestEveryRouteRefusesBodiesOfOtherTypesAndSizes(t *testing.T) {
	s := newSite(t)
	for _, r := range s.door.Routes() {
		what := pathOf(r)
		if strings.HasPrefix(what, "GET ") || r.Pattern == "POST /logout" {
			continue
		}
		if r.Body == 0 {
			s.refuses(413, "size", what, "{}")
			continue
		}
		s.refuses(415, "type", what, "{}", "Content-Type: ")
		s.refuses(415, "type", what, "{}", "Content-Type: text/plain")
		s.refuses(415, "type", what, "{}", "Content-Type: application/json; charset=utf-16")
	}
	long := strings.Repeat(" ", door.MaxBody+1)
	for _, what := range []string{"POST /v1/sessions", "PATCH /v1/sessions/a", "POST /v1/sessions/a/messages", "POST /v1/prune", "POST /v1/sessions/a/lease"} {
		s.refuses(413, "size", what, long)
	}
}

func TestAHundredWrongTokensAreTooMany(t *testing.T) {
	s := newSite(t)
	for range 100 {
		s.refuses(401, "token", "GET /v1/sessions", "", "Authorization: Bearer wrong")
	}
	s.refuses(429, "tries", "GET /v1/sessions", "", "Authorization: Bearer wrong")
	s.raw(200, "GET /v1/sessions", "")
}

func TestAnothersSessionIsNotThere(t *testing.T) {
	s := newSite(t)
	blob := skein.NewBlob([]byte("a picture of ann"))
	picture := skein.Say(3, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Blob: blob.Hash}}}})
	if _, err := s.store.Append(t.Context(), skein.Batch{Session: "anns", Blobs: []skein.Blob{blob}, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{User: "ann", Key: "ann:key", Title: "annstitle", Project: "/annsproject"}),
		skein.Say(2, skein.UserSays("xylophone")), picture,
	}}); err != nil {
		t.Fatal(err)
	}
	s.begin("bobs", skein.Created{User: "bob"}, "hello")
	s.begin("kid", skein.Created{User: "bob", Parent: &skein.Parent{Session: "anns", Seq: 2, Why: skein.Child}}, "hello")
	ann, bob := s.as("ann", "write"), s.as("bob", "write,read:raw")
	for what, body := range map[string]string{
		"GET /v1/sessions/ID":                                "",
		"PATCH /v1/sessions/ID":                              `{"title":"mine"}`,
		"DELETE /v1/sessions/ID":                             "",
		"POST /v1/sessions/ID/purge":                         "",
		"POST /v1/sessions/ID/restore":                       "",
		"POST /v1/sessions/ID/fork":                          `{"seq":2}`,
		"POST /v1/sessions/ID/rewind":                        `{"seq":2}`,
		"GET /v1/sessions/ID/tree":                           "",
		"GET /v1/sessions/ID/events":                         "",
		"GET /v1/sessions/ID/events?view=messages":           "",
		"GET /v1/sessions/ID/events?view=messages&before=9":  "",
		"GET /v1/sessions/ID/events?view=context":            "",
		"GET /v1/sessions/ID/events?view=context&provider=x": "",
		"GET /v1/sessions/ID/events?follow=1":                "",
		"GET /v1/sessions/ID/messages":                       "",
		"GET /v1/sessions/ID/messages?cursor=3":              "",
		"POST /v1/sessions/ID/messages":                      `{"role":"user","text":"hi"}`,
		"GET /v1/sessions/ID/export":                         "",
		"GET /v1/sessions/ID/export?to=html":                 "",
		"GET /v1/sessions/ID/blobs/" + string(blob.Hash):     "",
		"GET /v1/sessions/OWN/blobs/" + string(blob.Hash):    "",
		"POST /v1/sessions/ID/events":                        `{"events":[{"kind":"noted","payload":{"name":"x"}}]}`,
		"GET /v1/keys/ann:key":                               "",
		"GET /v1/resolve?name=anns":                          "",
		"GET /v1/resolve?name=annstitle":                     "",
		"GET /v1/search?q=x+session:anns":                    "",
		"GET /v1/search?q=x&session=annstitle":               "",
		"POST /v1/sessions/new/events":                       `{"events":[{"kind":"created","payload":{"parent":{"session":"ID","seq":2,"why":"fork"}}}]}`,
		"POST /v1/sessions":                                  `{"parent":{"session":"ID","seq":2,"why":"fork"}}`,
		"POST /v1/sessions/ID/lease":                         `{}`,
		"POST /v1/sessions/ID/lease/renew":                   `{"fence":1}`,
	} {
		fill := func(id, own string) (string, string) {
			r := strings.NewReplacer("ID", id, "OWN", own)
			return r.Replace(what), r.Replace(body)
		}
		theirs, with := fill("anns", "bobs")
		missing, withMissing := fill("nones", "bobs")
		missing = strings.NewReplacer("ann:key", "none:key", "annstitle", "nonestitle", "anns", "nones", string(blob.Hash), strings.Repeat("f", 64)).Replace(missing)
		if strings.HasSuffix(what, "/lease") { // the lease of a session that does not exist yet can be taken
			bob.refuses(404, "not_found", theirs, with)
			continue
		}
		got, none := bob.problem(theirs, with), bob.problem(missing, withMissing)
		if got.Status != 404 || got.Code != none.Code || got.Status != none.Status {
			t.Errorf("%s of another's session = %+v, of none %+v; want the same, 404", what, got, none)
		}
	}
	for _, c := range []string{
		"GET /v1/sessions?include_empty=1", "GET /v1/sessions?user=ann", "GET /v1/sessions?key=ann:key", "GET /v1/sessions?parent=anns", "GET /v1/sessions?title=annstitle", "GET /v1/sessions?id_prefix=anns",
		"GET /v1/search?q=xylophone", "GET /v1/search?q=project:annsproject", "GET /v1/search?mode=substring&q=xyloph", "GET /v1/usage?by=session", "GET /v1/usage?by=project&user=ann", "GET /v1/prune?older_than=1d", "GET /v1/sessions/kid/tree",
	} {
		b := string(bob.raw(200, c, ""))
		for _, word := range []string{`"id":"anns"`, `"of":"anns"`, "annstitle", "annsproject", "xylophone"} {
			if strings.Contains(b, word) {
				t.Errorf("%s tells of another's session: %s", c, b)
			}
		}
	}
	var held struct{ Fence int }
	ann.wants(201, "POST /v1/sessions/anns/lease", `{"program":"anns"}`, &held)
	bob.refuses(404, "not_found", "POST /v1/sessions/anns/lease/renew", fmt.Sprintf(`{"fence":%d}`, held.Fence))
	bob.send(fmt.Sprintf("DELETE /v1/sessions/anns/lease?fence=%d", held.Fence), "")
	bob.refuses(404, "not_found", "POST /v1/sessions/anns/lease", `{"take_over":true}`)
	ann.raw(200, "POST /v1/sessions/anns/lease/renew", fmt.Sprintf(`{"fence":%d}`, held.Fence))
	var made, mine struct{ ID string }
	ann.wants(201, "POST /v1/sessions", `{"title":"secret"}`, &made, "Idempotency-Key: same")
	bob.wants(201, "POST /v1/sessions", `{"title":"other"}`, &mine, "Idempotency-Key: same")
	if made == mine {
		t.Error("an idempotency key finds another user's session")
	}
	if got := bob.problem("POST /v1/sessions", `{"id":"anns"}`); got.Status != 409 && got.Status != 404 {
		t.Errorf("a session with another's ID = %+v, want it refused", got)
	}
	cursor := page[line]{}
	if s.wants(200, "GET /v1/sessions?limit=1", "", &cursor); cursor.Next != "" {
		if b := bob.raw(200, "GET /v1/sessions?cursor="+cursor.Next, ""); strings.Contains(string(b), `"id":"anns"`) {
			t.Errorf("a cursor of others tells of another's session: %s", b)
		}
	}
}

// problem sends a request and returns the problem in the answer.
func (s *site) problem(what, body string) (p door.Problem) {
	s.Helper()
	w := s.send(what, body)
	p.Status = w.StatusCode
	if err := json.NewDecoder(w.Body).Decode(&p); err != nil {
		p.Detail = fmt.Sprint(err)
	}
	return p
}

// What linters of OpenAPI ask of a document (redocly and spectral, with what they
// recommend): it says where the server is, and describes every operation and its tag.
func TestTheDocumentDescribesEverything(t *testing.T) {
	var doc struct {
		Info struct {
			License, Contact map[string]string
		}
		Servers []struct{ URL string }
		Tags    []struct{ Name, Description string }
		Paths   map[string]map[string]struct {
			Summary, Description string
			Tags                 []string
			Security             []map[string][]string
			Scope                string `json:"x-scope"`
		}
	}
	if err := json.Unmarshal(newSite(t).raw(200, "GET /v1/openapi.json", ""), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Info.License["identifier"] != "Apache-2.0" || doc.Info.Contact["url"] == "" || len(doc.Servers) != 1 {
		t.Errorf("the document has the license %v, the contact %v and the servers %v", doc.Info.License, doc.Info.Contact, doc.Servers)
	}
	tags := map[string]bool{} // whether one is used
	for _, tag := range doc.Tags {
		tags[tag.Name] = false
		if tag.Description == "" {
			t.Errorf("the tag %s has no description", tag.Name)
		}
	}
	for path, item := range doc.Paths {
		for method, op := range item {
			if op.Summary == "" || op.Description == "" {
				t.Errorf("%s %s has the summary %q and the description %q", method, path, op.Summary, op.Description)
			}
			for _, tag := range op.Tags {
				if _, there := tags[tag]; !there {
					t.Errorf("%s %s has the tag %q, which the document does not describe", method, path, tag)
				}
				tags[tag] = true
			}
			for _, needs := range op.Security {
				if scopes, ok := needs["token"]; ok && (len(scopes) > 0 || op.Scope == "") {
					t.Errorf("%s %s asks for a token of the scopes %q and says %q: only OAuth has scopes there", method, path, scopes, op.Scope)
				}
			}
		}
	}
	for tag, used := range tags {
		if !used {
			t.Errorf("no operation has the tag %s", tag)
		}
	}
}
