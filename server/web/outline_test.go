package web_test

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web"
)

func TestOutlineSaysWhatHappenedAndWhere(t *testing.T) {
	c, v := talkOf(t, "s-outline")
	first := c.asks("Look at the <uploads>")
	c.runs(sonnet, "Edit", `{"file_path":"/home/ada/courier/a.go","old_string":"x","new_string":"y\nz"}`, "ok", false, used(9000, 900, 0, 0))
	c.runs(sonnet, "Edit", `{"file_path":"/home/ada/courier/a.go","old_string":"y","new_string":"w"}`, "no such text", true, used(9, 9, 0, 0))
	second := c.asks("And now?")
	c.put(skein.NewEvent(skein.KindCompacted, c.at, skein.Compacted{To: first, Summary: "All of it."}))
	c.calls++
	c.later(time.Second)
	c.runs(sonnet, "Bash", `{"command":"make slow"}`, "made", false, used(9, 9, 0, 0))
	at := c.asks("The last one")
	c.put(skein.NewEvent(skein.KindRewound, c.at, skein.Rewound{To: at - 1}))
	c.begin("s-outline-fork", c.at.Std(), skein.Created{Title: "Another way", Parent: &skein.Parent{Session: "s-outline", Seq: second, Why: skein.Fork}})
	for _, path := range []string{"/sessions/s-outline/outline", "/sessions/s-outline/outline?piece=1"} {
		page := v.get(path)
		wants(
			t, path, page, `Look at the &lt;uploads&gt;`, `href="/sessions/s-outline?at=2#m2"`, "And now?", "2 calls", "1 error", ">compacted<",
			`<span class="good">+2</span> <span class="bad">−1</span>`, "Edit: no such text", `1 failed`, `href="/sessions/s-outline-fork">fork: Another way`, `<rect width="100"`,
		)
		lacks(t, path, page, "The last one")
	}
	changes := v.get("/sessions/s-outline/changes")
	wants(t, "the changes", changes, "<b>a.go</b>", `data-b="">+y`, "turn 1, 2026-11-18")
	lacks(t, "the changes", changes, `data-b="">+w`) // that call failed
	wants(t, "no changes", v.get("/sessions/s-child/changes"), "changed no files")
	wants(t, "the page", v.get("/sessions/s-outline"), `href="/sessions/s-outline/outline"`, `href="/sessions/s-outline/changes"`)
}

func TestOutlineMasksSecrets(t *testing.T) {
	store := composed(t)
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	c := &composer{t: t, store: store, calls: 6000}
	c.begin("s-veil", composedNow, skein.Created{Title: "The token " + secret})
	c.asks("my token is " + secret)
	c.runs(sonnet, "Bash", `{"command":"login `+secret+`"}`, "no: "+secret, true, used(1, 1, 0, 0))
	c.runs(sonnet, "Write", `{"file_path":"/tmp/`+secret+`","content":"`+secret+`"}`, "ok", false, used(1, 1, 0, 0))
	c.calls++
	v := visiting(t, store, func(o *web.Options) { o.Secrets = redact.New() })
	for _, path := range []string{"/outline", "/outline?piece=1", "/changes"} {
		lacks(t, path, v.get("/sessions/s-veil"+path), secret)
	}
	wants(t, "the outline with secrets", v.get("/sessions/s-veil/outline?raw=1"), secret)
	wants(t, "the changes with secrets", v.get("/sessions/s-veil/changes?raw=1"), secret)
}
