package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestManifestNamesIconsThatAreThere(t *testing.T) {
	v := visiting(t, composed(t), nil)
	wants(t, "a page", v.get("/usage"), `<link rel="manifest" href="/manifest.webmanifest">`)
	v.client = &http.Client{} // browsers ask without a login
	var m struct {
		Name, Display string
		Start         string `json:"start_url"`
		Icons         []struct{ Src, Sizes, Type string }
	}
	if err := json.Unmarshal([]byte(v.get("/manifest.webmanifest")), &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != "skein" || m.Display != "standalone" || m.Start != "/" || len(m.Icons) < 3 {
		t.Errorf("the manifest is %+v, want an app of its own with icons", m)
	}
	for _, i := range m.Icons {
		data := v.get(i.Src)
		if !strings.HasSuffix(i.Src, ".png") {
			continue
		}
		c, err := png.DecodeConfig(bytes.NewReader([]byte(data)))
		if err != nil || fmt.Sprintf("%dx%d", c.Width, c.Height) != i.Sizes {
			t.Errorf("%s is %dx%d, %v; the manifest says %s", i.Src, c.Width, c.Height, err, i.Sizes)
		}
	}
}

// While the server cannot be reached, the app says so, in every look, and it continues
// where it was when the server answers. The browser keeps nothing of a session.
func TestTheAppSaysThatTheServerCannotBeReached(t *testing.T) {
	v := visiting(t, composed(t), nil)
	b := v.quietly() // the browser reports every request that fails
	b.size(390, "light")
	b.open("/usage?since=365d")
	b.until(`window.ready || (navigator.serviceWorker.ready.then((r) => { window.ready = r.active.state == "activated" }), false)`)
	if kept := b.eval(`(async () => { window.kept = ""; for (const name of await caches.keys()) for (const r of await (await caches.open(name)).keys()) window.kept += new URL(r.url).pathname.replace(/\.[0-9a-f]+\./, ".") + " "; })() && 0`); kept != 0.0 {
		t.Fatal(kept)
	}
	b.until(`window.kept.includes("icon-192")`)
	if kept := b.eval("window.kept"); kept != "/offline /static/style.css /static/app.js /static/offline.js /static/icon.svg /static/icon-192.png " {
		t.Errorf("the browser keeps %v; want only what the page without a server needs", kept)
	}
	v.down.Store(true)
	for _, scheme := range []string{"light", "dark"} {
		b.size(390, scheme)
		b.do(chromedp.Navigate(v.url + "/usage?since=365d"))
		b.until(`document.querySelector("h1")?.textContent == "The server cannot be reached"`)
		if over := b.eval("document.documentElement.scrollWidth - innerWidth"); over != 0.0 {
			t.Errorf("the page without a server is %v px too wide", over)
		}
		if style := b.eval(`getComputedStyle(document.querySelector(".button")).borderRadius`); style == "0px" {
			t.Error("the page without a server has no style")
		}
		b.shot("offline-390-" + scheme)
	}
	v.down.Store(false)
	b.until(`document.querySelector("h1")?.textContent == "Usage" && location.search == "?since=365d"`)
}
