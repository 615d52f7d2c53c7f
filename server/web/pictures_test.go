package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "take the pictures of docs/img anew")

// TestPicturesOfTheDocs checks that the pages shown in docs/img exist; with
// -update it takes the pictures.
func TestPicturesOfTheDocs(t *testing.T) {
	folder := filepath.Join("..", "..", "docs", "img")
	for _, p := range []struct{ name, path, scheme string }{
		{"sessions", "/", "light"},
		{"session", "/sessions/s-retry#m11", "light"},
		{"usage", "/usage", "light"},
		{"tree", "/sessions/s-retry/tree", "light"},
		{"replay", "/sessions/s-retry/replay", "dark"},
		{"chat", "/sessions/s-fork/chat", "dark"},
	} {
		file := filepath.Join(folder, p.name+".png")
		if !*update {
			if info, err := os.Stat(file); err != nil || info.Size() > 200<<10 {
				t.Errorf("%s: %v; want a picture of at most 200 KB: go test ./web -run Pictures -update", file, err)
			}
			continue
		}
		b := chatting(t, &parrot{}).browse()
		b.size(1120, p.scheme)
		b.open(p.path)
		b.until(`document.readyState == "complete"`)
		if p.name == "chat" {
			b.do(chromedp.SendKeys(chromedp.CSS("#text"), "run make release\r"))
			b.until(`document.querySelector(".question") && document.getElementById("transcript").textContent.includes("run make release")`)
		}
		if p.name == "replay" {
			b.eval(`(() => { const l = document.getElementById("line"); l.value = 3; l.dispatchEvent(new Event("input")); scrollTo(0, 0) })()`)
		}
		data, err := chromedp.Run(b, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
