package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/skein-dev/skein/server/door"
)

// A body for which there is no room is not an invalid body, on any route.
func TestABodyThatFindsNoRoomIsToComeAgain(t *testing.T) {
	s := newSite(t)
	for what, begin := range map[string]string{
		"POST /v1/sessions":            `{"title":"`,
		"POST /v1/sessions/a/events":   `{"events":[`,
		"POST /v1/append":              `{"batches":[`,
		"POST /v1/import?name=x.jsonl": `{"type":"user"}`,
	} {
		method, path, _ := strings.Cut(what, " ")
		r := httptest.NewRequest(method, path, io.MultiReader(strings.NewReader(begin), iotest.ErrReader(door.ErrBusy)))
		r.Host, r.ContentLength = "localhost", -1
		r.Header.Set("Authorization", "Bearer "+s.token)
		if r.Header.Set("Content-Type", "application/json"); strings.Contains(path, "import") {
			r.Header.Set("Content-Type", "application/octet-stream")
		}
		w := httptest.NewRecorder()
		s.door.ServeHTTP(w, r)
		var p door.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusServiceUnavailable || p.Code != "busy" || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s = %d %s %v, want 503 busy, and when to come back", what, w.Code, w.Body, w.Header())
		}
	}
}
