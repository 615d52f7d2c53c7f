package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// The page, its downloads and its jumps show the live messages; what was taken
// back is shown only on request, and marked.
func TestSessionShowsWhatStandsAndTheRestWhereAskedFor(t *testing.T) {
	store := composed(t)
	path := "/sessions/" + string(everything(t, store))
	v := visiting(t, store, nil)
	for _, p := range []string{path, path + "?before=0", path + "/messages", path + "/replay", path + "/download?as=md", path + "/download?as=json"} {
		got := v.get(p)
		wants(t, p, got, "Forget pink.")
		lacks(t, p, got, "make everything pink", "Everything is pink", "Gone back")
	}
	wants(t, "the page", v.get(path), `href="`+path+`?rewound=1" rel="nofollow">Show what was taken back`, "HTTP 529")
	all := v.get(path + "?rewound=1")
	wants(t, "the page with what was taken back", all, "make everything pink", "Everything is pink", "Gone back",
		path+"/download?as=md&amp;rewound=1", `href="`+path+`">Hide what was taken back`, `data-with="&amp;rewound=1"`, `name="rewound"`)
	if n := strings.Count(all, `class="msg user gone"`); n != 1 {
		t.Errorf("%d messages of the user's are shown as taken back, want 1", n)
	}
	wants(t, "the document with it", v.get(path+"/download?as=md&rewound=1"), "make everything pink", "taken back")

	wants(t, "a search", v.get("/search?q=pink+rewound:yes+role:user+%22make+everything%22"), `href="`+path+`?at=`, "&amp;rewound=1#m")
	wants(t, "a search in it", v.get(path+"?find=%22make+everything%22+rewound:yes"), "&amp;rewound=1#m")
	wants(t, "a search in all of it", v.get(path+"?rewound=1&find=%22make+everything%22"), "1 hit for")

	last := v.get(path + "/next?what=user&back=1&from=1000000")
	lacks(t, "the page that a jump leads to", last, "make everything pink")
}

// What a program withdrew is never shown, so no link offers to show it.
func TestNoLinkOffersWhatWasOnlyWithdrawn(t *testing.T) {
	store := composed(t)
	at := skein.At(composedNow)
	put := func(e ...skein.Event) {
		if _, err := skein.Add(t.Context(), store, "s-withdrawn", e...); err != nil {
			t.Fatal(err)
		}
	}
	put(skein.NewEvent(skein.KindCreated, at, skein.Created{Title: "x"}), skein.Say(at, skein.UserSays("one")), skein.Say(at, skein.UserSays("two")),
		skein.NewEvent(skein.KindAmended, at, skein.Amended{Seq: 2, Withdrawn: true}))
	v := visiting(t, store, nil)
	lacks(t, "the page of what was withdrawn", v.get("/sessions/s-withdrawn"), "Show what was taken back")
	put(skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 2}))
	wants(t, "the page of what was taken back", v.get("/sessions/s-withdrawn"), "Show what was taken back")
}

// A page is never empty because the live messages are further on.
func TestPagesGoOnToWhatStands(t *testing.T) {
	store := composed(t)
	long(t, store, "s-undone", 700)
	put := func(e ...skein.Event) {
		if _, err := skein.Add(t.Context(), store, "s-undone", e...); err != nil {
			t.Fatal(err)
		}
	}
	at := skein.At(composedNow)
	failed := func(what string) skein.Event {
		return skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Kind: "overloaded", Message: what}})
	}
	put(failed("undone too"), skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 5}), failed("stands"))
	v := visiting(t, store, nil)
	for _, query := range []string{"", "?before=0", "?at=300", "?after=1"} {
		got := v.get("/sessions/s-undone/messages" + query)
		wants(t, query, got, "question 3", "answer 4")
		lacks(t, query, got, "question 5", "answer 700", "undone too")
	}
	wants(t, "the end", v.get("/sessions/s-undone/messages?before=0"), "stands")
	wants(t, "the page after what stands", v.get("/sessions/s-undone/messages?after=5"), "stands", `data-more="before"`)
	wants(t, "what was taken back", v.get("/sessions/s-undone/messages?rewound=1&before=0"), "answer 700", "undone too", "stands")

	put(skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 701})) // takes the rewind back
	got := v.get("/sessions/s-undone/messages?before=0")
	wants(t, "the end after the rewind was taken back", got, "answer 700")
	lacks(t, "the end after the rewind was taken back", got, "stands", "undone too")
	wants(t, "a jump forward", v.get("/sessions/s-undone/next?what=user&from=400"), "question 401")
}

// A rewind removes what it took back from the screen, wherever the reader is,
// and what follows it comes once.
func TestALivePageLosesWhatIsTakenBack(t *testing.T) {
	store := composed(t)
	long(t, store, "s-live", 200)
	v := visiting(t, store, nil)
	h := v.hear("/sessions/s-live/live")
	b := v.browse()
	b.size(1024, "light")
	put := func(e ...skein.Event) {
		if _, err := skein.Add(t.Context(), store, "s-live", e...); err != nil {
			t.Fatal(err)
		}
	}
	at := skein.At(composedNow)
	shown := func() string {
		return fmt.Sprint(b.eval(`[...document.querySelectorAll("#transcript > article")].map((e) => e.dataset.seq).join(" ")`))
	}

	b.open("/sessions/s-live?before=0")
	b.until(`document.documentElement.classList.contains("live")`)
	b.eval(`document.body.dataset.same = "yes"`)
	put(skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 195}), skein.Say(at, skein.UserSays("another way")))
	h.until("rewound")
	h.until("changed")
	b.until(`document.getElementById("transcript").textContent.includes("another way") && !document.getElementById("m196")`)
	if got := shown(); !strings.HasSuffix(got, " 193 194 195 203") {
		t.Errorf("after a rewind the page shows the messages %s, want them to end 193 194 195 203", got)
	}
	if b.eval(`document.body.dataset.same`) != "yes" {
		t.Error("the page was loaded again, want it changed in its place")
	}

	b.open("/sessions/s-live?rewound=1&before=0")
	b.until(`document.documentElement.classList.contains("live")`)
	put(skein.Say(at, skein.UserSays("and on")))
	b.until(`document.getElementById("transcript").textContent.includes("and on")`)
	if got := shown(); !strings.HasSuffix(got, " 200 201 203 204") {
		t.Errorf("with what was taken back the page shows the messages %s, want them to end 200 201 203 204", got)
	}

	b.open("/sessions/s-live?at=50")
	b.until(`document.documentElement.classList.contains("live") && document.getElementById("m50")`)
	put(skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: 45}))
	b.until(`document.getElementById("m45") && !document.getElementById("m46")`)
}
