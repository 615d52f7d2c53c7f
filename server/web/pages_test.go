package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/skein-dev/skein"
)

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

func TestKeyboardAloneIsEnough(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	b := visiting(t, store, nil).browse()
	b.open("/")
	b.press(kb.Tab)
	b.until(`document.activeElement.textContent == "Skip to content"`)
	b.press("j", "j", "k")
	b.until(`document.activeElement == document.querySelectorAll("li[data-item]")[0]`)
	b.press("x")
	b.until(`document.querySelector("input[name=id]").checked && document.getElementById("picked").textContent.startsWith("1 selected")`)
	b.press("?")
	b.until(`document.getElementById("keys").open`)
	b.press(kb.Escape)
	b.until(`!document.getElementById("keys").open`)
	b.press("j", kb.Enter)
	b.until(`location.pathname.startsWith("/sessions/")`)
	b.open("/sessions/" + string(id))
	b.press("u")
	b.until(`document.activeElement.id == "m20"`)
	b.press("U")
	b.until(`document.activeElement.id == "m2"`)
	b.press("e")
	b.until(`document.activeElement.querySelector("details[data-error]").open`)
	b.press("t")
	b.until(`document.activeElement.querySelector("details[data-tool]") && document.activeElement.dataset.seq > 15`)
	b.press("o")
	b.until(`[...document.querySelectorAll("details.call")].every((d) => d.open)`)
	b.press("f")
	b.until(`document.activeElement.name == "find"`)
	b.press(kb.Escape, "/")
	b.until(`document.activeElement.name == "q"`)
	b.press("b", "r", "o", "w", "n", kb.Enter)
	b.until(`location.pathname == "/search" && document.querySelector("mark")`)
}

func TestSearchRunsAsOneTypes(t *testing.T) {
	store := composed(t)
	everything(t, store)
	b := visiting(t, store, nil).browse()
	b.open("/search")
	b.until(`document.activeElement.name == "q"`)
	b.press("p", "i", "e", "r", "s")
	b.until(`document.querySelector("#results mark")?.textContent.toLowerCase() == "piers"`)
	b.until(`location.search == "?q=piers"`)
}

func TestListIsLive(t *testing.T) {
	store := composed(t)
	b := visiting(t, store, nil).browse()
	b.open("/")
	b.until(`!document.getElementById("live").hidden`)
	b.eval(`document.querySelector("li[data-id=s-fork] input").click()`)
	c := &composer{t: t, store: store, calls: 5000}
	c.begin("s-new", composedNow, skein.Created{Title: "Just begun"})
	c.asks("hello")
	b.until(`document.querySelector("li[data-item]").dataset.id == "s-new"`)
	b.until(`document.querySelector("li[data-id=s-fork] input").checked && document.querySelector("li.new")`)
}

func TestTranscriptLoadsAsOneScrolls(t *testing.T) {
	store := composed(t)
	long(t, store, "s-long", 20_000)
	b := visiting(t, store, nil).browse()
	count := func() float64 { return b.eval(`document.querySelectorAll("article").length`).(float64) }
	b.open("/sessions/s-long")
	if n := count(); n > 200 {
		t.Errorf("the page begins with %v messages, want some 60", n)
	}
	b.eval(`scrollTo(0, document.body.scrollHeight)`)
	b.until(`document.querySelectorAll("article").length >= 120`)
	inOrder := `(() => { const n = [...document.querySelectorAll("article")].map((a) => +a.dataset.seq); return n.every((v, i) => !i || v == n[i-1] + 1) && document.querySelectorAll("[data-more]").length <= 2; })()`
	b.until(inOrder)
	b.open("/sessions/s-long?at=10000#m10000")
	b.until(`document.activeElement.id == "m10000" && document.readyState == "complete"`) // until then, Chromium scrolls to it again
	// The first message: the height of one that comes into view above another changes when it is drawn.
	b.eval(`(() => { window.first = document.querySelector("article"); first.scrollIntoView({ block: "start" }); window.was = first.getBoundingClientRect().top })()`)
	b.until(`document.getElementById("m9950")`) // the earlier messages came by themselves
	b.until(`Math.abs(first.getBoundingClientRect().top - was) < 5`)
	if b.eval(inOrder) != true {
		t.Error("the messages around one do not follow each other")
	}
	b.eval(`location.hash = "#m77"`)
	b.until(`document.activeElement.id == "m77" && location.search == "?at=77"`)
	b.press(kb.End)
	b.until(`document.getElementById("m20001")`)
	b.press("U")
	b.until(`document.activeElement.matches("article.user")`)
	b.press(kb.Home)
	b.until(`document.getElementById("m2")`)
	if b.eval(inOrder) != true {
		t.Error("the messages do not follow each other")
	}
}

func TestSubAgentUnfoldsInItsPlace(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	b := visiting(t, store, nil).browse()
	b.open("/sessions/" + string(id))
	b.eval(`document.querySelector("details.child > summary").click()`)
	b.until(`document.querySelector("details.child article.user")?.textContent.includes("told apart by everybody")`)
	b.shot("subagent")
}

