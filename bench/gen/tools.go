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
	sig := make([]byte, 160)
	for i := range sig {
		sig[i] = byte(t.r.Uint32())
	}
	return object{"type", "thinking", "thinking", t.Prose(80 + t.r.IntN(600)), "signature", base64.StdEncoding.EncodeToString(sig)}
}

// tool adds a call with a word before it, and its result.
func (t *Transcript) tool() {
	id := "toolu_01" + t.Hex(11)
	switch t.r.IntN(5) {
	case 0, 1:
		t.bash(id)
	case 2, 3:
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
	out := t.Output(t.Cwd, t.size(200, 12_000))
	t.result(id, out, object{"stdout", out, "stderr", "", "interrupted", false, "isImage", false})
}

func (t *Transcript) read(id string) {
	path, body := t.Path(t.Cwd), t.Code(t.size(500, 16_000))
	t.call(id, "Read", object{"file_path", path})
	t.result(id, numbered(body), object{"type", "text", "file", object{
		"filePath", path, "content", body, "numLines", strings.Count(body, "\n"), "startLine", 1, "totalLines", strings.Count(body, "\n"),
	}})
}

func (t *Transcript) edit(id string) {
	path, was, is := t.Path(t.Cwd), t.Code(t.size(60, 900)), t.Code(t.size(60, 1200))
	whole := t.Code(2000) + was
	t.call(id, "Edit", object{"file_path", path, "old_string", was, "new_string", is})
	t.result(id, "The file "+path+" has been updated. Here's the result of running `cat -n` on a snippet:\n"+numbered(is), object{
		"filePath", path, "oldString", was, "newString", is, "originalFile", whole, "userModified", false, "replaceAll", false,
	})
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
