package openaiagents

import (
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{
		Format: Format(), Dir: "testdata", Tables: tables,
		Unheard: `INSERT INTO agent_messages (session_id, message_data, created_at) SELECT session_id, '{"type":"unheard-of","n":' || ?1 || ',"v":' || ?2 || '}', '2027-01-01 00:00:00' FROM agent_sessions`,
	})
}
