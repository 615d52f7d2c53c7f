package ethos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// there describes the database that a session is written to.
type there struct {
	columns map[string][]string // by table
	keys    map[string]string   // keys of sessions → session
}

// lookAt returns what the database at path has or, if it does not exist, what a new
// one will have.
func lookAt(ctx context.Context, path string) (t there, err error) {
	t = there{columns: newColumns(), keys: map[string]string{}}
	db, err := foreign.Open(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if ours(db) == nil {
		return t, fmt.Errorf("%w: database %s belongs to another program", skein.ErrInvalid, path)
	}
	clear(t.columns)
	for _, table := range db.Tables() {
		t.columns[table.Name] = table.Columns
	}
	return t, db.Rows(ctx, "sessions", "", func(r foreign.Row) error {
		t.keys[r.Text("key")] = r.Text("id")
		return nil
	})
}

// newColumns returns the columns of the tables that a new database has.
func newColumns() map[string][]string {
	tokens := []string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "estimated_cost_usd"}
	with := func(before []string, after ...string) []string { return append(append(before, tokens...), after...) }
	return map[string][]string{
		"sessions": with([]string{"id", "key", "platform", "model", "provider", "personality_id", "parent_session_id", "working_dir", "title"},
			"api_call_count", "compaction_count", "metadata", "created_at", "updated_at", "turn_count", "last_compaction_turn", "pinned"),
		"messages": with([]string{"id", "session_id", "role", "content", "tool_call_id", "tool_name", "tool_calls"},
			"timestamp", "trace_id", "content_blocks", "deleted_at"),
		"compressions": {
			"id", "session_id", "created_at", "engine_name", "original_count", "kept_count", "summary_text", "summary_tokens",
			"pre_total_tokens", "post_total_tokens", "duration_ms", "kept_from_message_id",
		},
	}
}

// values are the values of a row's columns.
type values map[string]foreign.Value

// row returns a row of a table with the values that the table has columns for, and
// the names of those without a column.
func (t there) row(table string, vs values) (r foreign.Row, lost []string) {
	r.Table = table
	left := len(vs)
	for _, c := range t.columns[table] {
		v, ok := vs[c]
		if !ok {
			continue
		}
		left--
		r.Columns, r.Values = append(r.Columns, c), append(r.Values, v)
	}
	if left == 0 {
		return r, nil
	}
	for c, v := range vs {
		if v != nil && r.Get(c) == nil && v != int64(0) {
			lost = append(lost, c)
		}
	}
	return r, lost
}
