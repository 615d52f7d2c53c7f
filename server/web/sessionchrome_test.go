package web_test

import (
	"testing"
)

// However far a reader scrolls, the page has only so many messages, and each of them once.
func TestFarMessagesAreUnloaded(t *testing.T) {
	store := composed(t)
	long(t, store, "s-far", 1500)
	b := visiting(t, store, nil).browse()
	b.size(1024, "light")
	b.open("/sessions/s-far")
	b.eval(`window.most = 0; window.down = setInterval(() => {
		scrollTo(0, document.body.scrollHeight);
		most = Math.max(most, document.querySelectorAll("#transcript > article").length);
	}, 30)`)
	b.until(`document.getElementById("transcript").textContent.includes("answer 1500")`)
	b.eval(`clearInterval(down)`)
	if n := b.eval(`most`).(float64); n > 560 {
		t.Errorf("the page had %v messages at once, want at most about 500", n)
	}
	if b.eval(`document.getElementById("transcript").textContent.includes("question 1\n")`).(bool) {
		t.Error("the first message is still on the page")
	}
	const inOrder = `(() => { const all = [...document.querySelectorAll("#transcript > article")].map((a) => Number(a.dataset.seq)); return all.every((n, i) => !i || n === all[i - 1] + 1) })()`
	if !b.eval(inOrder).(bool) {
		t.Error("the messages on the page are not each one once, in order")
	}
	b.eval(`window.up = setInterval(() => scrollTo(0, 0), 30)`)
	b.until(`document.getElementById("m2")`)
	b.eval(`clearInterval(up)`)
	if !b.eval(inOrder).(bool) {
		t.Error("after the way back, the messages on the page are not each one once, in order")
	}
	if b.eval(`!!document.getElementById("m1501")`).(bool) {
		t.Error("after the way back, the last message is still on the page")
	}
}

func TestReaderFoldsFindsAndCopies(t *testing.T) {
	store := composed(t)
	id := everything(t, store)
	b := visiting(t, store, nil).browse()
	b.size(1440, "light")
	b.open("/sessions/" + string(id) + "?find=brown")
	b.until(`CSS.highlights.get("found")?.size > 0 && document.querySelector("[data-hit=next]")`)
	b.press("n")
	b.until(`location.hash == "#m2" && document.querySelector(".strip .jump").textContent.includes("1 of ")`)
	b.press("n")
	b.until(`location.hash != "#m2" && document.querySelector(".strip .jump").textContent.includes("2 of ")`)
	b.press("N")
	b.until(`location.hash == "#m2"`)

	b.open("/sessions/" + string(id))
	b.until(`document.querySelector("#outline [data-at]")`)
	b.until(`document.querySelector("#outline [aria-current]")`)
	b.eval(`document.querySelector(".folding").open = true`)
	b.eval(`document.querySelector("#folding input[value=commands]").click()`)
	b.until(`[...document.querySelectorAll("details[data-kind=shell]")].every((d) => d.open)`)
	b.until(`fetch(location.href).then((a) => a.text()).then((t) => window.again = t) && window.again?.includes('data-kind="shell" data-tool data-error open')`)

	b.eval(`Object.defineProperty(navigator, "clipboard", { value: { writeText: (t) => (window.took = t, Promise.resolve()) } })`)
	b.eval(`document.querySelector("pre.shell").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))`)
	b.until(`!document.querySelector(".copier").hidden`)
	b.eval(`document.querySelector(".copier").click()`)
	b.until(`window.took?.includes("git status --short")`)
	b.eval(`document.getElementById("m2").focus()`)
	b.press("c")
	b.until(`window.took.includes("Here is the sketch.")`)
}
