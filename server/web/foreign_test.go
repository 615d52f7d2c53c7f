package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// foreignPage tries to read and change what is at SITE.
const foreignPage = `<!doctype html><title>other</title><main id=main>
<iframe name=f src="SITE/sessions/s-retry"></iframe><img id=i src="SITE/static/style.css"><script src="SITE/"></script>
<form id=form method=post target=f action="SITE/sessions/s-retry/bin"></form>
<form id=text method=post enctype="text/plain" target=f action="SITE/sessions/s-retry/rename"><input name="title" value="taken over"></form>
<script>
window.read = [];
for (const path of ["/", "/v1/sessions", "/sessions/s-retry"])
	for (const mode of ["cors", "no-cors"])
		fetch("SITE" + path, { mode, credentials: "include" }).then((r) => r.text()).then((t) => t && read.push(path + " " + t), () => 0);
const all = [
	fetch("SITE/sessions/s-retry/bin", { method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "a=b" }),
	fetch("SITE/sessions/s-retry/rename", { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({ title: "taken over" }) }),
	fetch("SITE/v1/sessions/s-retry", { method: "DELETE", mode: "cors", credentials: "include" }),
];
navigator.sendBeacon("SITE/sessions/s-retry/bin", new URLSearchParams({ a: "b" }));
form.submit();
Promise.allSettled(all).then(() => { text.submit(); setTimeout(() => fetch("SITE/logout", { method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({ a: "b" }) }).then(() => (window.done = 1), () => (window.done = 1)), 500); });
</script></main>`

// TestAPageOfAnotherPortCanDoNothing logs a real browser in, and shows it a
// page of another server on this machine. To the browser that is the same site:
// it sends its cookies along.
func TestAPageOfAnotherPortCanDoNothing(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	b := v.quietly()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.ReplaceAll(foreignPage, "SITE", v.url)) //nolint:errcheck // the browser has gone
	}))
	defer other.Close()
	b.do(chromedp.Navigate(other.URL + "/"))
	b.until("window.done")
	if read := b.eval("JSON.stringify(read)"); read != "[]" {
		t.Errorf("another port's page has read %.300v", read)
	}
	one, err := store.Session(t.Context(), "s-retry")
	if err != nil || one.Binned != 0 || strings.Contains(one.Title, "taken") {
		t.Errorf("another port's page has changed the session: %+v, %v", one, err)
	}
	b.do(chromedp.Navigate(v.url + "/"))
	b.until(`document.title != "" && document.getElementById("main")`)
	if b.eval(`!!document.querySelector("input[name=token]")`) == true {
		t.Error("another port's page has ended the login")
	}
}
