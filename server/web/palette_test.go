package web_test

import "testing"

func TestThePaletteGoesToSessionsProjectsAndPages(t *testing.T) {
	b := visiting(t, composed(t), nil).browse()
	b.size(1440, "light")
	open := func() {
		t.Helper()
		b.open("/usage?since=")
		b.until(`document.documentElement.classList.contains("js")`)
		b.eval(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true, cancelable: true}))`)
		b.until(`document.activeElement.closest("dialog.palette")`)
	}
	open()
	b.until(`[...document.querySelectorAll(".palette [role=option]")].some((o) => o.textContent == "courierProject")`)
	b.shot("palette")
	b.press("R", "e", "t", "r", "y", " ", "u", "p")
	b.until(`[...document.querySelectorAll(".palette [role=option]")].some((o) => o.textContent.includes("Retry uploads that broke off"))`)
	b.until(`document.querySelector(".palette [aria-selected=true]").textContent.endsWith("Session")`)
	b.press("\r")
	b.until(`location.pathname == "/sessions/s-retry"`)
	open()
	b.press("H", "e", "a", "l", "t")
	b.until(`document.querySelector(".palette [aria-selected=true]").textContent == "HealthPage"`)
	b.press("\r")
	b.until(`location.pathname == "/health"`)
}
