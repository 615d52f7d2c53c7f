package gen

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Turn adds a prompt, some tool calls and the answer.
func (t *Transcript) Turn() {
	t.Ask(t.Prose(30 + t.r.IntN(400)))
	for range 1 + t.r.IntN(8) {
		t.tool()
	}
	t.answer("end_turn", t.thinking(), text(t.Prose(200+t.r.IntN(1200))+"\n\n```go\n"+t.Code(t.r.IntN(900))+"```"))
}

func (t *Transcript) thinking() object {
	return object{"type", "thinking", "thinking", t.Prose(80 + t.r.IntN(600)), "signature", t.base64(300 + t.r.IntN(900))}
}

// base64 returns n random bytes, which neither indexes nor compresses well.
func (t *Transcript) base64(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(t.r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(b)
}

// tool adds a call with a word before it, and its result.
func (t *Transcript) tool() {
	id := "toolu_01" + t.Hex(11)
	switch n := t.r.IntN(60); {
	case n == 0:
		t.picture(id)
	case n < 25:
		t.bash(id)
	case n < 38:
		t.read(id)
	default:
		t.edit(id)
	}
}

func (t *Transcript) call(id, name string, input object) {
	use := object{"type", "tool_use", "id", id, "name", name, "input", input}
	if t.r.IntN(3) == 0 {
		t.answer("tool_use", use)
		return
	}
	t.answer("tool_use", text(t.Prose(60+t.r.IntN(160))), use)
}

func (t *Transcript) result(id, content string, rich object) {
	block := object{"tool_use_id", id, "type", "tool_result", "content", content}
	t.line("type", "user", "message", object{"role", "user", "content", []object{block}}, "toolUseResult", rich)
}

func (t *Transcript) bash(id string) {
	t.call(id, "Bash", object{"command", "go test ./" + t.Word() + "/... && git diff " + t.Path("."), "description", t.Prose(20)})
	out := t.Output(t.Cwd, t.size(80, 8_000))
	for range t.r.IntN(3) {
		t.line("type", "progress", "data", object{"type", "bash_progress", "output", out[:len(out)/4], "fullOutput", out[:len(out)/3], "elapsedTimeSeconds", 2}, "toolUseID", "bash-progress-0", "parentToolUseID", id)
	}
	t.result(id, out, object{"stdout", out, "stderr", "", "interrupted", false, "isImage", false})
}

func (t *Transcript) read(id string) {
	path, body := t.Path(t.Cwd), t.Code(t.size(400, 14_000))
	t.call(id, "Read", object{"file_path", path})
	t.result(id, numbered(body), object{"type", "text", "file", object{
		"filePath", path, "content", body, "numLines", strings.Count(body, "\n"), "startLine", 1, "totalLines", strings.Count(body, "\n"),
	}})
}

func (t *Transcript) edit(id string) {
	path, was, is := t.Path(t.Cwd), t.Code(t.size(60, 700)), t.Code(t.size(60, 900))
	before, after := t.Code(t.size(1_000, 20_000)), t.Code(t.size(500, 10_000))
	t.call(id, "Edit", object{"file_path", path, "old_string", was, "new_string", is})
	t.result(id, "The file "+path+" has been updated. Here's the result of running `cat -n` on a snippet:\n"+numbered(is), object{
		"filePath", path, "oldString", was, "newString", is, "originalFile", before + was + after,
		"structuredPatch",
		[]object{{"oldStart", 40, "oldLines", 12, "newStart", 40, "newLines", 14, "lines", patch(was, is)}},
		"userModified", false, "replaceAll", false,
	})
}

// picture adds a screenshot, which occurs in its line twice.
func (t *Transcript) picture(id string) {
	t.call(id, "Read", object{"file_path", t.Cwd + "/shot.png"})
	data := t.base64(t.size(8_000, 120_000))
	source := object{"type", "base64", "media_type", "image/png", "data", data}
	block := object{"tool_use_id", id, "type", "tool_result", "content", []object{{"type", "image", "source", source}}}
	t.line("type", "user", "message", object{"role", "user", "content", []object{block}},
		"toolUseResult", object{"type", "image", "file", object{"base64", data, "type", "image/png", "originalSize", len(data)}})
}

func patch(was, is string) (lines []string) {
	for l := range strings.Lines(was) {
		lines = append(lines, "-"+strings.TrimSuffix(l, "\n"))
	}
	for l := range strings.Lines(is) {
		lines = append(lines, "+"+strings.TrimSuffix(l, "\n"))
	}
	return lines
}

// size returns a length between low and high; most are short, few are long.
func (t *Transcript) size(low, high int) int {
	f := t.r.Float64()
	return low + int(float64(high-low)*f*f*f)
}

func numbered(s string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(s) {
		n++
		fmt.Fprintf(&b, "%6d→%s", n, line)
	}
	return b.String()
}
