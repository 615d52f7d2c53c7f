package web_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

// attacks are texts that try to do something in the page that shows them: run
// (they set window.ran), send something to TRAP, or look like a part of the
// page (id="clobbered").
func attacks(trap string) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimSpace(`
<script>window.ran=1</script><script src=TRAP/script.js></script><script type=module>import "TRAP/module.js"</script>
<img src=x onerror="window.ran=2"><img src=TRAP/img.png><img srcset="TRAP/srcset.png 2x"><img src="//TRAP/x.png" loading=eager>
<svg onload="window.ran=3"><script>window.ran=3</script><image href="TRAP/svg.png"/><use href="TRAP/use.svg#a"/><animate onbegin="window.ran=3" attributeName=x dur=1s></svg>
<iframe src="javascript:parent.ran=4"></iframe><iframe srcdoc="<script>parent.ran=4</script>"></iframe><iframe src="TRAP/frame"></iframe><object data="TRAP/object"></object><embed src="TRAP/embed">
<style>@import url(TRAP/import.css); body { background: url(TRAP/body.png) } * { display: none }</style><link rel=stylesheet href="TRAP/link.css"><link rel=prefetch href="TRAP/prefetch"><link rel=dns-prefetch href="TRAP">
<p style="background:url(TRAP/style.png);position:fixed;inset:0" class="newest" id="clobbered" name="clobbered">cover</p>
[link](javascript:window.ran=5) [tabs](java	script:window.ran=5) [case](JaVaScRiPt:window.ran=5) [data](data:text/html,<script>opener.ran=5</script>) [vb](vbscript:x) [entity](&#106;avascript:window.ran=5) <javascript:window.ran=5>
![picture](TRAP/md.png) ![blob](blob:TRAP/1) ![data](data:image/svg+xml,<svg/onload=window.ran=6>) ![ref][r] [r]: TRAP/ref.png
<a href="javascript:window.ran=7" ping="TRAP/ping" target=_top id="clobbered">x</a><area href="javascript:window.ran=7"><a href="TRAP/x" rel="prerender preload">y</a>
<form action="TRAP/form" id="clobbered"><input autofocus onfocus="window.ran=8" name="clobbered"><button formaction="javascript:window.ran=8">go</button></form><isindex action=javascript:window.ran=8>
<meta http-equiv="refresh" content="0;url=TRAP/refresh"><base href="TRAP/"><meta name=referrer content=unsafe-url>
<video src="TRAP/video" poster="TRAP/poster" autoplay onloadstart="window.ran=9"></video><audio src="TRAP/audio" autoplay></audio><picture><source srcset="TRAP/source.png"><img></picture><track src="TRAP/track">
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.ran=10&gt;"></table></math>
<noscript><p title="</noscript><img src=x onerror=window.ran=11>"></noscript>
"><script>window.ran=12</script> '><img src=x onerror=window.ran=12> </title></textarea></style></script><script>window.ran=12</script>
<details open ontoggle="window.ran=13"><summary>s</summary>d</details><marquee onstart="window.ran=13"><body onload="window.ran=13"><dialog open id=clobbered>d</dialog>
{{.}} {{define "main"}} ${window.ran=14} <%= 14 %> [[toString]] javascript:window.ran=14
<template><script>window.ran=15</script></template><xmp><script>window.ran=15</script></xmp><plaintext>
\<img src=x onerror=window.ran=16> &lt;img src=x onerror=window.ran=16&gt; &#60;script&#62;window.ran=16&#60;/script&#62;
<scr<script>ipt>window.ran=17</scr</script>ipt> <IMG """><SCRIPT>window.ran=17</SCRIPT>"> <img src=x:x onerror=window.ran=17//
`), "TRAP", trap), "\n")
}

