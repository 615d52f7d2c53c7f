package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/skein-dev/skein"
)

// planned gives s-fork a plan of three tasks, of which one is done.
func planned(t *testing.T, p *parrot) {
	t.Helper()
	c := &composer{t: t, store: p.store, id: "s-fork", at: skein.At(composedNow), calls: 8000}
	c.calling("TodoWrite", `{"todos":[{"content":"Read the uploader","status":"completed"},{"content":"Write a test that fails when the network is gone for longer than the deadline","status":"in_progress"},{"content":"Mend it","status":"pending"}]}`)
	m := skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: sonnet, Usage: &skein.Usage{Input: 84_000, Output: 500}, Parts: []skein.Part{skein.TextPart("I have read the uploader.")}}
	c.put(skein.Say(c.at, m))
}

// A conversation fits every screen while the agent works, asks, and messages wait.
func TestAConversationFitsEveryScreen(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	planned(t, p)
	v.send("/sessions/s-fork/chat", said("run make release"))
	v.send("/sessions/s-fork/chat", said("Then write the change log."))
	v.send("/sessions/s-fork/chat", said("And tell me what it costs to keep three releases of every package on the mirror."))
	b := v.browse()
	for _, how := range looks() {
		b.size(how.width, how.scheme)
		for name, path := range map[string]string{"working": "/sessions/s-fork/chat", "editing": "/sessions/s-fork/chat?edit=2", "begun": "/chat"} {
			b.open(path)
			b.until(`true`)
			if over := b.eval(`document.documentElement.scrollWidth - innerWidth`).(float64); over > 0 {
				t.Errorf("%s at %d px is %v px too wide", path, how.width, over)
			}
			if name == "working" && !b.eval(`(() => { const f = document.getElementById("text").getBoundingClientRect(); return f.top >= 0 && f.bottom <= innerHeight })()`).(bool) {
				t.Errorf("%s at %d px: the field to type in is not on the screen", path, how.width)
			}
			b.shot(fmt.Sprintf("talk-%s-%d-%s", name, how.width, how.scheme))
		}
	}
}

// What is typed while the agent answers waits; Escape stops the answer.
func TestTheKeyboardQueuesStopsAndEdits(t *testing.T) {
	p := &parrot{hold: make(chan struct{})}
	v := chatting(t, p)
	b := v.browse()
	b.size(1024, "light")
	b.open("/sessions/s-fork/chat")
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), "first\r"))
	b.until(`document.querySelector(".pending") && document.getElementById("send").textContent == "Queue"`)
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), "second\r"))
	b.until(`document.querySelector(".waits li")?.textContent.includes("second")`)
	b.press(kb.Escape)
	b.until(`!document.querySelector(".pending") && document.getElementById("send").textContent == "Send"`)
	b.until(`document.querySelector(".waits button[value=send]")`)
	b.do(chromedp.Click(chromedp.CSS(".waits button[value=remove]")))
	b.until(`!document.querySelector(".waits")`)
	b.until(`document.querySelector("#transcript .msg.user:last-of-type a.fork, #transcript .msg.user a.fork")`)
	b.eval(`document.getElementById("text").value = ""; document.getElementById("text").focus()`)
	b.press(kb.ArrowUp)
	b.until(`document.querySelector(".editing") && document.getElementById("text").value.trim() == "first"`)
}

// Files are pasted, dropped and removed, and sent with the message.
func TestFilesArePastedAndDropped(t *testing.T) {
	p := &parrot{}
	v := chatting(t, p)
	b := v.browse()
	b.size(1024, "light")
	b.open("/sessions/s-fork/chat")
	b.until(`document.querySelector("#say.scripted")`)
	b.eval(`{
		const data = (...all) => { const d = new DataTransfer(); for (const f of all) d.items.add(f); return d };
		const text = document.getElementById("text");
		text.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data(new File(["shot"], "image.png", { type: "image/png" })), bubbles: true, cancelable: true }));
		document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data(new File(["a,b"], "table.csv"), new File(["c"], "gone.txt"), new File([new Uint8Array(30e6)], "big.bin")), bubbles: true, cancelable: true }));
		0
	}`)
	b.until(`document.querySelectorAll("#files li").length == 3 && document.getElementById("toomuch").textContent.includes("big.bin is not attached")`)
	b.shot("talk-files")
	b.do(chromedp.Click(chromedp.CSS(`#files li:last-child button`)))
	b.until(`document.querySelectorAll("#files li").length == 2`)
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), "look at these\r"))
	b.until(`document.getElementById("files").hidden && document.getElementById("text").value == ""`)
	v.send("/sessions/s-fork/chat/stop", url.Values{})
	if got := strings.Join(p.files, ", "); !strings.HasPrefix(got, "pasted-") || !strings.HasSuffix(got, ".png 4, table.csv 3") {
		t.Errorf("the files are %q, want the pasted picture and the table", got)
	}
}
