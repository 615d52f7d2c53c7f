package web_test

import (
	"net/url"
	"strings"
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
	wants(t, "the changes", changes, `href="/sessions/s-outline/file?path=%2Fhome%2Fada%2Fcourier%2Fa.go"`)
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
	c.runs(sonnet, "Write", `{"file_path":"/home/ada/veiled.go","content":"`+secret+`"}`, "ok", false, used(1, 1, 0, 0))
	for _, path := range []string{"/outline", "/outline?piece=1", "/changes", "/file?path=/home/ada/veiled.go"} {
		lacks(t, path, v.get("/sessions/s-veil"+path), secret)
	}
	wants(t, "the outline with secrets", v.get("/sessions/s-veil/outline?raw=1"), secret)
	wants(t, "the history of a file with secrets", v.get("/sessions/s-veil/file?path=/home/ada/veiled.go&raw=1"), secret)
	wants(t, "the changes with secrets", v.get("/sessions/s-veil/changes?raw=1"), secret)
}

func TestFileHasItsHistoryOverSessions(t *testing.T) {
	c, v := talkOf(t, "s-file-old")
	c.asks("Write it")
	c.runs(sonnet, "Write", `{"file_path":"/home/ada/courier/old.go","content":"first line\n"}`, "ok", false, used(1, 1, 0, 0))
	c.runs(sonnet, "Write", `{"file_path":"/home/ada/other/a.go","content":"of another folder\n"}`, "ok", false, used(1, 1, 0, 0))
	c.begin("s-file-new", c.at.Std().Add(time.Hour), skein.Created{Title: "A <later> one", Project: "/home/ada/courier", Cwd: "/home/ada/courier/sub", Agent: "codex"})
	c.asks("Move it")
	c.runs("gpt-5", "apply_patch", `{"input":"*** Begin Patch\n*** Update File: ../old.go\n*** Move to: ../a.go\n@@\n-first line\n+second line\n*** End Patch"}`, "ok", false, used(1, 1, 0, 0))
	c.runs("gpt-5", "Edit", `{"file_path":"../a.go","old_string":"second line","new_string":"never written"}`, "no such text", true, used(1, 1, 0, 0))
	for _, at := range []string{"/sessions/s-file-old/file?path=a.go", "/sessions/s-file-old/file?path=%2Fhome%2Fada%2Fcourier%2Fa.go", "/sessions/s-file-new/file?path=a.go"} {
		page := v.get(at)
		wants(t, at, page, "History of a.go", "A &lt;later&gt; one", `href="/sessions/s-file-new?at=3#m3"`, "moved from ../old.go", "second line", `href="/sessions/s-file-old?at=3#m3"`, "first line", "gpt-5")
		lacks(t, at, page, "never written", "of another folder")
		if strings.Index(page, "/sessions/s-file-new?at=3") > strings.Index(page, "/sessions/s-file-old?at=3") {
			t.Errorf("%s shows the older change first", at)
		}
	}
	lacks(t, "the history of the name before", v.get("/sessions/s-file-old/file?path=old.go"), "never written")
	wants(t, "the history of the name before", v.get("/sessions/s-file-old/file?path=old.go"), "first line", "moved from")
	wants(t, "a file of nobody", v.get("/sessions/s-file-old/file?path=none.go"), "No session is known")
}

func TestModesShowWhatTheReaderWants(t *testing.T) {
	c, v := talkOf(t, "s-modes")
	c.asks("First prompt")
	c.runs(sonnet, "Bash", `{"command":"make it"}`, "made it", false, used(1, 1, 0, 0))
	c.answers(sonnet, "Half done.", used(1, 1, 0, 0))
	c.runs(sonnet, "Edit", `{"file_path":"a.go","old_string":"x","new_string":"changed line"}`, "ok", false, used(1, 1, 0, 0))
	c.answers(sonnet, "All done.", used(1, 1, 0, 0))
	c.asks("Second prompt")
	c.answers(sonnet, "Nothing to do.", used(1, 1, 0, 0))
	for show, want := range map[string]struct{ has, not []string }{
		"":        {has: []string{"First prompt", "make it", "Half done.", "changed line", "All done.", "Second prompt", "Nothing to do.", "What was asked"}},
		"nothing": {has: []string{"make it", "Half done."}},
		"talk":    {[]string{"First prompt", "Half done.", "All done.", "Second prompt", "Nothing to do."}, []string{"make it", "changed line", "What was asked"}},
		"prompts": {[]string{"First prompt", "All done.", "Second prompt", "Nothing to do."}, []string{"make it", "changed line", "Half done."}},
		"changes": {[]string{"First prompt", "changed line"}, []string{"make it", "Half done.", "All done.", "Nothing to do."}},
	} {
		_, page, _ := strings.Cut(v.get("/sessions/s-modes?show="+show), `id="transcript"`)
		wants(t, "the mode "+show, page, want.has...)
		lacks(t, "the mode "+show, page, want.not...)
		if show == "changes" {
			lacks(t, "the changes", page, "Second prompt") // it changed nothing
		}
	}
	wants(t, "the page of a mode", v.get("/sessions/s-modes?show=talk"), `href="/sessions/s-modes?show=talk" aria-current="true"`, `data-with="&amp;show=talk"`)
}

func TestFoldingIsRemembered(t *testing.T) {
	c, v := talkOf(t, "s-folding")
	c.asks("Fold")
	c.runs(sonnet, "Bash", `{"command":"make it"}`, "made it", false, used(1, 1, 0, 0))
	c.runs(sonnet, "Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`, "ok", false, used(1, 1, 0, 0))
	c.answers(sonnet, "Done.", used(1, 1, 0, 0))
	const shell, edit, thought = `data-kind="shell" data-tool open>`, `data-kind="edit" data-tool open>`, `data-kind="reasoning" open>`
	page := v.get("/sessions/s-folding")
	wants(t, "the page at first", page, edit)
	lacks(t, "the page at first", page, shell, thought)
	page = v.send("/reading", url.Values{"open": {"commands", "reasoning", "nothing"}, "back": {"/sessions/s-folding"}})
	wants(t, "the page then", page, shell, thought)
	lacks(t, "the page then", page, edit)
	lacks(t, "the page with all folded", v.send("/reading", url.Values{"back": {"/sessions/s-folding"}}), edit, shell, thought)
	wants(t, "the whole session", v.get("/sessions/s-folding?whole=1"), edit, shell, thought) // to print it
}

func TestWholeSessionIsOnOnePage(t *testing.T) {
	store := composed(t)
	long(t, store, "s-whole", 700)
	v := visiting(t, store, nil)
	page := v.get("/sessions/s-whole?whole=1")
	wants(t, "the page", page, `id="m2"`, ">question 1<", ">answer 700<")
	lacks(t, "the page", page, "data-more=")
	if n := strings.Count(page, "<article"); n != 700 {
		t.Errorf("the page has %d messages, want 700", n)
	}
}
