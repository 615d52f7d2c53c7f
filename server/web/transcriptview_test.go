package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// talkOf composes a session in an empty place of a store.
func talkOf(t *testing.T, id string) (*composer, *visit) {
	t.Helper()
	store := composed(t)
	c := &composer{t: t, store: store, calls: 5000}
	c.begin(id, composedNow.Add(-72*time.Hour), skein.Created{Title: "A talk", Project: "/home/ada/courier", Cwd: "/home/ada/courier", Agent: "claude-code", Provider: "anthropic", Model: sonnet})
	return c, visiting(t, store, nil)
}

func TestTranscriptTellsTheTime(t *testing.T) {
	c, v := talkOf(t, "s-time")
	c.at = skein.At(time.Date(2026, 11, 18, 22, 50, 0, 0, time.UTC))
	c.asks("first") // at 22:50:40
	c.later(2 * time.Hour)
	c.asks("on the next day") // at 00:51:20
	c.later(5 * time.Minute)
	c.asks("soon after")
	c.later(50 * time.Hour)
	c.asks("much later")
	page := v.get("/sessions/s-time")
	wants(
		t, "the page", page, ">22:50</time>", ">00:51</time>", "<span>Wednesday, November 18, 2026</span>",
		`<span>Thursday, November 19, 2026</span> <span class="gap">2 h later</span>`, `<span>Saturday, November 21, 2026</span> <span class="gap">2 days later</span>`,
	)
	if n := strings.Count(page, `class="clock`); n != 3 {
		t.Errorf("the page has %d marks of the time, want 3: none for five minutes", n)
	}
	v.cookie(&http.Cookie{Name: "skein_zone", Value: "Asia/Tokyo"})
	there := v.get("/sessions/s-time")
	wants(t, "the page in Tokyo", there, ">07:50</time>", "<span>Thursday, November 19, 2026</span>", "JST")
	lacks(t, "the page in Tokyo", there, "Wednesday, November 18")
	for _, bad := range []string{"../../etc/passwd", "Nowhere/There", "Local", "%00"} {
		v.cookie(&http.Cookie{Name: "skein_zone", Value: bad})
		wants(t, "the page with the zone "+bad, v.get("/sessions/s-time"), ">22:50</time>")
	}
}

func TestCallsAreDrawnByTheirKind(t *testing.T) {
	c, v := talkOf(t, "s-kinds")
	c.asks("do it all")
	for _, call := range []struct{ tool, input, output string }{
		{"Bash", `{"command":"go test ./...","description":"Run the tests"}`, "Exit code 2\nFAIL"},
		{"shell", `{"command":["bash","-lc","make all"]}`, `{"output":"made","metadata":{"exit_code":0}}`},
		{"Read", `{"file_path":"/home/ada/courier/a.go"}`, "     7→package a\n     8→var x = 1\n     9→var y = 2\n"},
		{"Edit", `{"file_path":"/home/ada/courier/a.go","old_string":"var x = 1","new_string":"var x = 2\nvar z = 3"}`, "The file was updated."},
		{"Edit", `{"file_path":"/home/ada/courier/a.go","old_string":"var y = 2","new_string":"var y = 4"}`, "The file was updated."},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.go\n@@\n keep\n-gone\n+come\n*** Delete File: c.go\n*** End Patch"}`, "Done!"},
		{"Write", `{"file_path":"/home/ada/courier/new.go","content":"package new\n"}`, "Created."},
		{"update_plan", `{"plan":[{"step":"Look <b>","status":"completed"},{"step":"Mend","status":"in_progress"},{"step":"Test","status":"pending"}]}`, "Plan updated"},
		{"AskUserQuestion", `{"questions":[{"question":"Which store?","options":[{"label":"Postgres","description":"one more table"},{"label":"Redis"}]}]}`, "Postgres"},
		{"WebFetch", `{"url":"https://example.com/a?b=<c>","prompt":"What is it?"}`, "It is **bold**."},
		{"WebFetch", `{"url":"javascript:alert(1)","prompt":"What is it?"}`, "Nothing."},
		{"Grep", `{"pattern":"func Up","path":"/home/ada/courier"}`, "a.go:1:func Upload"},
	} {
		c.runs(sonnet, call.tool, call.input, call.output, false, used(1, 1, 0, 0))
	}
	page := v.get("/sessions/s-kinds")
	wants(
		t, "the page", page,
		`<span class="line">go test ./...</span>FAIL`, `<span class="exit bad">exit 2</span>`, `>Run the tests</p>`,
		`<span class="line">make all</span>`, `made<span class="exit">exit 0</span>`,
		`<span class="l d" data-a="8" data-b="">-`, `<span class="l i" data-a="" data-b="8">+`, `data-b="9">+`, // where it was read
		`<span class="l d" data-a="10" data-b="">-`, // moved by the first edit
		`data-b="">-gone`, `data-b="">+come`, "<code>b.go</code>", `<span class="dim">deleted</span>`, // a patch
		`<span class="dim">written whole</span>`, `data-b="1">+<span class="k">package</span>`,
		`<li class="done"><span class="hidden">done: </span>Look &lt;b&gt;</li>`, `<li class="doing">`, "1 of 3 done",
		`<p class="asked">Which store?</p>`, `<b>Postgres</b> <span class="dim">one more table</span>`,
		`<a href="https://example.com/a?b=%3cc%3e"`, "<strong>bold</strong>",
		"func Up in /home/ada/courier", "<code>a.go</code>",
	)
	lacks(t, "the page", page, `href="javascript:`, "Exit code 2", "The file was updated", "ZgotmplZ")
}

// cookie puts a cookie into the visitor's browser.
func (v *visit) cookie(c *http.Cookie) {
	v.t.Helper()
	at, err := url.Parse(v.url)
	if err != nil {
		v.t.Fatal(err)
	}
	v.client.Jar.SetCookies(at, []*http.Cookie{c})
}

// Programs that come and go are told of only if another one takes over, or one fails.
func TestComingAndGoingIsNoPartOfAConversation(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	add := func(kind skein.Kind, p skein.Program) {
		t.Helper()
		if _, err := skein.Add(t.Context(), store, "s-fork", skein.NewEvent(kind, skein.At(composedNow), p)); err != nil {
			t.Fatal(err)
		}
	}
	add(skein.KindResumed, skein.Program{Program: "skein chat", Host: "desk"})
	add(skein.KindEnded, skein.Program{Program: "skein chat", Host: "desk", How: "done"})
	add(skein.KindResumed, skein.Program{Program: "skein chat", Host: "desk"})
	add(skein.KindEnded, skein.Program{Program: "skein chat", Host: "desk", How: "interrupted"})
	lacks(t, "the page", v.get("/sessions/s-fork?before=0"), "Resumed", "Ended")
	add(skein.KindResumed, skein.Program{Program: "skein chat", Host: "lap"})
	add(skein.KindEnded, skein.Program{Program: "skein chat", Host: "lap", How: "error"})
	wants(t, "the page", v.get("/sessions/s-fork?before=0"), "Resumed by skein chat on lap", "Ended by skein chat on lap: error")
}
