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

// A browser keeps a page and asks whether it is still the same.
func TestPagesAreSentAgainOnlyIfTheyChanged(t *testing.T) {
	v := visiting(t, composed(t), nil)
	fetch := func(path, have string) (*http.Response, int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "gzip")
		r.Header.Set("If-None-Match", have)
		answer, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close() //nolint:errcheck // it was read
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, len(text)
	}
	for _, path := range []string{"/", "/sessions/s-retry", "/now", "/usage"} {
		first, _ := fetch(path, "")
		tag := first.Header.Get("ETag")
		if keeps := first.Header.Get("Cache-Control"); tag == "" || keeps != "private, no-cache" {
			t.Errorf("%s has the ETag %q and the Cache-Control %q", path, tag, keeps)
		}
		if again, n := fetch(path, tag); again.StatusCode != http.StatusNotModified || n != 0 {
			t.Errorf("%s with its ETag = %d with %d bytes, want %d without a body", path, again.StatusCode, n, http.StatusNotModified)
		}
	}
	before, _ := fetch("/sessions/s-retry", "")
	v.send("/sessions/s-retry/rename", map[string][]string{"title": {"Another name"}})
	if after, n := fetch("/sessions/s-retry", before.Header.Get("ETag")); after.StatusCode != http.StatusOK || n == 0 {
		t.Errorf("the renamed session = %d with %d bytes, want the new page", after.StatusCode, n)
	}
	if raw, _ := fetch("/sessions/s-retry?raw", ""); raw.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a page with secrets has the Cache-Control %q, want no-store", raw.Header.Get("Cache-Control"))
	}
}
