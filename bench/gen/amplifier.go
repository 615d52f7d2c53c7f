package gen

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// An Amplifier writes one session in Amplifier's format: a transcript,
// formatted like Python's JSON, and a log that repeats each call, its result
// and each request.
type Amplifier struct {
	*Transcript
	said, logged bytes.Buffer
	turns        int
}

// NewAmplifier returns an empty session generated from seed.
func NewAmplifier(seed uint64) *Amplifier { return &Amplifier{Transcript: NewTranscript(seed)} }

// NewAmplifierTree writes sessions of about total bytes together below dir, in
// the folders that Amplifier uses. Errors are those of writing files.
func NewAmplifierTree(dir string, seed uint64, sessions int, total int64) (Corpus, error) {
	c := Corpus{Dir: dir, Files: sessions, What: "an Amplifier tree"}
	for i := range sessions {
		a := NewAmplifier(seed + uint64(i))
		for int64(a.said.Len()+a.logged.Len()) < total/int64(sessions) {
			a.Turn()
		}
		folder := filepath.Join(dir, "projects", strings.ReplaceAll(a.Cwd, "/", "-"), "sessions", a.ID)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return c, err
		}
		for name, data := range map[string][]byte{"transcript.jsonl": a.said.Bytes(), "events.jsonl": a.logged.Bytes(), "metadata.json": a.metadata()} {
			if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
				return c, fmt.Errorf("session %d: %w", i, err)
			}
			c.Bytes += int64(len(data))
		}
	}
	return c, nil
}

// Turn adds a prompt, some tool calls and the answer.
func (a *Amplifier) Turn() {
	a.turns++
	prompt := a.Prose(30 + a.r.IntN(400))
	a.say("user", "content", prompt)
	a.log("prompt:submit", object{"prompt", prompt})
	for range 1 + a.r.IntN(8) {
		a.tool()
	}
	a.answer(a.Prose(200+a.r.IntN(1200))+"\n\n```go\n"+a.Code(a.r.IntN(900))+"```", nil)
}

func (a *Amplifier) tool() {
	id := "toolu_01" + a.Hex(11)
	name, input, out := "bash", object{"command", "go test ./" + a.Word() + "/..."}, a.Output(a.Cwd, a.size(80, 8_000))
	switch n := a.r.IntN(60); {
	case n > 38:
		name, out = "edit_file", "done"
		input = object{"file_path", a.Path(a.Cwd), "old_string", a.Code(a.size(60, 3_000)), "new_string", a.Code(a.size(60, 6_000))}
	case n > 24:
		name, input, out = "read_file", object{"file_path", a.Path(a.Cwd)}, numbered(a.Code(a.size(400, 14_000)))
	}
	a.answer(a.Prose(60+a.r.IntN(160)), object{"id", id, "tool", name, "arguments", input})
	a.log("tool:pre", object{"tool_name", name, "tool_call_id", id, "tool_input", input})
	a.say("tool", "name", name, "tool_call_id", id, "content", out)
	a.log("tool:post", object{"tool_name", name, "tool_call_id", id, "result", object{"success", true, "output", out}})
}

func (a *Amplifier) answer(words string, call object) {
	a.ctx += len(words) / 4
	own := []any{"content", words}
	if call != nil {
		own = append(own, "tool_calls", []object{call})
	}
	a.say("assistant", own...)
	a.log("llm:response", object{
		"provider", "anthropic", "model", "claude-opus-4-6", "status", "ok", "duration_ms", 900 + a.r.IntN(9000),
		"usage",
		object{"input_tokens", 20, "output_tokens", len(words) / 4, "cache_read_tokens", a.ctx, "cost_usd", "0.0123"},
	})
}

// say adds a line to the transcript.
func (a *Amplifier) say(role string, own ...any) {
	a.clock = a.clock.Add(time.Duration(1+a.r.IntN(20)) * time.Second)
	a.said.Write(spaced(append(append(object{"role", role}, own...), "metadata", object{"timestamp", a.stamp()})))
}

// log adds a line to the log.
func (a *Amplifier) log(event string, data object) {
	a.logged.Write(spaced(object{
		"ts", a.stamp(), "lvl", "INFO", "schema", object{"name", "amplifier.log", "ver", "1.0.0"}, "event", event, "session_id", a.ID, "data", data,
	}))
}

func (a *Amplifier) stamp() string { return a.clock.UTC().Format("2006-01-02T15:04:05.000+00:00") }

func (a *Amplifier) metadata() []byte {
	return fmt.Appendf(nil, "{\n  \"session_id\": %q,\n  \"created\": \"2026-01-01T08:00:00.000001+00:00\",\n  \"bundle\": \"bundle:foundation\",\n  \"model\": \"anthropic/claude-opus-4-6\",\n  \"turn_count\": %d,\n  \"working_dir\": %q\n}",
		a.ID, a.turns, a.Cwd)
}

// spaced returns a line of JSON with a space after commas and colons, as
// Python's json.dumps writes it.
func spaced(o object) []byte {
	text, err := encode(o)
	if err != nil {
		panic(err) // it consists of strings and numbers
	}
	out, in, escaped := make([]byte, 0, len(text)+64), false, false
	for _, c := range text {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"':
			in = !in
		case !in && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return append(out, '\n')
}
