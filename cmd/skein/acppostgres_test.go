//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// skein acp works on PostgreSQL as on a file: what was acknowledged is there after it was
// killed, whoever has the session is named, and another one takes it over.
func TestSkeinACPOnPostgreSQL(t *testing.T) {
	d := newACPDesk(t, "load resume")
	store := []string{"SKEIN_STORE=" + pgtest.DSN(t)}
	start := func() *connection {
		c := d.types("1", store, "acp", "--", "env", asProgram+"=agent", d.self())
		c.Initialize()
		return c
	}
	first := start()
	id := first.New(filepath.Join(d.dir, "work"))
	if stop := first.Prompt(id, "say hello\ntool ls\npermit Bash\nsay the end"); stop != "end_turn" {
		t.Fatalf("the turn ended with %q", stop)
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.leave()

	second := start()
	var list struct{ Sessions []struct{ SessionID string } }
	second.Ask("session/list", map[string]any{"cwd": filepath.Join(d.dir, "work")}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != id {
		t.Errorf("the list is %+v, want %s", list, id)
	}
	load := map[string]any{"sessionId": id, "cwd": filepath.Join(d.dir, "work"), "mcpServers": []any{}, "_meta": map[string]any{"skein": map[string]any{"takeOver": true}}}
	second.Ask("session/load", load, nil)
	seen := acptest.Updates(second.Lines(0), id)
	if got, want := acptest.Texts(seen, "agent_message_chunk"), "hellothe end"; got != want {
		t.Errorf("the session shows %q, want %q", got, want)
	}
	second.Prompt(id, "say again")

	third := start()
	delete(load, "_meta")
	if a, ok := third.Await(third.Send("session/load", load)); !ok || a.Error == nil || !strings.Contains(a.Error.Message, "skein acp") {
		t.Errorf("a session that is open elsewhere is answered %+v", a)
	}
	second.leave()
	third.Ask("session/load", load, nil)
	if got, want := acptest.Texts(acptest.Updates(third.Lines(0), id), "agent_message_chunk"), "hellothe endagain"; got != want {
		t.Errorf("the session shows %q, want %q", got, want)
	}
}
