package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"maps"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
)

// A head is the row of a session.
type head struct {
	ledger.Head       // LockedBy and Binned are looked up elsewhere
	n           int64 // sessions.n; 0 if there is no row yet
	bytes       int64
}

// heads caches the rows of the sessions that were written to last, so that an
// append need not read them. The changes of a transaction are kept separate
// until it is committed. Only the writer goroutine uses it.
type heads struct {
	kept  map[skein.SessionID]head // committed
	held  map[skein.SessionID]head // by the finished jobs of this transaction
	dirty map[skein.SessionID]head // by the running job

	lastID int64 // events.id assigned last; 0 if it must be looked up. A rollback leaves a gap
}

// maxHeads is how many heads are kept.
const maxHeads = 4096

func newHeads() *heads {
	return &heads{kept: map[skein.SessionID]head{}, held: map[skein.SessionID]head{}, dirty: map[skein.SessionID]head{}}
}

func (h *heads) find(id skein.SessionID) (head, bool) {
	for _, m := range []map[skein.SessionID]head{h.dirty, h.held, h.kept} {
		if x, ok := m[id]; ok {
			return x, true
		}
	}
	return head{}, false
}

func (h *heads) put(x head) { h.dirty[x.ID] = x }

// hold accepts the changes of the job that just finished; drop discards them.
func (h *heads) hold() {
	maps.Copy(h.held, h.dirty)
	clear(h.dirty)
}

func (h *heads) drop() { clear(h.dirty) }

// keep accepts the changes of the transaction after its commit.
func (h *heads) keep() {
	h.hold()
	if len(h.kept) > maxHeads {
		clear(h.kept)
	}
	maps.Copy(h.kept, h.held)
	clear(h.held)
}

// clear forgets all heads, after a rollback or another process's commit.
func (h *heads) clear() {
	clear(h.kept)
	clear(h.held)
	clear(h.dirty)
	h.lastID = 0
}

// headColumns are the columns of sessions that headScan reads.
const headColumns = `s.n, s.id, s.user_id, s.key, s.title, s.title_by, s.description, s.first_words, s.last_prompt, s.surface,
	s.project, s.cwd, s.agent, s.profile, s.provider, s.model, s.parent, s.parent_seq, s.parent_why, s.parent_call,
	s.origin, s.origin_path, s.origin_id, s.origin_version, s.status, s.tags, s.open_calls, s.locked_by, s.pinned, s.created,
	s.updated, s.touched, s.binned, s.base, s.last, s.said, s.messages, s.turns, s.undone_messages, s.undone_turns, s.compactions, s.uncertain, s.revision,
	s.input, s.output, s.reasoning, s.cache_read, s.cache_write, s.cache_hour, s.requests, s.reported, s.bytes, s.first_words_at, s.last_prompt_at, coalesce(s.sum, -1)`

