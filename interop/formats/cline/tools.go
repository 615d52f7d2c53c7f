package cline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
)

// tools reads the calls of a conversation, which are blocks or, up to 2025, XML in
// the model's text:
//
//	<read_file>
//	<path>a.go</path>
//	</read_file>
type tools struct {
	native blocks.Reader
	n      int
	open   *skein.Call // that the next message answers
}

// names returns the tools that are called in XML: other tags are text.
func names() []string {
	return []string{
		"access_mcp_resource", "apply_diff", "apply_patch", "ask_followup_question", "attempt_completion", "browser_action",
		"codebase_search", "condense", "edit_file", "execute_command", "explain_changes", "fetch_instructions", "generate_image",
		"insert_content", "list_code_definition_names", "list_files", "load_mcp_documentation", "new_rule", "new_task",
		"plan_mode_respond", "plan_mode_response", "read_file", "replace_in_file", "report_bug", "run_slash_command",
		"search_and_replace", "search_files", "search_replace", "skill", "summarize_task", "switch_mode", "update_todo_list",
		"use_mcp_tool", "use_skill", "use_subagents", "web_fetch", "web_search", "write_to_file",
	}
}

// calls extracts the calls from what the model said.
func (t *tools) calls(text string) (parts []skein.Part) {
	words := func(s string) {
		if strings.TrimSpace(s) == "" {
			return
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(s), "<thinking>"); ok {
			if thought, after, ok := strings.Cut(rest, "</thinking>"); ok {
				parts = append(parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(strings.TrimSpace(thought))})
				s = after
			}
		}
		if s = strings.Trim(s, "\n"); strings.TrimSpace(s) != "" {
			parts = append(parts, skein.TextPart(s))
		}
	}
	rest, unclosed, known := text, map[string]bool{}, names()
	for from := 0; from < len(rest); {
		at := strings.IndexByte(rest[from:], '<')
		if at < 0 {
			break
		}
		at += from
		if at > 0 && rest[at-1] != '\n' || !slices.Contains(known, tagOf(rest[at:])) {
			from = at + 1
			continue
		}
		name, inner, after, ok := element(rest[at:], unclosed)
		if !ok {
			from = at + 1
			continue
		}
		words(rest[:at])
		t.n++
		t.open = &skein.Call{ID: "xml-" + strconv.Itoa(t.n), Name: name, Input: skein.MustJSON(params(inner))}
		parts = append(parts, skein.Part{Kind: skein.PartCall, Call: t.open})
		rest, from = after, 0
	}
	words(rest)
	if len(parts) == 0 && text != "" {
		parts = append(parts, skein.TextPart(text))
	}
	return parts
}

// element returns the XML element that text begins with. Its name has only lower-case
// letters and _. unclosed are the names known to have no end tag in what follows.
func element(text string, unclosed map[string]bool) (name, inner, after string, ok bool) {
	name = tagOf(text)
	if name != "" && !unclosed[name] && len(unclosed) < maxUnclosed {
		if inner, after, ok = strings.Cut(text[len(name)+2:], "</"+name+">"); !ok {
			unclosed[name] = true
		}
	}
	return name, inner, after, ok
}

// maxUnclosed is how many names without an end tag are looked for in one text.
const maxUnclosed = 100

// tagOf returns the name of the tag that text begins with, "" if there is none.
func tagOf(text string) string {
	end := strings.IndexByte(text[:min(len(text), 64)], '>')
	if end < 2 || strings.Trim(text[1:end], "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return text[1:end]
}

// params returns the parameters of a call: text can contain any tags, so content and
// diff end with their last end tag.
func params(inner string) map[string]skein.Text {
	all, unclosed := map[string]skein.Text{}, map[string]bool{}
	for rest := inner; ; {
		at := strings.IndexByte(rest, '<')
		if at < 0 {
			break
		}
		name, value, after, ok := element(rest[at:], unclosed)
		if !ok {
			rest = rest[at+1:]
			continue
		}
		if end := "</" + name + ">"; name == "content" || name == "diff" {
			whole := rest[at+len(name)+2:]
			last := strings.LastIndex(whole, end)
			value, after = whole[:last], whole[last+len(end):]
		}
		all[name] = skein.Text(strings.Trim(value, "\n"))
		rest = after
	}
	if len(all) == 0 && strings.TrimSpace(inner) != "" {
		all["text"] = skein.Text(strings.Trim(inner, "\n"))
	}
	return all
}

// answers extracts the result of a call in XML, which begins with "[read_file for
// 'a.go'] Result:", from what was said to the model.
func (t *tools) answers(got []skein.Part) (parts []skein.Part) {
	var res *skein.Result
	for _, p := range got {
		if p.Kind != skein.PartText {
			if f := p.File; f != nil && res != nil {
				res.Files = append(res.Files, *f)
				continue
			}
			parts = append(parts, p)
			continue
		}
		text := string(p.Text)
		if name, rest, ok := resultOf(text); ok && t.open != nil && t.open.Name == name {
			res = &skein.Result{CallID: t.open.ID, Name: name, Text: skein.Text(rest), Failed: failed(rest)}
			t.open = nil
			parts = append(parts, skein.Part{Kind: skein.PartResult, Result: res})
			continue
		}
		words, persons := typed(text)
		switch {
		case persons && res != nil && words == text: // a further piece of the result
			res.Text = skein.Text(strings.Trim(string(res.Text)+"\n"+text, "\n"))
			res.Failed = res.Failed || failed(text)
		case persons:
			res = nil
			parts = append(parts, skein.TextPart(words))
		default:
			p.Synthetic = true
			parts = append(parts, p)
		}
	}
	return parts
}

// resultOf splits a result into the tool and the text after the colon.
func resultOf(text string) (name, rest string, ok bool) {
	head, rest, ok := strings.Cut(text, "] Result:")
	if !ok || !strings.HasPrefix(head, "[") || strings.Contains(head, "\n\n") {
		return "", "", false
	}
	name, _, _ = strings.Cut(head[1:], " ")
	return name, strings.TrimSpace(rest), true
}

func failed(text string) bool {
	return strings.HasPrefix(text, "The tool execution failed") || strings.HasPrefix(text, "<error>") || strings.HasPrefix(text, "The user denied this operation")
}
