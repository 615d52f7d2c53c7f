package web_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// shots is a folder for pictures of pages, for people to look at.
var shots = flag.String("shots", "", "put pictures of the pages into this `folder`")

// late is when something overdue will not come any more. It costs nothing if it
// comes, and a machine may be slow.
const late = 5 * time.Minute

// A tab is a page of a real browser.
type tab struct {
	context.Context
	t *testing.T
	v *visit
}

// browse starts a browser and logs it in. Errors that the browser reports fail
// the test.
func (v *visit) browse() *tab {
	v.t.Helper()
	b := v.quietly()
	err := chromedp.Listen(b, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			v.t.Errorf("the page threw: %v", e.ExceptionDetails)
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.EntryLevelError {
				v.t.Errorf("the browser says: %s %s", e.Entry.Text, e.Entry.URL)
			}
		}
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return b
}

// quietly is browse without watching for errors.
func (v *visit) quietly() *tab {
	v.t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		v.t.Fatal("there is no chromium: apt-get install chromium, or put google-chrome on the PATH")
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(late), chromedp.Flag("force-color-profile", "srgb"))
	ctx, cancelTime := context.WithTimeout(v.started(o), 3*late) // many pages
	v.t.Cleanup(cancelTime)
	b := &tab{ctx, v.t, v}
	b.do(chromedp.Navigate(v.url+"/login?code="+v.code()), chromedp.WaitReady(chromedp.CSS("main button.main")))
	b.eval(`document.querySelector("main button.main").click()`) // not with the mouse: the browser would not show the focus on the next page
	b.until(`location.pathname == "/" && document.getElementById("main") && document.readyState == "complete"`)
	return b
}

// started returns the context of a browser that runs. Chromium sometimes ends as it
// starts, on a machine that does much else.
func (v *visit) started(o []chromedp.ExecAllocatorOption) context.Context {
	v.t.Helper()
	for tries := 3; ; tries-- {
		browser, stop := chromedp.NewExecAllocator(v.t.Context(), o...)
		v.t.Cleanup(stop)
		ctx, cancel := chromedp.NewContext(browser)
		v.t.Cleanup(cancel)
		err := chromedp.Do(ctx)
		if err == nil {
			return ctx
		}
		if tries == 1 {
			v.t.Fatal(err)
		}
		v.t.Logf("once more: %v", err)
	}
}

// do runs actions in the browser.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open shows the page at path.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.v.url+path), chromedp.WaitReady(chromedp.CSS("main")))
}

// eval returns the value of an expression.
func (b *tab) eval(expression string) any {
	b.t.Helper()
	out, err := chromedp.Run(b, chromedp.Evaluate[any](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// until waits for an expression to be true, on this page or the next one, and
// for that page to have run its scripts: a key pressed before would be lost.
func (b *tab) until(expression string) {
	b.t.Helper()
	ticks := time.NewTicker(40 * time.Millisecond)
	defer ticks.Stop()
	over := time.After(late)
	var err error
	for {
		var is bool
		if is, err = chromedp.Run(b, chromedp.Evaluate[bool](`document.readyState == "complete" && !!(`+expression+")")); err == nil && is {
			return
		}
		select {
		case <-ticks.C:
		case <-over:
			is, _ := chromedp.Run(b, chromedp.Evaluate[string](`document.activeElement?.id + ", " + document.readyState + ": " + document.body.innerText.slice(0, 3000)`))
			b.t.Fatalf("it never came true that %s: %v; the page has the focus at %s", expression, err, is)
		}
	}
}

// size sets the window's width, and the color scheme: light or dark.
func (b *tab) size(width int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 900))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b, emulation.SetEmulatedMedia, media); err != nil {
		b.t.Fatal(err)
	}
}

// shot takes a picture of the page, if pictures are wanted.
func (b *tab) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	data, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestPagesFitEveryScreen opens each page in every size, light and dark.
func TestPagesFitEveryScreen(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	v := visiting(t, store, nil)
	b := v.quietly() // the form to log in comes with a 401
	for name, path := range map[string]string{
		"sessions": "/", "filtered": "/?agent=reviewer&children=1", "session": "/sessions/" + string(id), "search": "/search?q=brown", "search-empty": "/search",
		"session-found": "/sessions/" + string(id) + "?find=brown", "session-end": "/sessions/" + string(id) + "?before=0#end", "message": "/sessions/" + string(id) + "/messages/2",
		"login": "/login", "missing": "/sessions/none", "lost": "/none",
	} {
		for _, width := range []int64{360, 768, 1440} {
			for _, scheme := range []string{"light", "dark"} {
				b.size(width, scheme)
				b.open(path)
				if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
					t.Errorf("%s at %d px is %v px too wide", path, width, over)
				}
				b.shot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
				b.eval(`document.querySelectorAll("main > details, main details.call").forEach((d) => { d.open = true })`)
				if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
					t.Errorf("%s at %d px, unfolded, is %v px too wide", path, width, over)
				}
				if scheme == "light" {
					b.shot(fmt.Sprintf("%s-%d-unfolded", name, width))
				}
			}
		}
	}
}
