package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
)

// transcript returns JSON Lines as agents write them: prose, code, logs, tool
// output, with an occasional keyword of a rule.
func transcript(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		code := fmt.Sprintf("func (s *Store) key%d(ctx context.Context, token string) error {\n\tif token == \"\" {\n\t\treturn fmt.Errorf(\"no token: %%w\", err)\n\t}\n\tpath := filepath.Join(s.dir, \"secrets\", name)\n\treturn os.WriteFile(path, []byte(token), 0o600)\n}\n", i)
		b.Write(skein.MustJSON(map[string]any{
			"type": "assistant", "uuid": fmt.Sprintf("019ab54e-%04x-7222-8333-444455556666", i%65536), "parentUuid": nil, "timestamp": "2026-11-21T04:36:00.123Z",
			"message": map[string]any{"role": "assistant", "usage": map[string]int{"input_tokens": 18273 + i, "output_tokens": 190, "cache_read_input_tokens": 77182}, "content": []any{
				map[string]any{"type": "text", "text": "Let me look at how the parser handles the trailing comma; the tests in parse_test.go say it should be an error, but the key of the map is kept. See https://pkg.go.dev/encoding/json for what it does."},
				map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%020d", i), "name": "Edit", "input": map[string]any{"file_path": "/src/api/store.go", "new_string": code}},
				map[string]any{"type": "tool_result", "content": "ok  \tgithub.com/acme/api/store\t0.412s\n--- FAIL: TestParse (0.00s)\n    parse_test.go:41: got 3, want 2\ncommit 9fceb02d0ae598e95dc970b74767f19372d61af8\n"},
			}},
		}))
		b.WriteByte('\n')
	}
	return b.String()
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		redact.New()
	}
}

func BenchmarkText(b *testing.B) {
	s, r := transcript(1<<20), redact.New()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.Text(s)
	}
}

// BenchmarkJSON is comparable with BenchmarkParse, on the same lines.
func BenchmarkJSON(b *testing.B) {
	lines, r := strings.Split(strings.TrimSpace(transcript(1<<20)), "\n"), redact.New()
	b.SetBytes(1 << 20)
	for b.Loop() {
		for _, l := range lines {
			r.JSON([]byte(l))
		}
	}
}

func BenchmarkParse(b *testing.B) {
	lines := strings.Split(strings.TrimSpace(transcript(1<<20)), "\n")
	b.SetBytes(1 << 20)
	for b.Loop() {
		for _, l := range lines {
			var v any
			if err := json.Unmarshal([]byte(l), &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
