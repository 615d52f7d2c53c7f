package claudecode

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) { back(t, true, "") }

// Newer versions name the line that they continue from.
func TestAnyLineIsWrittenBackWhereALineIsNamed(t *testing.T) {
	back(t, false, `{"type":"last-prompt","lastPrompt":"one","leafUuid":"u2","sessionId":"`+backID+`"}`+"\n")
}

const backID = "b0a7ce02-0000-4000-8000-00000000cafe"

// back rewinds a session whose file has this at its end, and returns to what was
// rewound.
func back(t *testing.T, waits bool, end string) {
	t.Helper()
	const id = backID
	interoptest.Back{Format: Format(), Session: id, From: 17, Seeds: 8, Waits: waits, Lay: func(t testing.TB) string {
		begin := `{"parentUuid":null,"isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-11-10T04:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"eins"}]},"uuid":"u2","timestamp":"2026-11-10T04:00:01.000Z"}
`
		home, _ := laid(t.(*testing.T), begin+end)
		return home
	}}.Run(t)
}
