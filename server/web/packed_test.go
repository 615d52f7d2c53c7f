package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Pages and tables go compressed to a browser that takes it, and are the same for one
// that does not; streams of events stay as they are.
func TestPagesGoCompressed(t *testing.T) {
	v := visiting(t, composed(t), nil)
	fetch := func(path, encoding string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", encoding) // the client unpacks nothing by itself then
		answer, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it was read
		body := io.Reader(answer.Body)
		if answer.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(text)
	}
	for _, path := range []string{"/", "/usage", "/search?q=uploads"} {
		plain, want := fetch(path, "identity")
		small, got := fetch(path, "gzip")
		if plain.Header.Get("Content-Encoding") != "" || small.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(small.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s goes as %q to a browser that takes no compression and as %q, Vary %q, to one that takes gzip", path,
				plain.Header.Get("Content-Encoding"), small.Header.Get("Content-Encoding"), small.Header.Get("Vary"))
		}
		if got != want {
			t.Errorf("%s is another page when it goes compressed:\n%s\nwant:\n%s", path, got, want)
		}
	}
}
