package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

type input struct {
	Limit int      `query:"limit" minimum:"1" maximum:"10" default:"3"`
	Tags  []string `query:"tag,explode"`
	Body  struct {
		Name string `json:"name"`
	}
}

type output struct {
	Body struct {
		Name  string `json:"name"`
		Limit int    `json:"limit"`
	}
}

// served returns the handler of an operation, put-thing, that answers what it is
// asked, or with err.
func served(t *testing.T, err error) http.Handler {
	t.Helper()
	table := openapi.New("1.2.3", "About it.", func(s skein.Session) skein.Session { s.Title = "•••"; return s })
	openapi.Register(table, openapi.Operation{
		ID: "put-thing", Method: http.MethodPut, Path: "/thing", Summary: "put a thing", Tag: "things", Scope: door.Write, Body: 1000, Errors: []int{http.StatusConflict},
	}, func(_ context.Context, in *input) (*output, error) {
		out := &output{}
		out.Body.Name, out.Body.Limit = in.Body.Name, in.Limit
		return out, err
	})
	mux := http.NewServeMux()
	for _, r := range table.Routes() {
		mux.Handle(r.Pattern, r.Handler)
	}
	return mux
}

// ask puts a body, and returns the answer.
func ask(h http.Handler, query, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPut, "/v1/thing"+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// refused checks that an answer is a problem with this status and code, and that its
// text has says.
func refused(t *testing.T, w *httptest.ResponseRecorder, status int, code, says string) {
	t.Helper()
	var p door.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("the answer is %q: %v", w.Body, err)
	}
	if w.Code != status || p.Status != status || p.Code != code || !strings.Contains(p.Detail, says) || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("the answer is %d %s %s, want a problem %d, %s, that says %q", w.Code, w.Header().Get("Content-Type"), w.Body, status, code, says)
	}
}

// Two parsers that do not agree about a body must not both accept it.
func TestABodyHasOneMeaning(t *testing.T) {
	h := served(t, nil)
	for body, says := range map[string]string{
		`{"name":"a","name":"b"}`: "name",
		"{\"name\":\"\xff\"}":     "UTF-8",
		`{"name":"a"} {}`:         "after the body",
		`{"name":`:                "EOF",
		`{"name":7}`:              "body.name",
		`{"name":"a","other":1}`:  "body.other",
		``:                        "body",
	} {
		refused(t, ask(h, "", body), http.StatusBadRequest, "invalid", says)
	}
	if w := ask(h, "", `{"name":"\ud83d"}`); w.Code != http.StatusOK { // of a program that cut a text
		t.Errorf("half a pair is answered with %d %s, want it accepted", w.Code, w.Body)
	}
}

func TestAParameterIsKnownAndGivenOnce(t *testing.T) {
	h := served(t, nil)
	for query, says := range map[string]string{
		"?limt=2": "limit, tag", "?limit=2&limit=3": "2 times", "?limit=11": "query.limit", "?limit=x": "query.limit", "?a=%zz": "not a URL query",
	} {
		refused(t, ask(h, query, `{"name":"a"}`), http.StatusBadRequest, "invalid", says)
	}
	for query, want := range map[string]string{"": `"limit":3`, "?limit=7&tag=a&tag=b": `"limit":7`} {
		if w := ask(h, query, `{"name":"a"}`); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s is answered with %d %s, want %s", query, w.Code, w.Body, want)
		}
	}
}

func TestAnErrorIsAProblemThatTellsNoMoreThanItMay(t *testing.T) {
	body := `{"name":"a"}`
	refused(t, ask(served(t, openapi.Refuse(http.StatusConflict, "taken", "the name %q is taken", "a")), "", body), http.StatusConflict, "taken", `"a" is taken`)
	refused(t, ask(served(t, skein.ErrNotFound), "", body), http.StatusNotFound, "not_found", "")
	w := ask(served(t, errors.New("open /srv/secret")), "", body)
	if refused(t, w, http.StatusInternalServerError, "internal", "log"); strings.Contains(w.Body.String(), "/srv") {
		t.Errorf("the answer says %s", w.Body)
	}
	w = ask(served(t, &skein.AmbiguousError{Name: "a", Candidates: []skein.Session{{Title: "a password"}}}), "", body)
	if strings.Contains(w.Body.String(), "password") {
		t.Errorf("the answer says %s, want the titles masked", w.Body)
	}
	w = ask(served(t, skein.ErrAway), "", body)
	if refused(t, w, http.StatusServiceUnavailable, "away", "later"); w.Header().Get("Retry-After") == "" {
		t.Error("the answer does not say when to try again")
	}
}

func TestTheDocumentTellsEveryAnswerAndItsPageShowsThem(t *testing.T) {
	h := served(t, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]any
			Security  []map[string][]string
			Scope     string `json:"x-scope"`
		}
		Components struct{ Schemas, Responses map[string]any }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	op := doc.Paths["/v1/thing"]["put"]
	for _, status := range []string{"200", "400", "401", "403", "409", "413", "415", "429", "500", "503", "507"} {
		if op.Responses[status] == nil {
			t.Errorf("the document does not tell of status %s", status)
		}
		if status != "200" && doc.Components.Responses[status] == nil {
			t.Errorf("the document does not say what status %s means", status)
		}
	}
	if op.Responses["422"] != nil || doc.Components.Schemas["ErrorModel"] != nil || len(op.Security) != 1 || op.Security[0]["token"] == nil || op.Scope != "write" {
		t.Errorf("the document says %s", w.Body)
	}
	page := httptest.NewRecorder()
	h.ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/v1/docs", nil))
	for _, want := range []string{"put a thing", "/v1/thing", "at most 10", "409", "About it."} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the page of %d bytes does not show %q", page.Body.Len(), want)
		}
	}
}
