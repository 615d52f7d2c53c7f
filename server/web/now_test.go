package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// calling lets a model call a tool that does not return.
func (c *composer) calling(tool, input string) {
	c.t.Helper()
	u := used(2000, 100, 0, 0)
	c.calls++
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: sonnet, Usage: &u, Parts: []skein.Part{{
		Kind: skein.PartCall, Call: &skein.Call{ID: "open_" + string(c.id), Name: tool, Input: json.RawMessage(input)},
	}}}))
}

func TestNowShowsWhatWaitsWorksAndFailed(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	c := &composer{t: t, store: store, calls: 7000}
	begin := func(id, title string) {
		c.begin(id, composedNow.Add(-5*time.Minute), skein.Created{Title: title, Project: "/home/ada/courier", Agent: "claude-code", Provider: "anthropic", Model: sonnet})
		c.asks("Do it")
	}
	begin("s-works", "It works")
	c.calling("Bash", `{"command":"make"}`)
	begin("s-waits", "It waits")
	c.calling("AskUserQuestion", `{"questions":[{"question":"Delete <it>?","options":[]}]}`)
	begin("s-fails", "It failed")
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Model: sonnet, Error: &skein.ErrorInfo{Kind: "overloaded", Message: "try later"}}))
	for _, path := range []string{"/now", "/now?piece=1"} {
		page := v.get(path)
		wants(t, path, page, "Waiting for you", "It waits", "asks: Delete &lt;it&gt;?", "Working", "It works", "runs Bash", "In the last 12 hours", " today", `href="/sessions/s-works?before=0#end"`)
		if waits, works := strings.Index(page, "It waits"), strings.Index(page, "It works"); waits > works {
			t.Errorf("%s has what works before what waits for a person", path)
		}
	}
	wants(t, "what failed", v.get("/now"), `<h2 id="failed">`, "It failed", "try later")
}

// The first page is what runs, for a person who opens the dashboard; a link to the list
// leads to the list.
func TestNowIsTheFirstPageWhenSomethingRuns(t *testing.T) {
	store := composed(t)
	v := visiting(t, store, nil)
	open := func(header, value string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.url+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(header, value)
		a, err := v.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Body.Close(); err != nil {
			t.Fatal(err)
		}
		return a.Request.URL.Path
	}
	if at := open("Sec-Fetch-Site", "none"); at != "/" {
		t.Errorf("with nothing that runs, the first page is %s, want /", at)
	}
	c := &composer{t: t, store: store, calls: 7000}
	c.begin("s-works", composedNow.Add(-5*time.Minute), skein.Created{Title: "It works", Agent: "claude-code"})
	c.asks("Do it")
	c.calling("Bash", `{"command":"make"}`)
	for _, x := range []struct{ header, value, want string }{
		{"Sec-Fetch-Site", "none", "/now"}, {"Referer", v.url + "/login?code=x", "/now"}, {"Sec-Fetch-Site", "same-origin", "/"}, {"Referer", v.url + "/usage", "/"},
	} {
		if at := open(x.header, x.value); at != x.want {
			t.Errorf("GET / with %s: %s leads to %s, want %s", x.header, x.value, at, x.want)
		}
	}
}

func TestNowAnswersAQuestion(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	done := make(chan struct{})
	go func() {
		defer close(done)
		v.send("/sessions/s-fork/chat", url.Values{"text": {"run make"}})
	}()
	page := ""
	for !strings.Contains(page, `class="question"`) && t.Context().Err() == nil {
		page = v.get("/now")
	}
	<-done
	wants(t, "the page", page, `action="/sessions/s-fork/chat/reply"`, `name="back" value="/now"`, "Let shell run make?", "Waiting for you")
	_, rest, _ := strings.Cut(page, `name="question" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	wants(t, "the page then", v.send("/sessions/s-fork/chat/reply", url.Values{"question": {id}, "answer": {"yes"}, "back": {"/now"}}), "<h1>Now</h1>")
}
