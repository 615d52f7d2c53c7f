package claudecode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// The program writes lines in the background, and a quick answer can come before the
// prompt. That is no rewind: nothing was taken back.
func TestAnAnswerBeforeItsPromptIsNoRewind(t *testing.T) {
	line := func(id, parent, second, what string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"cwd":"/srv/shop","sessionId":%q,"version":"2.1.9","uuid":%q,"timestamp":"2026-11-21T04:00:%s.000Z",%s}`+"\n", parent, backID, id, second, what)
	}
	asked := func(text string) string {
		return fmt.Sprintf(`"type":"user","message":{"role":"user","content":%q}`, text)
	}
	answered := func(id, text string) string {
		return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":%q}]}`, id, text)
	}
	const attached = `"type":"attachment","attachment":{"type":"skill_listing","content":"none"}`
	begin := line("u2", "x1", "02", answered("m1", "eins")) + line("u1", "null", "01", asked("one")) + line("x1", "u1", "01", attached) +
		line("u3", "u2", "03", asked("two")) + line("u4", "u3", "04", answered("m2", "zwei"))
	for name, c := range map[string]struct{ more, want string }{
		"and went on":   {"", "eins, one, two, zwei"},
		"and went back": {line("u5", "u2", "05", asked("instead")), "eins, one, instead"},
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := laid(t, begin+c.more)
			store := memory.New()
			defer store.Close()
			if _, err := importer.Import(t.Context(), store, []interop.Format{Format()}, []string{home}, interop.Options{}); err != nil {
				t.Fatal(err)
			}
			all, err := store.Newest(t.Context(), backID, 10, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range all {
				if !e.Rewound {
					got = append(got, e.Message.Words())
				}
			}
			if is := strings.Join(got, ", "); is != c.want {
				t.Errorf("the session shows %q, want %q", is, c.want)
			}
		})
	}
}
