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
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{}}`) //nolint:errcheck // the client says what it misses
	}))
	defer s.Close()
	vars := map[string]string{"SECRET": "0123456789abcdef", "NTFY_TOKEN": "tk", "TELEGRAM_BOT_TOKEN": "tg", "DISCORD_BOT_TOKEN": "dc", "SLACK_BOT_TOKEN": "xoxb-b", "SLACK_APP_TOKEN": "xapp-a"}
	j := &job.Job{Env: &config.Env{Now: time.Now, Getenv: func(n string) string { return vars[n] }, OS: runtime.GOOS}}
	at := &config.OwnSurface{API: s.URL}
	j.Settings.Gateway.Telegram, j.Settings.Gateway.Discord, j.Settings.Gateway.Slack = at, at, at
	j.Dirs.State = t.TempDir()
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
		{config.OwnNotify{Telegram: "4711"}, `/bottg/sendMessage   {"chat_id":4711,"text":"Tea: waiting\nrm x",`},
		{config.OwnNotify{Discord: "80351110224678912"}, `/api/v9/channels/80351110224678912/messages Bot dc  {"content":"Tea: waiting\nrm x",`},
		{config.OwnNotify{Slack: "C024BE91L"}, `/chat.postMessage Bearer xoxb-b  channel=C024BE91L&markdown_text=Tea%3A+waiting%0Arm+x&`},
	} {
		got = nil
		if err := send(c.o); err != nil || len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%+v sends %q, %v, want %q", c.o, got, err, c.want)
		}
	}
	for _, o := range []config.OwnNotify{{Webhook: s.URL + "/moved"}, {Webhook: s.URL, SecretEnv: "NONE"}, {Ntfy: "https://host"}, {Webhook: "http://127.0.0.1:1/secret"}, {Telegram: "@ada"}, {Discord: "general"}, {Slack: "#general"}} {
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
