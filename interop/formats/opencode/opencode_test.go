package opencode

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

var tables = []string{"session", "message", "part", "todo", "session_message", "project", "migration", "event"}

func suite() interoptest.Suite {
	return interoptest.Suite{
		Format: Format(), Dir: "testdata/db", Lacks: []string{"a system prompt", "a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "what a cache keeps for an hour", "a service tier", "that it has no folder", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "that it was resumed", "that it ended", "a note", "steering", "instructions"}, Tables: tables,
		Unheard: `INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) SELECT printf('prt_%06d_', ?1) || s.id, (SELECT max(m.id) FROM message m WHERE m.session_id = s.id), s.id, ?1, ?1, ?2 FROM session s WHERE EXISTS (SELECT 1 FROM message m WHERE m.session_id = s.id)`,
	}
}

func TestFormat(t *testing.T) { interoptest.Run(t, suite()) }

// What later versions put into a table of its own is not read where there are messages.
func TestRowsOfTheNewerTable(t *testing.T) {
	s := suite()
	s.Unheard = `INSERT INTO session_message (id, session_id, type, seq, time_created, time_updated, data) SELECT printf('msg_%06d_', ?1) || s.id, s.id, coalesce(json_extract(?2, '$.type'), 'unheard'), 1000 + ?1, ?1, ?1, ?2 FROM session s`
	interoptest.Unheard(t, s)
}

func TestTheFolderOfOld(t *testing.T) {
	f := Format()
	f.Write = nil // it is only read
	interoptest.Run(t, interoptest.Suite{Format: f, Dir: "testdata/tree"})
}
