package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// everything adds a session with everything that a transcript can show to
// store.
func everything(t *testing.T, store skein.Store) skein.SessionID {
	t.Helper()
	c := &composer{t: t, store: store, calls: 1000}
	c.begin("s-everything", composedNow.Add(-26*time.Hour), skein.Created{
		Title: "Draw the map of the harbour", Surface: "cli", Project: "/home/ada/harbour", Cwd: "/home/ada/harbour/map", Agent: "claude-code", Provider: "anthropic", Model: sonnet,
		Origin: &skein.Origin{Format: "claude-code", Path: "/home/ada/.claude/projects/-home-ada-harbour/e.jsonl", ID: "e"},
	})
	picture := skein.NewBlob(drawing(t))
	ask := skein.UserSays("Here is the sketch.\nDraw it as SVG, with a legend, please.\n\n- piers in **brown**\n- water in blue")
	ask.Parts = append(ask.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "sketch.png", Media: "image/png", Blob: picture.Hash, Size: int64(len(picture.Data))}})
	if _, err := store.Append(t.Context(), skein.Batch{Session: c.id, Events: []skein.Event{skein.Say(c.at, ask)}, Blobs: []skein.Blob{picture}}); err != nil {
		t.Fatal(err)
	}
	c.runs(sonnet, "Bash", `{"command":"ls -la\ngit status --short","description":"See what is there"}`, "map.svg\nREADME.md\n M map.svg", false, used(4100, 60, 0, 3900))
	c.runs(sonnet, "Edit", `{"file_path":"map.svg","old_string":"<g id=\"piers\">\n  <rect/>\n</g>","new_string":"<g id=\"piers\">\n  <rect fill=\"#754\"/>\n  <text>Pier 1</text>\n</g>"}`, "The file map.svg was changed.", false, used(200, 180, 3900, 300))
	c.runs(sonnet, "Bash", `{"command":"git diff"}`, "diff --git a/map.svg b/map.svg\n--- a/map.svg\n+++ b/map.svg\n@@ -1,3 +1,4 @@\n <g id=\"piers\">\n-  <rect/>\n+  <rect fill=\"#754\"/>\n+  <text>Pier 1</text>\n </g>", false, used(150, 40, 4200, 200))
	c.runs(sonnet, "Bash", `{"command":"xmllint --noout map.svg"}`, "map.svg:12: parser error : Opening and ending tag mismatch: text line 11 and g\n</g>\n    ^", true, used(120, 50, 4400, 150))
	c.answers(sonnet, "## The map\n\nThe piers are brown now, and there is a legend:\n\n| sign | means |\n| --- | --- |\n| ▬ | pier |\n| ≈ | water |\n\n```python\n# how the legend is made\ndef legend(signs):\n    for sign, text in signs.items():\n        yield f\"<text>{sign} {text}</text>\"  # one line each\n```\n\nOne tag is still not closed; shall I look for it?", used(90, 320, 4600, 120))
	c.asks("Yes. And let somebody check the colours.")
	c.calls++
	task := skein.Call{ID: "task_1", Name: "Task", Input: json.RawMessage(`{"description":"Check the colours","prompt":"Look at map.svg and say whether brown and blue can be told apart by everybody.","subagent_type":"reviewer"}`)}
	at := c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: sonnet, Parts: []skein.Part{{Kind: skein.PartReasoning, Text: "Somebody else should look at it."}, {Kind: skein.PartCall, Call: &task}}}))
	c.put(skein.NewEvent(skein.KindTool, c.at, skein.ToolState{Call: "task_1", State: skein.Running, Start: c.at}))
	began := c.at
	c.later(31 * time.Second)
	c.put(skein.NewEvent(skein.KindTool, c.at, skein.ToolState{Call: "task_1", State: skein.Completed, Start: began, End: c.at}))
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "task_1", Text: "They can be told apart."}}}}))
	compacted := c.put(skein.NewEvent(skein.KindCompacted, c.at, skein.Compacted{To: at - 2, Summary: "The user wants a map of the harbour in SVG. **Piers** are brown.", Before: 48200, After: 2100, Trigger: "auto"}))
	c.put(skein.NewEvent(skein.KindStep, c.at, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Kind: "overloaded", Message: "try again later", Status: 529}}))
	c.answers(sonnet, "The colours are fine. I took the open tag out.", used(2300, 80, 0, 2100))
	c.asks("Now make everything pink.")
	c.answers(sonnet, "Everything is pink.", used(100, 20, 2100, 100))
	c.put(skein.NewEvent(skein.KindRewound, c.at, skein.Rewound{To: compacted + 2}))
	c.asks("Forget pink. Thanks!")
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleAssistant, Model: sonnet, Parts: []skein.Part{skein.TextPart("You are welc")}, Interrupted: true, Error: &skein.ErrorInfo{Kind: "network", Message: "the connection was lost"}}))
	tags := []string{"map", "svg"}
	c.put(skein.NewEvent(skein.KindChanged, c.at, skein.Changed{Tags: &tags}))
	everything := c.id

	c.begin("s-colours", c.at.Std().Add(-time.Minute), skein.Created{Title: "Check the colours", Surface: "cli", Project: "/home/ada/harbour", Agent: "reviewer", Model: haiku, Parent: &skein.Parent{Session: everything, Seq: at, Why: skein.Child, Call: "task_1"}})
	c.asks("Look at map.svg and say whether brown and blue can be told apart by everybody.")
	c.runs(haiku, "Read", `{"file_path":"map.svg"}`, "<svg/>", false, used(900, 30, 0, 0))
	c.answers(haiku, "They can be told apart.", used(1000, 20, 0, 0))
	return everything
}

// long adds a session of n messages to store.
func long(t *testing.T, store skein.Store, id skein.SessionID, n int) {
	t.Helper()
	at := skein.At(composedNow.Add(-48 * time.Hour))
	events := []skein.Event{skein.NewEvent(skein.KindCreated, at, skein.Created{Title: "A long one", Agent: "codex", Project: "/home/ada/long"})}
	for i := 1; i <= n; i++ {
		m := skein.UserSays(fmt.Sprintf("question %d", i))
		if i%2 == 0 {
			m = skein.Message{Role: skein.RoleAssistant, Model: sonnet, Parts: []skein.Part{skein.TextPart(fmt.Sprintf("answer %d", i))}}
		}
		events = append(events, skein.Say(at+skein.Time(i*1000), m))
		if len(events) == 1000 || i == n {
			if _, err := store.Append(t.Context(), skein.Batch{Session: id, Events: events}); err != nil {
				t.Fatal(err)
			}
			events = nil
		}
	}
}

// drawing returns a small picture.
func drawing(t *testing.T) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 240, 120))
	for x := range 240 {
		for y := range 120 {
			m.Set(x, y, color.RGBA{uint8(60 + x/4), uint8(120 + y/2), 200, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