// hostile puts sessions into store that have attacks wherever text is allowed.
func hostile(t *testing.T, store skein.Store, all []string) {
	t.Helper()
	one := strings.Join(all, "\n\n")
	short := func(i int) string { return all[i%len(all)] }
	c := &composer{t: t, store: store, calls: 2000}
	c.begin("s-hostile", composedNow, skein.Created{
		Key: `x:"><img src=x onerror=window.ran=30>`, Title: short(0) + short(14), Surface: short(1)[:40], Project: "/tmp/" + short(14), Cwd: "/tmp/" + short(1), Agent: short(14), Profile: short(0),
		Provider: short(14), Model: short(14), Program: short(1), Version: short(0), Origin: &skein.Origin{Format: short(14), Path: "/" + short(1), ID: short(14), Version: short(0)},
	})
	tags := []string{`"><img/src=x/onerror=window.ran=31>`, "javascript:window.ran=31", "a"}
	status := short(14)
	c.put(skein.NewEvent(skein.KindChanged, c.at, skein.Changed{Tags: &tags, Status: &status}))
	c.put(skein.NewEvent(skein.KindTitled, c.at, skein.Titled{Title: short(14) + short(0), Description: one, By: skein.ByPerson}))
	svg := skein.NewBlob([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=20"><script>window.ran=20</script><image href="` + strings.SplitN(strings.SplitN(all[0], "src=", 2)[1], "/script", 2)[0] + `/blob.png"/></svg>`))
	html := skein.NewBlob([]byte("<!doctype html><script>window.ran=21</script>" + one))
	ask := skein.UserSays(one)
	for i, b := range []skein.Blob{svg, html, svg, html} {
		media := []string{"image/svg+xml", "text/html", "image/png", "image/png\"><script>window.ran=22</script>"}[i]
		ask.Parts = append(ask.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: short(14) + ".png", Media: media, Blob: b.Hash, Size: int64(len(b.Data))}})
	}
	if _, err := store.Append(t.Context(), skein.Batch{Session: c.id, Events: []skein.Event{skein.Say(c.at, ask)}, Blobs: []skein.Blob{svg, html}}); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		input := skein.MustJSON(map[string]string{short(i): short(i), "command": short(i), "file_path": short(i), "old_string": short(i), "new_string": short(i + 1), "description": short(i)})
		call := skein.Call{ID: short(14) + fmt.Sprint(i), Name: short(i), Input: input}
		c.put(skein.Say(c.at, skein.Message{
			Role: skein.RoleAssistant, Provider: short(i), Model: short(i), Agent: short(i), Stop: short(i), Error: &skein.ErrorInfo{Kind: short(i), Message: short(i)},
			Parts: []skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(short(i))}, skein.TextPart(short(i)), skein.TextPart("```\"><script>window.ran=23</script>\n" + short(i) + "\n```"), {Kind: skein.PartCall, Call: &call}},
		}))
		c.put(skein.NewEvent(skein.KindTool, c.at, skein.ToolState{Call: call.ID, State: skein.Completed, Title: short(i), Start: c.at, End: c.at, Meta: skein.MustJSON(map[string]string{"x": short(i)})}))
		c.put(skein.Say(c.at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: call.ID, Name: short(i), Text: skein.Text(short(i) + "\n--- a/" + short(14) + "\n+++ b/x\n@@ -1 +1 @@\n-" + short(i) + "\n+" + short(i)), Failed: i%2 == 0}}}}))
		c.put(skein.NewEvent(skein.KindNoted, c.at, skein.Noted{Name: short(14), Level: "error", Data: skein.MustJSON(short(i))}))
	}
	for _, role := range []skein.Role{skein.RoleSystem, skein.RoleSteer, skein.RoleAssistant} {
		c.put(skein.Say(c.at, skein.Message{Role: role, Model: sonnet, Parts: []skein.Part{skein.TextPart(one), {Kind: skein.PartSummary, Text: skein.Text(one)}, {Kind: skein.PartAgent, Text: skein.Text(short(14))}, {Kind: skein.PartOther, Raw: skein.MustJSON(one)}}}))
	}
	at := c.put(skein.NewEvent(skein.KindStep, c.at, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Kind: short(14), Message: one, Status: 500}}))
	c.put(skein.NewEvent(skein.KindCompacted, c.at, skein.Compacted{To: at - 1, Summary: one, Trigger: short(14)}))
	c.begin("s-hostile-child", composedNow, skein.Created{Title: short(14), Agent: short(14), Model: short(14), Parent: &skein.Parent{Session: "s-hostile", Seq: at, Why: skein.Child, Call: short(14) + "0"}})
	c.asks(one)
	c.begin("s-hostile-binned", composedNow, skein.Created{Title: short(14), Surface: "cli", Agent: short(14)})
	c.asks(one)
	if err := skein.LifecycleOf(store).Bin(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
}

