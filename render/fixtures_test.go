package render

import (
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

var noon = skein.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

// sample returns a session with some of everything.
func sample() (skein.Session, []skein.Entry) {
	s := skein.Session{
		ID: "01990000-0000-7000-8000-000000000001", Title: "Make the parser faster", User: skein.Local,
		Project: "/home/ada/parser", Agent: "claude-code", Model: "claude-sonnet-4-5", Created: noon, Updated: noon + 3_600_000,
		Messages: 12, Turns: 4, Usage: skein.Usage{Input: 1200, CacheRead: 340000, Output: 5600},
	}
	say := func(seq skein.Seq, turn int, m skein.Message) skein.Entry {
		return skein.Entry{Seq: seq, End: seq, Turn: turn, Time: noon + skein.Time(seq)*61_000, Message: m}
	}
	answer := func(parts ...skein.Part) skein.Message {
		return skein.Message{Role: skein.RoleAssistant, Model: "claude-sonnet-4-5", Parts: parts}
	}
	tool := func(id, name, text string, failed bool) skein.Message {
		return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Name: name, Text: skein.Text(text), Failed: failed}}}}
	}
	call := func(id, name, input string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	old := say(2, 1, skein.UserSays("What does `parse` do?\nAnd why is it so slow?"))
	old.Compacted = true
	oldAnswer := say(3, 1, answer(skein.TextPart("It reads **one byte at a time**.")))
	oldAnswer.Compacted = true
	taken := say(6, 2, skein.UserSays("Rewrite it in assembly."))
	taken.Rewound = true
	image := skein.UserSays("Here is the profile:")
	image.Parts = append(image.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "profile.png", Media: "image/png", Size: 48211, Blob: skein.NewBlob(pixel).Hash}})
	broken := answer(skein.TextPart("Let me"))
	broken.Interrupted, broken.Error = true, &skein.ErrorInfo{Kind: "overloaded_error", Message: "Overloaded", Status: 529}
	return s, []skein.Entry{
		old, oldAnswer,
		say(5, 1, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartSummary, Text: "The parser reads bytes one at a time; the user wants it faster."}}}),
		taken,
		say(8, 3, image),
		say(9, 3, answer(
			skein.Part{Kind: skein.PartReasoning, Text: "The loop allocates. I should look at the profile first."},
			skein.TextPart("The time goes into `readByte`. A plan:\n\n1. read blocks of 64 KB\n2. scan them with `bytes.IndexByte`\n\n| before | after |\n| ---: | :--- |\n| 12 MB/s | 340 MB/s |\n\n```go\nfunc next(b []byte) (int, bool) {\n\t// a newline ends a record\n\ti := bytes.IndexByte(b, '\\n')\n\treturn i, i >= 0\n}\n```\n\nSee [the notes](https://example.com/notes) and ![chart](https://example.com/chart.png)."),
			call("c1", "Bash", `{"command":"go test -bench . ./...","description":"Run the benchmarks","timeout":60000}`),
		)),
		say(10, 3, tool("c1", "Bash", strings.Repeat("BenchmarkParse-2   1000   1012345 ns/op   340.12 MB/s\n", 12)+"\x1b[32mPASS\x1b[0m\n", false)),
		say(11, 3, answer(call("c2", "Edit", `{"file_path":"/home/ada/parser/parse.go","old_string":"for {\n\tb := r.readByte()\n}","new_string":"for len(b) > 0 {\n\tb = b[next(b):]\n}","options":{"all":true}}`))),
		say(12, 3, tool("c2", "", "old_string was not found in the file", true)),
		say(13, 4, skein.UserSays("Try again, please, with the whole function this time, and mind that averyveryverylongidentifierwithoutanyspaces_must_not_make_the_page_wider_than_a_phone is not broken.")),
		say(14, 4, broken),
	}
}

// pixel is a PNG of one pixel.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82")

func each(entries []skein.Entry) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func asHTML(t *testing.T, s skein.Session, entries []skein.Entry, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := HTML(&b, &s, each(entries), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asMarkdown(t *testing.T, s skein.Session, entries []skein.Entry, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Markdown(&b, &s, each(entries), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