func TestPagesWorkWithoutJavaScript(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	long(t, store, "s-long", 300)
	v := visiting(t, store, nil)
	b := v.browse()
	if _, err := chromedp.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	follow := func(css string) {
		t.Helper()
		before, err := chromedp.Run(b, chromedp.Location())
		if err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Click(chromedp.CSS(css)))
		b.until(fmt.Sprintf("location.href != %q", before))
	}
	at := func(want string) {
		t.Helper()
		got, err := chromedp.Run(b, chromedp.Location())
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("the page is %s, %v; want %s", got, err, want)
		}
	}
	b.open("/")
	follow(`li[data-id=s-everything] a.name`)
	at("/sessions/" + string(id))
	b.shot("noscript")
	b.open("/sessions/s-long")
	follow(`[data-more=after] a`)
	at("?after=61")
	follow(`a[data-jump=user]:not([data-back])`)
	at("?at=")
	follow(`a[data-finish]`)
	at("?before=0")
	b.do(chromedp.Click(chromedp.CSS("details.about > summary")), chromedp.SetValue(chromedp.CSS("#title"), "Named without scripts"))
	b.do(chromedp.Submit(chromedp.CSS("#title")), chromedp.WaitVisible(chromedp.CSS("#notice")))
	if s, err := store.Session(t.Context(), "s-long"); err != nil || s.Title != "Named without scripts" {
		t.Errorf("the title is %q, %v", s.Title, err)
	}
}

// TestTranscriptOfAttacksDoesNothing shows a session whose every text is an
// attack, and watches the browser.
func TestTranscriptOfAttacksDoesNothing(t *testing.T) {
	store := composed(t)
	attacks := []string{
		`<script>window.hit=1</script>`, `<img src=x onerror="window.hit=1">`, `<svg onload="window.hit=1"><script>window.hit=1</script></svg>`,
		`[x](javascript:window.hit=1)`, `![x](https://evil.example/x.png)`, `<style>body{display:none}</style>`, `<iframe src="https://evil.example/"></iframe>`,
		`"><script>window.hit=1</script>`, `</title><script>window.hit=1</script>`, `<a href="https://evil.example" ping="https://evil.example">x</a>`, `<link rel=stylesheet href=https://evil.example/x.css>`,
		`<form action="https://evil.example"><button autofocus onfocus="window.hit=1">`, `{{.}}`, `</pre></code><script>window.hit=1</script>`, "```\"><img src=x onerror=window.hit=1>\nx\n```",
		`<meta http-equiv=refresh content="0;url=https://evil.example/">`, `<base href="https://evil.example/">`, `<input data-copy=x autofocus>`,
	}
	all := strings.Join(attacks, "\n\n")
	c := &composer{t: t, store: store, calls: 6000}
	title := strings.Join(strings.Fields(all), " ")
	c.begin("s-attack", composedNow, skein.Created{Title: title[:200], Agent: attacks[1], Project: attacks[0], Cwd: attacks[7], Model: attacks[2], Surface: attacks[8], Key: "x" + attacks[13]})
	c.asks(all)
	c.runs(`m"><script>window.hit=1</script>`, attacks[0], string(skein.MustJSON(map[string]string{attacks[1]: all, "old_string": all, "new_string": attacks[0], "path": attacks[2]})), all, true, used(1, 1, 0, 0))
	c.answers(attacks[2], all, used(1, 1, 0, 0))
	c.put(skein.NewEvent(skein.KindCompacted, c.at, skein.Compacted{To: 2, Summary: all}), skein.NewEvent(skein.KindResumed, c.at, skein.Program{Program: attacks[0], Host: attacks[1]}),
		skein.NewEvent(skein.KindNoted, c.at, skein.Noted{Name: attacks[0], Level: "error", Data: skein.MustJSON(all)}))
	tags := []string{attacks[0]}
	c.put(skein.NewEvent(skein.KindChanged, c.at, skein.Changed{Tags: &tags, Status: &attacks[1]}))
	blob := skein.NewBlob([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"><script>window.hit=1</script></svg>`))
	file := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Name: attacks[1], Media: "image/png", Blob: blob.Hash}}, {Kind: skein.PartFile, File: &skein.File{Name: "x", URL: "https://evil.example/x.png", Media: "image/png"}}}}
	if _, err := store.Append(t.Context(), skein.Batch{Session: c.id, Events: []skein.Event{skein.Say(c.at, file)}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	v := visiting(t, store, nil)
	b := v.quietly()
	left := make(chan string, 1000)
	err := chromedp.Listen(b, func(e any) {
		if r, ok := e.(*network.EventRequestWillBeSent); ok && !strings.HasPrefix(r.Request.URL, v.url) && !strings.HasPrefix(r.Request.URL, "data:") && r.Request.URL != "about:blank" {
			select {
			case left <- r.Request.URL:
			default:
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/?children=1&tag=%3Cscript%3E", "/sessions/s-attack", "/sessions/s-attack?find=hit", "/sessions/s-attack/messages/2", "/search?q=hit", "/search?q=%3Cscript%3Ewindow.hit%3D1%3C%2Fscript%3E", "/sessions/s-attack/blobs/" + string(blob.Hash)} {
		if strings.Contains(path, "/blobs/") {
			b.eval(fmt.Sprintf(`fetch(%q).then(async (a) => { window.kind = a.headers.get("Content-Disposition") })`, path))
			b.until(`window.kind == "attachment"`)
			continue
		}
		b.open(path)
		b.eval(`document.querySelectorAll("details").forEach((d) => { d.open = true })`)
		if hit := b.eval(`window.hit ?? 0`); hit != 0.0 {
			t.Errorf("%s: a script of the transcript ran", path)
		}
		for _, css := range []string{"main script", "main style", "main iframe", "main [onerror], main [onload], main [onfocus]", "a[href^='javascript:' i]", "main img[src^=http]", "main base", "main link", "main meta"} {
			if n := b.eval(fmt.Sprintf(`document.querySelectorAll(%q).length`, css)); n != 0.0 {
				t.Errorf("%s has %v of %s", path, n, css)
			}
		}
	}
	b.shot("attack")
	select {
	case url := <-left:
		t.Errorf("a request went to %s", url)
	default:
	}
}
