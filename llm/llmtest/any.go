package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/skein-dev/skein"
)

// anyMessages sends the contexts of random conversations, some of them with
// everything in the wrong place. The server must accept what [window.Context]
// made.
func anyMessages(c *check) {
	p := c.ask()
	c.server.Otherwise(Says("Well."))
	for seed := range uint64(200) {
		g := &generator{rand.New(rand.NewPCG(seed, 0)), 0}
		r := c.context(p, g.events())
		r.Tools = tools()
		r.Blob = func(context.Context, skein.Hash) ([]byte, error) { return png().Data, nil }
		if len(r.Messages) == 0 {
			continue
		}
		if _, err := Collect(c.T, p.Stream(c.Context(), r)); err != nil {
			c.Fatalf("Stream(context of seed %d) = %v\n%s", seed, err, c.last().Body)
		}
	}
}

// A generator makes random conversations.
type generator struct {
	*rand.Rand
	calls int
}

func (g *generator) events() (all []skein.Event) {
	all = append(all, skein.Say(0, skein.UserSays("Let us begin.")))
	for range g.IntN(12) {
		m := skein.Message{Role: pick(g, skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, skein.RoleSteer, skein.RoleAssistant)}
		for range g.IntN(4) {
			m.Parts = append(m.Parts, g.part())
		}
		m.Provider = pick(g, "", "anthropic", "elsewhere")
		m.Interrupted = g.IntN(8) == 0
		all = append(all, skein.Say(0, m))
	}
	return all
}

func (g *generator) part() skein.Part {
	text := pick(g, "word", "", "  ", "ends with a space ", "<&>", "\ud7ff\xed\xa0\x80", "two\n\nlines", "\xff")
	switch g.IntN(6) {
	case 0:
		g.calls++
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{
			ID: g.id(g.calls), Name: pick(g, "read_file", "list_files", "odd name/ü", ""),
			Input: json.RawMessage(pick(g, `{"path":"a"}`, `{}`, `null`, `"text"`, ``, `[1]`, `{"a": {"b": "<c>"}}`)),
		}}
	case 1:
		return skein.Part{Kind: skein.PartResult, Result: &skein.Result{
			CallID: g.id(max(1, g.calls-g.IntN(3))), Text: skein.Text(text), Failed: g.IntN(2) == 0, Files: pick(g, nil, []skein.File{g.file()}),
		}}
	case 2:
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text), Raw: json.RawMessage(pick(g, "", `{"type":"thinking","thinking":"x","signature":"forged"}`))}
	case 3:
		f := g.file()
		return skein.Part{Kind: skein.PartFile, File: &f}
	}
	return skein.TextPart(text)
}

// id returns the ID of the nth call, which sometimes is not unique.
func (g *generator) id(n int) string {
	switch {
	case n%7 == 0:
		return "same"
	case n%5 == 0:
		return fmt.Sprintf("an ID that is much longer than what most providers take as one, number %d", n)
	}
	return fmt.Sprintf("call_%d", n)
}

func (g *generator) file() skein.File {
	return skein.File{Name: pick(g, "a.png", "", "dir/b.pdf"), Media: pick(g, "image/png", "application/pdf", "text/x-go", ""), Blob: png().Hash, Size: 20}
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }
