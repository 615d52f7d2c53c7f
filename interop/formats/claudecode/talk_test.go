package claudecode

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
)

// talk is a session of another agent with every kind of content, written for the
// program.
func talk(blob skein.Blob) []skein.Event {
	at := skein.Time(1795230386000)
	call := func(id, name, input string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: []byte(input)}}
	}
	answer := func(parts ...skein.Part) skein.Message {
		return skein.Message{Role: skein.RoleAssistant, Provider: "openai", Model: "gpt-6", Parts: parts}
	}
	result := func(id, text string) skein.Message {
		return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}}}
	}
	var evs []skein.Event
	for _, m := range []skein.Message{
		{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("You are another agent.")}},
		skein.UserSays("long ago"),
		answer(skein.TextPart("ages")),
		skein.UserSays("newer"),
		answer(skein.Part{Kind: skein.PartReasoning, Text: "hm"}, skein.TextPart("I look."), call("c 1", "shell", `{"command":["bash","-lc","ls"],"workdir":"/srv"}`), call("c2", "apply_patch", `"*** Begin"`)),
		result("c 1", "a.go"),
		{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("hurry up")}},
		result("c2", "done"),
		answer(skein.TextPart("And"), call("c3", "read_file", `{"path":"a.go"}`)),
		{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart("see this"), {Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: int64(len(blob.Data))}}}},
		answer(skein.TextPart("a dot")),
	} {
		evs = append(evs, skein.Say(at, m))
		at += 1000
	}
	compacted := skein.NewEvent(skein.KindCompacted, at, skein.Compacted{To: 4, Summary: "They spoke of ages.", Before: 1000})
	return slices.Concat(evs[:5], []skein.Event{compacted}, evs[5:])
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// onePixel is a PNG.
var onePixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")
