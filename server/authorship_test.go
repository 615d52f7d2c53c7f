package server_test

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// writes appends a call that writes a file, and its result.
func (s *site) writes(id skein.SessionID, call, path, content string, failed bool) {
	s.Helper()
	input, err := json.Marshal(map[string]string{"path": path, "content": content})
	if err != nil {
		s.Fatal(err)
	}
	at := skein.Time(1_700_000_002_000)
	if _, err := skein.Add(
		s.Context(), s.store, id,
		skein.Say(at, skein.Message{Role: skein.RoleAssistant, Model: "m1", Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: call, Name: "write", Input: input}}}}),
		skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: call, Text: "said", Failed: failed}}}}),
	); err != nil {
		s.Fatal(err)
	}
}

// repository makes a repository with a file that is committed.
func repository(t *testing.T, file, content string) string {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"init -q", "add -A", "-c user.name=Ada -c user.email=ada@example.com commit -q -m Add"} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	return dir
}

type fileEdits struct {
	Path  string
	Items []struct {
		Path, Name, Model string
		Session           skein.SessionID
		Seq               skein.Seq
		Turn              int
		Whole             bool
		Added             []string
	}
	Next string `json:"next_cursor"`
}

func TestWhatSessionsDidToFilesIsTold(t *testing.T) {
	s := newSite(t)
	key := "AKIA" + "Z7QX3M5NPLK2RTWV"
	dir := repository(t, "parse.go", "package pear\n\nfunc parse() {}\n")
	s.begin("a", skein.Created{Agent: "coder", Project: dir, Cwd: dir}, "write a parser; the key is "+key)
	s.writes("a", "c1", "parse.go", "package pear\n\nfunc parse() {}\n", false)
	s.writes("a", "c2", filepath.Join(dir, "none.go"), "never written", true)
	s.writes("a", "c3", "key.go", key, false)
	s.begin("b", skein.Created{Project: dir, Cwd: filepath.Join(dir, "sub")}, "again")
	s.writes("b", "c4", "../parse.go", "package pear\n", false)
	s.begin("c", skein.Created{Project: "/elsewhere", Cwd: "/elsewhere"}, "elsewhere")
	s.writes("c", "c5", "parse.go", "package plum\n", false)

	var got fileEdits
	s.wants(200, "GET /v1/sessions/a/changes", "", &got)
	if len(got.Items) != 2 || got.Items[0].Path != "parse.go" || got.Items[0].Seq != 3 || got.Items[0].Turn != 1 || !got.Items[0].Whole || len(got.Items[0].Added) != 3 || got.Items[0].Model != "m1" || got.Items[1].Path != "key.go" {
		t.Errorf("GET changes = %+v, want those of parse.go and key.go", got)
	}
	if b := s.raw(200, "GET /v1/sessions/a/changes", ""); strings.Contains(string(b), key) || !strings.Contains(string(b), "redacted") {
		t.Errorf("GET changes shows a secret: %s", b)
	}
	if b := s.raw(200, "GET /v1/sessions/a/changes?raw=1", ""); !strings.Contains(string(b), key) {
		t.Errorf("GET changes with raw=1 = %s, want it as it is", b)
	}
	s.wants(200, "GET /v1/sessions/a/changes?limit=1", "", &got)
	next := got.Next
	if s.wants(200, "GET /v1/sessions/a/changes?limit=1&cursor="+next, "", &got); next == "" || len(got.Items) != 1 || got.Items[0].Path != "key.go" || got.Next != "" {
		t.Errorf("GET changes, the second page after %q = %+v, want key.go", next, got)
	}

	at := url.QueryEscape(dir)
	for _, path := range []string{"parse.go", url.QueryEscape(filepath.Join(dir, "parse.go"))} {
		s.wants(200, "GET /v1/files/history?project="+at+"&path="+path, "", &got)
		if got.Path != "parse.go" || len(got.Items) != 2 || got.Items[0].Session != "b" || got.Items[1].Session != "a" {
			t.Errorf("GET history of %s = %+v, want the edits of b and a", path, got)
		}
	}

	type blamed struct {
		File  string
		Items []struct {
			First, Last               int
			Session                   skein.SessionID
			Certainty, Prompt, Author string
		}
	}
	var lines blamed
	s.wants(200, "GET /v1/files/blame?file=parse.go&project="+at, "", &lines)
	if lines.File != "parse.go" || len(lines.Items) == 0 || lines.Items[0].Author != "Ada" || lines.Items[len(lines.Items)-1].Last != 3 || lines.Items[len(lines.Items)-1].Session != "a" || lines.Items[len(lines.Items)-1].Certainty != "exact" {
		t.Errorf("GET blame = %+v, want all three lines, the last one by a", lines)
	}
	var why struct {
		Asked string
		Added []string
	}
	s.wants(200, "GET /v1/files/why?file=parse.go&line=3&project="+at, "", &why)
	if !strings.HasPrefix(why.Asked, "write a parser") || strings.Contains(why.Asked, key) || len(why.Added) != 3 {
		t.Errorf("GET why = %+v, want the prompt without its secret, and the edit", why)
	}
}

func TestFilesAreOnlyThoseOfProjects(t *testing.T) {
	s := newSite(t)
	dir := repository(t, "a.go", "package pear\n")
	at := url.QueryEscape(dir)
	s.refuses(404, "not_found", "GET /v1/files/blame?file=a.go&project="+at, "") // no session is of it
	s.begin("a", skein.Created{Project: dir, User: "ann"}, "hello")
	s.begin("b", skein.Created{Project: t.TempDir()}, "hello")
	s.begin("c", skein.Created{Project: "relative"}, "hello")
	s.as("bob", "write").refuses(404, "not_found", "GET /v1/files/blame?file=a.go&project="+at, "")
	s.as("bob", "write").refuses(404, "not_found", "GET /v1/files/history?path=a.go&project="+at, "")
	s.as("bob", "write").refuses(404, "not_found", "GET /v1/sessions/a/changes", "")
	s.refuses(404, "not_found", "GET /v1/files/blame?file=a.go&project="+url.QueryEscape(t.TempDir()), "")
	for what, status := range map[string]int{
		"blame?file=a.go&project=" + at:                       200,
		"blame?file=none.go&project=" + at:                    400,
		"blame?file=../../../etc/passwd&project=" + at:        400,
		"blame?file=%2Fetc%2Fpasswd&project=" + at:            400,
		"blame?file=a.go&revision=--output%3Dx&project=" + at: 400,
		"blame?file=a.go&first=9&project=" + at:               400,
		"blame?file=a.go&first=3&last=2&project=" + at:        400,
		"why?file=a.go&line=0&project=" + at:                  400,
		"blame?file=a.go&project=relative":                    400,
		"history?path=a.go":                                   400,
		"history?path=a.go&cursor=7&project=" + at:            400,
	} {
		s.raw(status, "GET /v1/files/"+what, "")
	}
}