// A trap is a server that records its requests.
type trap struct {
	url string
	mu  sync.Mutex
	hit []string
}

func newTrap(t *testing.T) *trap {
	t.Helper()
	p := &trap{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { p.note(r.URL.String()) }))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *trap) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hit = append(p.hit, s)
}

// hits returns the recorded requests, and forgets them.
func (p *trap) hits() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hit
	p.hit = nil
	return h
}

// watched returns a browser that reports to the trap every request that leaves
// the site, every dialog, and everything that the policy stopped.
func (v *visit) watched(p, stopped *trap) *tab {
	v.t.Helper()
	b := v.quietly()
	err := chromedp.Listen(b, func(e any) {
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, v.url+"/") && !strings.HasPrefix(u, "data:") && u != "about:blank" {
				p.note("sent to " + u)
			}
		case *network.EventWebSocketCreated:
			p.note("socket to " + e.URL)
		case *page.EventJavascriptDialogOpening:
			p.note("dialog: " + e.Message)
		case *runtime.EventExceptionThrown:
			p.note(fmt.Sprintf("thrown: %v", e.ExceptionDetails))
		case *cdplog.EventEntryAdded:
			if strings.Contains(e.Entry.Text, "Content Security Policy") {
				stopped.note(e.Entry.Text)
			}
		}
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return b
}

// lived waits until the page had time for its scripts.
const lived = `document.readyState == "complete" && performance.now() > 600`

// alive lists the elements in a page that could do something if somebody used
// them.
const alive = `JSON.stringify([
	...[...document.querySelectorAll("a[href], area[href]")].filter((e) => !/^(https?|mailto):$/.test(new URL(e.getAttribute("href"), location).protocol)).map((e) => e.outerHTML),
	...[...document.querySelectorAll("form, [formaction]")].filter((e) => new URL(e.getAttribute("formaction") || e.getAttribute("action") || "", location).origin != location.origin).map((e) => e.outerHTML),
	...[...document.querySelectorAll("a[href]")].filter((e) => new URL(e.getAttribute("href"), location).origin != location.origin && !/noreferrer/.test(e.rel)).map((e) => e.outerHTML),
	...[...document.querySelectorAll("iframe, object, embed, base, style, [style]:not(#marks > .tick), template, video, audio, marquee, math, [ping], #clobbered, [name=clobbered], script:not([src])")].map((e) => e.outerHTML),
	...[...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => /^on|srcset|srcdoc/.test(a.name))).map((e) => e.outerHTML),
	...[...document.querySelectorAll("[src], link[href], use[href], image[href]")].filter((e) => !new URL(e.getAttribute("src") || e.getAttribute("href"), location).href.startsWith(location.origin + "/")).map((e) => e.outerHTML),
	...(window.ran ? ["ran " + window.ran] : []),
])`

// TestATranscriptFullOfAttacksDoesNothing shows attacks on every page.
func TestATranscriptFullOfAttacksDoesNothing(t *testing.T) {
	p, stopped := newTrap(t), newTrap(t)
	all := attacks(p.url)
	talker := &parrot{}
	v := chatting(t, talker)
	hostile(t, talker.store, all)
	b := v.watched(p, stopped)
	check := func(what string) {
		t.Helper()
		b.until(lived)
		if got := b.eval(alive); got != "[]" {
			t.Errorf("%s has what could do something: %.2000v", what, got)
		}
		if hits := p.hits(); len(hits) > 0 {
			t.Errorf("%s: %q", what, hits)
		}
		if hits := stopped.hits(); len(hits) > 0 {
			t.Errorf("%s: the policy had to stop %q", what, hits)
		}
	}
	session := "/sessions/s-hostile"
	for _, path := range []string{
		"/", "/?children=1", "/search", "/search?q=window", "/bin", "/usage?since=", "/health?look=1", "/chat",
		session, session + "?before=0", session + "?find=window", session + "/replay", session + "/tree", session + "/chat", session + "/messages/4", "/sessions/s-hostile-child",
	} {
		b.open(path)
		b.eval(`document.querySelectorAll("details").forEach((d) => d.open = true); scrollTo(0, document.documentElement.scrollHeight)`)
		check(path)
	}
	for i, attack := range all {
		b.open("/search?q=" + queryOf(attack))
		if check(fmt.Sprintf("the search for %q", attack)); i == 3 {
			break
		}
	}
	b.open(session + "?before=0")
	b.until(`document.documentElement.classList.contains("live")`)
	if _, err := skein.Add(t.Context(), talker.store, "s-hostile", skein.Say(skein.At(composedNow), skein.UserSays(strings.Join(all, "\n\n")+"\n\nthe very last"))); err != nil {
		t.Fatal(err)
	}
	b.until(`document.getElementById("transcript").textContent.includes("the very last")`)
	check("a page that grows")
}