// headScan reads a row of headColumns with scan, the row's scan function.
func headScan(scan func(dest ...any) error) (h head, err error) {
	var id, user, titleBy, parent, why, tags, open string
	var parentSeq, pinned, created, updated, touched, binned, base, last, said, messages, turns, undoneMessages, undoneTurns, compactions, uncertain, revision, firstAt, lastAt, sum int64
	var origin skein.Origin
	var call string
	u := &h.Usage
	err = scan(&h.n, &id, &user, &h.Key, &h.Title, &titleBy, &h.Description, &h.First, &h.LastPrompt, &h.Surface,
		&h.Project, &h.Cwd, &h.Agent, &h.Profile, &h.Provider, &h.Model, &parent, &parentSeq, &why, &call,
		&origin.Format, &origin.Path, &origin.ID, &origin.Version, &h.Status, &tags, &open, &h.LockedBy, &pinned, &created,
		&updated, &touched, &binned, &base, &last, &said, &messages, &turns, &undoneMessages, &undoneTurns, &compactions, &uncertain, &revision,
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &u.Requests, &u.Reported, &h.bytes, &firstAt, &lastAt, &sum)
	if err != nil {
		return head{}, err
	}
	h.ID, h.User, h.TitleBy = skein.SessionID(id), skein.User(user), skein.By(titleBy)
	if parent != "" {
		h.Parent = &skein.Parent{Session: skein.SessionID(parent), Seq: skein.Seq(parentSeq), Why: skein.Why(why), Call: call}
	}
	if origin != (skein.Origin{}) {
		h.Origin = &origin
	}
	h.Pinned, h.Created, h.Updated, h.Touched, h.Binned = pinned != 0, skein.Time(created), skein.Time(updated), skein.Time(touched), skein.Time(binned)
	h.Prompts = walk.Prompts{FirstAt: skein.Seq(firstAt), LastAt: skein.Seq(lastAt)}
	h.Base, h.Last, h.Said = skein.Seq(base), skein.Seq(last), skein.Seq(said)
	h.Messages, h.Turns, h.Compactions = int(messages), int(turns), int(compactions)
	h.Undone = skein.Counts{Messages: int(undoneMessages), Turns: int(undoneTurns)}
	h.Uncertain, h.Revision = int(uncertain), int(revision)
	if h.Open, err = stringsFrom(open); err != nil {
		return h, err
	}
	h.Tags, err = stringsFrom(tags)
	if sum != unsummed {
		h.Check(sum)
		h.Altered = h.Altered || err != nil
	}
	if h.Altered {
		err = nil
	}
	return h, err
}

// stringsJSON encodes a list for sessions.tags and open_calls.
func stringsJSON(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	return string(skein.MustJSON(list))
}

func stringsFrom(s string) (list []string, err error) {
	if s == "[]" {
		return nil, nil
	}
	return list, json.Unmarshal([]byte(s), &list)
}

const selectHead = `SELECT ` + headColumns + ` FROM sessions s WHERE s.id = ?`

// head returns the row of a session; its n is 0 if the session has no row.
func (t *tx) head(id skein.SessionID) (h head, err error) {
	if h, ok := t.heads.find(id); ok {
		return h, nil
	}
	h.ID = id
	err = t.query(selectHead, []any{string(id)}, func(row []driver.Value) error {
		h, err = headScan(func(dest ...any) error { return scan(row, dest) })
		return err
	})
	if err == nil && h.Altered {
		err = t.retell(t.pack, &h)
	}
	return h, err
}

// putHead writes the columns in which h differs from was.
func (t *tx) putHead(was, h *head) (err error) {
	switch {
	case h.n == 0:
		h.n, err = t.insertHead(h)
	case sameButCounts(was, h) && was.Altered == h.Altered:
		err = t.updateCounts(was, h)
	default:
		err = t.updateHead(h)
	}
	if err == nil {
		t.heads.put(*h)
	}
	return err
}

// updateCounts writes the columns that every message changes. Setting any other
// column would remove the row from that column's indexes and add it again, even
// with the same value.
func (t *tx) updateCounts(was, h *head) (err error) {
	u := &h.Usage
	values := []any{
		int64(h.Updated), int64(h.Last), int64(h.Said), h.Messages, h.Turns, h.Undone.Messages, h.Undone.Turns, h.LastPrompt, int64(h.Prompts.FirstAt), int64(h.Prompts.LastAt), h.bytes, h.Provider, h.Model, h.Sum(),
		u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported, h.n,
	}
	const counts = `updated = ?, last = ?, said = ?, messages = ?, turns = ?, undone_messages = ?, undone_turns = ?, last_prompt = ?, first_words_at = ?, last_prompt_at = ?, bytes = ?, provider = ?, model = ?, sum = ?,
		input = ?, output = ?, reasoning = ?, cache_read = ?, cache_write = ?, cache_hour = ?, requests = ?, reported = ?`
	if was.Updated>>10 == h.Updated>>10 {
		_, _, err = t.exec(`UPDATE sessions SET `+counts+` WHERE n = ?`, values...)
		return err
	}
	_, _, err = t.exec(`UPDATE sessions SET `+counts+`, recent = ?1 >> 10 WHERE n = ?`, values...)
	return err
}

