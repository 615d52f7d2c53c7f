package notice

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

// A notice arrives by each way as its receiver wants it.
func TestANoticeArrives(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Skein-Source")+" "+string(b))
		if strings.HasSuffix(r.URL.Path, "/moved") {
			http.Redirect(w, r, "/", http.StatusFound)
		}
	}))
	defer s.Close()
	vars := map[string]string{"SECRET": "0123456789abcdef", "NTFY_TOKEN": "tk"}
	j := &job.Job{Env: &config.Env{Now: time.Now, Getenv: func(n string) string { return vars[n] }, OS: runtime.GOOS}}
	n := Notice{About: "waiting", Title: "Tea: waiting", Text: "rm x", Session: "s"}
	send := func(o config.OwnNotify) error {
		t.Helper()
		j.Settings.Notify = o
		all := Channels(j)
		if len(all) != 1 {
			t.Fatalf("%+v has %d channels, want 1", o, len(all))
		}
		return all[0].Send(t.Context(), n)
	}
	for _, c := range []struct {
		o    config.OwnNotify
		want string
	}{
		{config.OwnNotify{Webhook: s.URL + "/hook", SecretEnv: "SECRET"}, `/hook  notice {"about":"waiting","title":"Tea: waiting","text":"rm x","session":"s","at":`},
		{config.OwnNotify{Ntfy: s.URL + "/tea"}, `/ Bearer tk  {"message":"rm x","priority":4,"tags":["waiting"],"title":"Tea: waiting","topic":"tea"}`},
	} {
		got = nil
		if err := send(c.o); err != nil || len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%+v sends %q, %v, want %q", c.o, got, err, c.want)
		}
	}
	for _, o := range []config.OwnNotify{{Webhook: s.URL + "/moved"}, {Webhook: s.URL, SecretEnv: "NONE"}, {Ntfy: "https://host"}, {Webhook: "http://127.0.0.1:1/secret"}} {
		if err := send(o); err == nil || strings.Contains(err.Error(), "/secret") {
			t.Errorf("%+v: %v, want an error without the address", o, err)
		}
	}
}

// The desktop's program gets the texts as words of their own.
func TestTheDesktopShowsANotice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: notify-send is Linux's")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\nprintf '%s|' \"$@\" >"+dir+"/shown\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if err := desktop(t.Context(), "linux", Notice{Title: "-x; rm", Text: "a\nb"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "shown"))
	if err != nil || !strings.HasPrefix(string(b), "--app-name=skein|--|-x; rm|a") {
		t.Errorf("notify-send got %q, %v", b, err)
	}
}