// TestTheAnswerOfAnAgentDoesNothing lets an agent say attacks in the chat page.
func TestTheAnswerOfAnAgentDoesNothing(t *testing.T) {
	p, stopped := newTrap(t), newTrap(t)
	v := chatting(t, &parrot{})
	b := v.watched(p, stopped)
	b.open("/sessions/s-fork/chat")
	b.eval(`(() => { const f = document.querySelector("textarea"); f.value = ` + string(skein.MustJSON(strings.Join(attacks(p.url), "\n\n")+"\n\nthe very last")) + `; f.form.requestSubmit() })()`)
	b.until(`document.body.textContent.includes("You said:") && document.body.textContent.split("the very last").length > 2`)
	b.until(lived)
	if got := b.eval(alive); got != "[]" {
		t.Errorf("the chat has what could do something: %.2000v", got)
	}
	if hits := append(p.hits(), stopped.hits()...); len(hits) > 0 {
		t.Errorf("the chat: %q", hits)
	}
}

func queryOf(s string) string {
	return strings.NewReplacer("%", "%25", "&", "%26", "+", "%2B", "#", "%23", " ", "+", "\t", "%09").Replace(s)
}

// TestThePolicyStopsWhatIsInAPage sends the attacks unescaped: the policy is a
// second line of defense.
func TestThePolicyStopsWhatIsInAPage(t *testing.T) {
	p, stopped := newTrap(t), newTrap(t)
	var html strings.Builder
	for _, a := range attacks(p.url) {
		if !strings.Contains(a, "http-equiv") && !strings.Contains(a, "plaintext") { // a navigation is not a request of the page
			html.WriteString(a + "\n")
		}
	}
	v := visiting(t, memory.New(), nil)
	raw := httptest.NewServer(door.New(door.Options{Store: memory.New(), Tokens: v.tokens, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return composedNow }}, door.Route{
		Pattern: "GET /{$}", Scope: door.Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><title>x</title><main id=main>%s</main>", html.String()) //nolint:errcheck // the browser has gone
		}),
	}))
	defer raw.Close()
	b := v.watched(p, stopped)
	v.url = raw.URL
	b.do(chromedp.Navigate(raw.URL + "/"))
	b.until(`performance.now() > 1500`)
	b.eval(`fetch("` + p.url + `/fetch").catch(() => 0); new Image().src = "` + p.url + `/image"; navigator.sendBeacon("` + p.url + `/beacon", "x"); 0`)
	b.until(`performance.now() > 2500`)
	if ran := b.eval(`window.ran || 0`); ran != 0.0 {
		t.Errorf("attack %v ran", ran)
	}
	for _, hit := range p.hits() {
		if !strings.HasPrefix(hit, "thrown: ") && !strings.HasPrefix(hit, "sent to ") { // the trap also records what the policy stops
			t.Errorf("a request left the page: %s", hit)
		}
	}
	ticks := time.NewTicker(40 * time.Millisecond)
	defer ticks.Stop()
	over := time.After(late)
	for n := len(stopped.hits()); n < 10; n += len(stopped.hits()) {
		select {
		case <-ticks.C: // the browser may not have reported it yet
		case <-over:
			t.Fatalf("the policy stopped %d things, want at least 10: were there no attacks?", n)
		}
	}
}
