package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skein-dev/skein"
)

// TestViewsFitEveryScreen opens the other views in every size, light and dark.
func TestViewsFitEveryScreen(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	b := v.browse()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 768, 1440} {
			b.size(width, scheme)
			for name, path := range map[string]string{
				"usage": "/usage?since=", "stacked": "/usage?since=&stack=model", "tree": "/sessions/s-retry/tree", "bin": "/bin", "health": "/health?look=1",
				"replay": "/sessions/s-retry/replay", "chat": "/sessions/s-retry/chat", "newchat": "/chat",
			} {
				b.open(path)
				b.eval(`document.querySelectorAll("figure details").forEach((d) => { d.open = true })`)
				if over := b.eval(`document.documentElement.scrollWidth - innerWidth`); over.(float64) > 0 {
					t.Errorf("%s at %d px is %v px too wide", path, width, over)
				}
				if high := b.eval(`Math.max(0, ...[...document.querySelectorAll("figure tr")].map((row) => row.offsetHeight))`); high.(float64) > 48 {
					t.Errorf("%s at %d px has a table with a row of %v px: its words are broken", path, width, high)
				}
				b.shot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
}

func TestReplayPlaysPausesAndJumps(t *testing.T) {
	b := visiting(t, composed(t), nil).browse()
	b.open("/sessions/s-retry/replay")
	b.until(`!document.getElementById("player").hidden && document.getElementById("where").textContent.startsWith("1 of ")`)
	shown := `[...document.querySelectorAll("#transcript > article")].filter((e) => !e.hidden).length`
	if n := b.eval(shown); n.(float64) != 1 {
		t.Errorf("at the beginning %v messages are shown, want 1", n)
	}
	if n := b.eval(`document.querySelectorAll("#marks .tool").length * document.querySelectorAll("#marks .error").length`); n.(float64) == 0 {
		t.Error("the time line marks no tools or no errors")
	}
	b.do(chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent("+"), chromedp.KeyEvent(" "))
	b.until(shown + " >= 3")
	b.do(chromedp.KeyEvent(" "))
	b.until(`document.getElementById("play").textContent == "Play"`)
	b.eval(`(() => { const l = document.getElementById("line"); l.value = l.max; l.dispatchEvent(new Event("input")) })()`)
	b.until(shown + ` == document.querySelectorAll("#transcript > article").length`)
}

func TestLivePageGrowsAndKeepsThePlaceOfWhoReads(t *testing.T) {
	store := composed(t)
	b := visiting(t, store, nil).browse()
	b.size(1024, "light")
	b.open("/sessions/s-retry?before=0")
	b.until(`document.documentElement.classList.contains("live")`)
	b.eval(`document.querySelector("details").open = true; scrollTo(0, 0)`)
	for i := range 3 {
		if _, err := skein.Add(t.Context(), store, "s-retry", skein.Say(skein.At(composedNow), skein.UserSays(fmt.Sprintf("One more thing, number %d", i)))); err != nil {
			t.Fatal(err)
		}
	}
	b.until(`document.getElementById("transcript").textContent.includes("number 2")`)
	if y := b.eval(`scrollY`); y.(float64) != 0 {
		t.Errorf("who has scrolled up is moved to %v", y)
	}
	b.until(`!document.querySelector(".newest").hidden`)
	b.do(chromedp.Click(chromedp.CSS(".newest")))
	b.until(`innerHeight + scrollY >= document.documentElement.scrollHeight - 2`)
	if _, err := skein.Add(t.Context(), store, "s-retry", skein.Say(skein.At(composedNow), skein.UserSays("At the end"))); err != nil {
		t.Fatal(err)
	}
	b.until(`document.getElementById("transcript").textContent.includes("At the end") && innerHeight + scrollY >= document.documentElement.scrollHeight - 2`)
}

func TestChatInTheBrowserAsksAndAnswers(t *testing.T) {
	v := chatting(t, &parrot{})
	b := v.browse()
	b.size(1024, "light")
	b.open("/sessions/s-fork/chat")
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), "run <b>make\r"))
	b.until(`document.querySelector(".question")?.textContent.includes("Let shell run <b>make?")`)
	b.shot("chat-question")
	b.do(chromedp.Click(chromedp.CSS(".question button.main")))
	b.until(`document.getElementById("transcript").textContent.includes("The answer was " + "yes")`)
	b.until(`!document.querySelector(".question") && !document.querySelector(".pending")`)
	// The driver types the line feed after the key, even if the key did
	// something else.
	if left := b.eval(`document.getElementById("text").value.trim()`); left != "" {
		t.Errorf("the field still has %q", left)
	}
}

// Each key does something or nothing, on every page; browse fails the test if
// one throws.
func TestNoKeyThrowsOnAnyPage(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	for range 120 { // so that there are earlier messages than those on the page
		if _, err := skein.Add(t.Context(), p.store, "s-fork", skein.Say(skein.At(composedNow), skein.UserSays("again"))); err != nil {
			t.Fatal(err)
		}
	}
	b := v.browse()
	for _, path := range []string{"/", "/chat", "/search?q=upload", "/usage", "/health", "/bin", "/sessions/s-fork", "/sessions/s-fork/chat", "/sessions/s-fork/replay", "/sessions/s-fork/tree"} {
		b.open(path)
		b.until(`true`)
		b.eval(`navigation.onnavigate = (e) => e.preventDefault(); for (const key of ["f", "Home", "End", "o", "j", "k", "x", "+", "-", "ArrowRight", "ArrowLeft", " ", "/", "u", "U", "t", "T", "e", "E", "?"]) {
			document.activeElement?.blur();
			document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
		}`)
	}
}
