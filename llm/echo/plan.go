package echo

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

const (
	maxSaid  = 64 << 10 // bytes of a prompt or result that are repeated
	maxLine  = 200      // bytes of a message that "context" shows
	fewWords = 6        // of a title, or of a message in a summary
)

// plan returns the answer to r. The error is written for people.
func plan(r *llm.Request) (answer, error) {
	last := len(r.Messages) - 1
	if last < 0 {
		return answer{said: []string{"Nothing was said."}}, nil
	}
	if m := &r.Messages[last]; m.Role == skein.RoleUser && m.Synthetic && !results(m) {
		return answer{said: []string{program(r.Messages)}}, nil
	}
	at, rounds := typed(r.Messages)
	prompt := ""
	if at >= 0 {
		prompt = r.Messages[at].Words()
	}
	script, err := parse(prompt)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if rounds < len(script) {
		a = script[rounds]
	}
	// Equal prompts in one conversation are counted separately.
	a.key = fmt.Sprintf("%x %d %d", sha256.Sum256([]byte(prompt)), at, rounds)
	if a.context {
		a.said = append(a.said, shown(r))
	}
	if a.system {
		a.said = append(a.said, r.System)
	}
	if len(a.said)+len(a.thoughts)+len(a.calls) == 0 {
		a.said = []string{cut(cmp.Or(resultText(r.Messages[at+1:]), prompt, "Nothing was said."), maxSaid)}
	}
	for i := range a.calls {
		a.calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i+1)
	}
	return a, nil
}

// typed returns the index of the newest message that a person typed, -1 if
// there is none, and how many answers with calls come after it.
func typed(all []skein.Message) (at, rounds int) {
	for at = len(all) - 1; at >= 0 && !all[at].Typed(); at-- {
		for _, p := range all[at].Parts {
			if p.Kind == skein.PartCall {
				rounds++
				break
			}
		}
	}
	return at, rounds
}

// results reports whether m has a tool's result.
func results(m *skein.Message) bool {
	for _, p := range m.Parts {
		if p.Kind == skein.PartResult {
			return true
		}
	}
	return false
}

// resultText returns the text of the newest round of tool results.
func resultText(all []skein.Message) string {
	var texts []string
	for i := len(all) - 1; i >= 0 && all[i].Role != skein.RoleAssistant; i-- {
		for _, p := range all[i].Parts {
			if p.Kind == skein.PartResult {
				texts = append(texts, strings.TrimSpace(p.Result.Text.UTF8()))
			}
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n\n"))
}

// program answers a request that a program made about a conversation.
func program(all []skein.Message) string {
	own := all[len(all)-1].Parts
	ask := ""
	for _, p := range own {
		ask += string(p.Text) + "\n"
	}
	var begins []string
	for i := range all[:len(all)-1] {
		if m := &all[i]; m.Role == skein.RoleUser && !results(m) {
			begins = append(begins, strings.Join(head(text(m)), " "))
		}
	}
	switch low := strings.ToLower(ask); {
	case len(begins) == 0:
		return cut(strings.TrimSpace(ask), maxSaid)
	case strings.Contains(low, "title"):
		return begins[0]
	case strings.Contains(low, "summar"), strings.Contains(low, "sum up"):
		return cut("Summary: "+strings.Join(begins, "; "), maxSaid)
	}
	return cut(strings.TrimSpace(ask), maxSaid)
}

// head returns the first words of s, without the marks of directives.
func head(s string) []string {
	f := strings.Fields(strings.ReplaceAll(cut(s, 4<<10), marker, ""))
	return f[:min(len(f), fewWords)]
}

// text returns all text of m.
func text(m *skein.Message) string {
	var all []string
	for _, p := range m.Parts {
		if p.Text != "" {
			all = append(all, p.Text.UTF8())
		}
	}
	return strings.Join(all, " ")
}

// shown describes what the model was shown.
func shown(r *llm.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "system: %s\n", line(r.System))
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	fmt.Fprintf(&b, "tools: %s\n", strings.Join(names, " "))
	for i := range r.Messages {
		m := &r.Messages[i]
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, "%s: call %s %s\n", m.Role, p.Call.Name, line(string(p.Call.Input)))
			case p.Result != nil:
				fmt.Fprintf(&b, "%s: result %s\n", m.Role, line(p.Result.Text.UTF8()))
			default:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, line(p.Text.UTF8()))
			}
		}
	}
	return b.String()
}

// line returns the beginning of s on one line.
func line(s string) string { return cut(strings.Join(strings.Fields(cut(s, 4*maxLine)), " "), maxLine) }

// cut returns the first n bytes of s, or slightly less so that no character is
// split.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