// sameButCounts reports whether b differs from a only in the columns that every
// message changes.
func sameButCounts(a, b *head) bool {
	x, y := &a.Session, &b.Session
	return x.Key == y.Key && x.Title == y.Title && x.TitleBy == y.TitleBy && x.Description == y.Description && x.First == y.First &&
		x.Surface == y.Surface && x.Project == y.Project && x.Cwd == y.Cwd && x.Agent == y.Agent && x.Profile == y.Profile &&
		x.Parent == y.Parent && x.Origin == y.Origin && x.Status == y.Status &&
		x.Pinned == y.Pinned && stringsJSON(x.Tags) == stringsJSON(y.Tags) && x.Created == y.Created && x.Base == y.Base &&
		x.Compactions == y.Compactions && stringsJSON(x.Open) == stringsJSON(y.Open) &&
		x.Uncertain == y.Uncertain && x.Revision == y.Revision && x.Binned == y.Binned && x.Touched == y.Touched
}

// headValues returns the values of the columns that insertHead and updateHead
// write, in their order.
func headValues(h *head) []any {
	s := &h.Session
	parent, origin := skein.Parent{}, skein.Origin{}
	if s.Parent != nil {
		parent = *s.Parent
	}
	if s.Origin != nil {
		origin = *s.Origin
	}
	u := &s.Usage
	return []any{
		string(s.ID), string(s.User), s.Key, s.Title, string(s.TitleBy), s.Description, s.First, s.LastPrompt, s.Surface,
		s.Project, s.Cwd, s.Agent, s.Profile, s.Provider, s.Model, string(parent.Session), int64(parent.Seq), string(parent.Why), parent.Call,
		origin.Format, origin.Path, origin.ID, origin.Version, s.Status, stringsJSON(s.Tags), stringsJSON(s.Open), s.Pinned, int64(s.Created),
		int64(s.Updated), int64(s.Updated >> 10), int64(s.Touched), int64(s.Binned), int64(s.Base), int64(s.Last), int64(h.Said), s.Messages, s.Turns, s.Undone.Messages, s.Undone.Turns, s.Compactions, s.Uncertain, s.Revision,
		u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.CacheHour, u.Requests, u.Reported, h.bytes, int64(h.Prompts.FirstAt), int64(h.Prompts.LastAt), h.Sum(),
	}
}

func (t *tx) insertHead(h *head) (int64, error) {
	n, _, err := t.exec(`INSERT INTO sessions (id, user_id, key, title, title_by, description, first_words, last_prompt, surface,
		project, cwd, agent, profile, provider, model, parent, parent_seq, parent_why, parent_call,
		origin, origin_path, origin_id, origin_version, status, tags, open_calls, pinned, created,
		updated, recent, touched, binned, base, last, said, messages, turns, undone_messages, undone_turns, compactions, uncertain, revision,
		input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported, bytes, first_words_at, last_prompt_at, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		headValues(h)...)
	return n, err
}

func (t *tx) updateHead(h *head) error {
	_, _, err := t.exec(`UPDATE sessions SET id = ?, user_id = ?, key = ?, title = ?, title_by = ?, description = ?, first_words = ?, last_prompt = ?, surface = ?,
		project = ?, cwd = ?, agent = ?, profile = ?, provider = ?, model = ?, parent = ?, parent_seq = ?, parent_why = ?, parent_call = ?,
		origin = ?, origin_path = ?, origin_id = ?, origin_version = ?, status = ?, tags = ?, open_calls = ?, pinned = ?, created = ?,
		updated = ?, recent = ?, touched = ?, binned = ?, base = ?, last = ?, said = ?, messages = ?, turns = ?, undone_messages = ?, undone_turns = ?, compactions = ?, uncertain = ?, revision = ?,
		input = ?, output = ?, reasoning = ?, cache_read = ?, cache_write = ?, cache_hour = ?, requests = ?, reported = ?, bytes = ?, first_words_at = ?, last_prompt_at = ?, sum = ? WHERE n = ?`,
		append(headValues(h), h.n)...)
	return err
}
