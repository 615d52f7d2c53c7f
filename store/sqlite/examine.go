package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

var _ inspect.Examiner = (*Store)(nil)

// Examine implements [inspect.Examiner]. It reads the whole file; others can
// write meanwhile.
func (s *Store) Examine(ctx context.Context, x inspect.Examination) iter.Seq2[inspect.Finding, error] {
	x.Repair = x.Repair && s.unwritable(ctx) == nil
	return inspect.Run(ctx, x, "sqlite: examine "+s.path, func(e *inspect.Exam) {
		ex := &exam{Exam: e, s: s, ctx: ctx, folder: x.Folder}
		ex.Area("sqlite", ex.version)
		ex.Area("permissions", ex.permissions)
		ex.Area("disk", ex.disk)
		ex.Whole("file", ex.file)
		ex.Quick("events", ex.newestEvents)
		ex.Whole("events", ex.events)
		ex.Area("events", ex.heads)
		ex.Whole("events", ex.recounts)
		ex.Whole("records", ex.records)
		ex.Whole("usage", ex.usage)
		ex.Quick("index", func(area string) error { return ex.Lag(area, s, s.clock()) })
		ex.Whole("index", ex.index)
		ex.Whole("blobs", ex.blobs)
		ex.Area("leases", func(area string) error {
			return ex.Leases(area, ex.s.Sessions(ctx, skein.Filter{IncludeEmpty: true}))
		})
	})
}

// An exam is one call of Examine.
type exam struct {
	*inspect.Exam
	s      *Store
	ctx    context.Context
	folder string // Examination.Folder
}

func (ex *exam) read(f func(*engine.Conn) error) error { return ex.s.read(ex.ctx, f) }

func (ex *exam) version(area string) error {
	var v string
	var made int64
	err := ex.read(func(c *engine.Conn) error {
		_, err := c.One(`SELECT sqlite_version(), (SELECT user_version FROM pragma_user_version)`, nil, &v, &made)
		return err
	})
	ex.Fine(area, "SQLite %s, schema %d, %s", v, made, ex.s.path)
	return err
}

// file has SQLite check all pages of the file.
func (ex *exam) file(area string) error {
	var found []string
	err := ex.read(func(c *engine.Conn) error {
		return c.Query(`PRAGMA integrity_check(20)`, nil, func(row []driver.Value) error {
			var text string
			err := engine.Scan(row, []any{&text})
			if text != "ok" {
				found = append(found, text)
			}
			return err
		})
	})
	if err != nil && engine.Code(err)&0xff == engine.CodeCorrupt || errors.Is(err, skein.ErrCorrupt) {
		found, err = append(found, err.Error()), nil
	}
	if len(found) > 0 {
		return ex.broken(area, found)
	}
	ex.Fine(area, "every page is intact")
	return err
}

// broken reports what SQLite found, and makes a new store from what can be read.
func (ex *exam) broken(area string, found []string) error {
	var lost []inspect.Finding
	err := ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Text: strings.Join(found, "\n")}, func() (err error) {
		lost, err = ex.rebuild()
		return err
	})
	for _, f := range lost {
		ex.Find(f)
	}
	return err
}

// events unpacks every payload and checks that the seqs have no gaps.
func (ex *exam) events(area string) error {
	n, err := ex.payloads(area, 0)
	if err != nil {
		return err
	}
	ends := map[skein.SessionID]int64{}
	err = ex.read(func(c *engine.Conn) error {
		return c.Query(`SELECT s.id, s.last, coalesce(b.upto, 0), count(e.id), coalesce(min(e.seq), 0), coalesce(max(e.seq), 0)
			FROM sessions s LEFT JOIN bases b ON b.session = s.n LEFT JOIN events e ON e.session = s.n GROUP BY s.n`, nil, func(row []driver.Value) error {
			var id string
			var last, upto int64
			var rows inspect.Rows
			if err := engine.Scan(row, []any{&id, &last, &upto, &rows.Count, &rows.First, &rows.Last}); err != nil {
				return err
			}
			if shown := max(upto, rows.Last); last < shown || last > shown+mostLost {
				ends[skein.SessionID(id)], last = shown, shown
			}
			ex.Seqs(area, skein.SessionID(id), rows, upto, last)
			return nil
		})
	})
	for id, end := range ends {
		if err == nil {
			err = ex.endsElsewhere(area, id, end)
		}
	}
	ex.Fine(area, "%s, all intact and in order", inspect.Count(n, "event"))
	return err
}

// endsElsewhere reports that a session's row has a wrong last seq, and corrects
// it to end: the events after it would not be shown, and seqs be assigned twice.
func (ex *exam) endsElsewhere(area string, id skein.SessionID, end int64) error {
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Session: id, Text: fmt.Sprintf("its row does not end at event %d, as its events do", end)}, func() error {
		return ex.s.write(ex.ctx, func(t *txn.Tx) error {
			t.Forget()
			t.Touch(id)
			_, _, err := t.Exec(`UPDATE sessions SET last = (SELECT max(coalesce((SELECT upto FROM bases b WHERE b.session = n), 0), coalesce((SELECT max(e.seq) FROM events e WHERE e.session = n), 0))) WHERE id = ?`, string(id))
			return err
		})
	})
}

// someEvents is how many events a quick examination reads.
const someEvents = 1000

// newestEvents unpacks the newest payloads.
func (ex *exam) newestEvents(area string) error {
	var last int64
	err := ex.read(func(c *engine.Conn) error {
		_, err := c.One(`SELECT coalesce(max(id), 0) FROM events`, nil, &last)
		return err
	})
	if err != nil {
		return err
	}
	n, err := ex.payloads(area, max(0, last-someEvents))
	ex.Fine(area, "the newest %s are intact", inspect.Count(n, "event"))
	return err
}

// payloads reads the payloads of the rows after one, page by page, and reports the
// damaged ones.
func (ex *exam) payloads(area string, after int64) (n int, err error) {
	for {
		rows := 0
		err := ex.read(func(c *engine.Conn) error {
			return c.Query(`SELECT `+columns.EventColumns+`, e.id, s.id FROM events e JOIN sessions s ON s.n = e.session
				WHERE e.id > ? ORDER BY e.id LIMIT 256`, []any{after}, func(row []driver.Value) error {
				e, _, err := columns.ScanEvent(ex.s.pack, row[:columns.EventWidth])
				after, _ = row[columns.EventWidth].(int64)
				id, _ := row[columns.EventWidth+1].(string)
				rows++
				ex.Event(area, skein.SessionID(id), e, err)
				return nil
			})
		})
		if n += rows; err != nil || rows == 0 {
			return n, err
		}
	}
}

// records reads all source records.
func (ex *exam) records(area string) error {
	var views []skein.Store
	err := ex.read(func(c *engine.Conn) error {
		return c.Query(`SELECT DISTINCT user_id FROM files`, nil, func(row []driver.Value) error {
			var u string
			err := engine.Scan(row, []any{&u})
			views = append(views, ex.s.As(skein.User(u)))
			return err
		})
	})
	if err != nil {
		return err
	}
	n, err := ex.Records(area, views)
	ex.Fine(area, "%s, all intact and in order", inspect.Count(n, "source record"))
	return err
}

const sums = `sum(input), sum(output), sum(reasoning), sum(cache_read), sum(cache_write), sum(cache_hour), sum(requests), sum(reported)`

const sumsOfAll = `SELECT s.user_id, c.slot, c.provider, c.model, c.tier, c.recorded, s.project, s.repository, s.agent, sum(c.input), sum(c.output), sum(c.reasoning),
	sum(c.cache_read), sum(c.cache_write), sum(c.cache_hour), sum(c.requests), sum(c.reported) FROM charges c JOIN sessions s ON s.n = c.session GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`

// usage compares the sums with the values that they sum up.
func (ex *exam) usage(area string) error {
	var wrong int64
	err := ex.read(func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*) FROM (
			SELECT session, slot, provider, model, tier, recorded, `+sums+` FROM charges GROUP BY 1, 2, 3, 4, 5, 6
			EXCEPT SELECT session, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported FROM usage)`, nil, &wrong)
		if err != nil || wrong > 0 {
			return err
		}
		_, err = c.One(`SELECT count(*) FROM (`+sumsOfAll+` EXCEPT SELECT user_id, slot, provider, model, tier, recorded, project, repository, agent,
			input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported FROM usage_all)`, nil, &wrong)
		return err
	})
	if err != nil {
		return err
	}
	if wrong > 0 {
		return ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Text: fmt.Sprintf("%d usage sums differ from their requests", wrong)}, func() error {
			return ex.s.change(ex.ctx, func(t *txn.Tx) error {
				for _, q := range []string{
					`DELETE FROM usage`,
					`INSERT INTO usage (session, slot, provider, model, tier, recorded, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported)
						SELECT session, slot, provider, model, tier, recorded, ` + sums + ` FROM charges GROUP BY 1, 2, 3, 4, 5, 6`,
					`DELETE FROM usage_all`,
					`INSERT INTO usage_all (user_id, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported) ` + sumsOfAll,
				} {
					if _, _, err := t.Exec(q); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	ex.Fine(area, "every usage sum agrees with its requests")
	return nil
}

// index has FTS5 compare the index with the texts, and rebuilds it if they differ.
func (ex *exam) index(area string) error {
	lag, err := ex.s.Lag(ex.ctx)
	if err != nil {
		return err
	}
	waiting := inspect.Waits(lag, ex.s.clock())
	if ex.s.unwritable(ex.ctx) != nil {
		ex.Fine(area, "%s; it cannot be checked: the store is read-only", waiting)
		return nil //nolint:nilerr // there was none
	}
	err = ex.s.change(ex.ctx, func(t *txn.Tx) error {
		_, _, err := t.Exec(`INSERT INTO words (words, rank) VALUES ('integrity-check', 1)`)
		return err
	})
	if engine.Code(err)&0xff == engine.CodeCorrupt {
		return ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Text: "the search index disagrees with the texts; it can be rebuilt from them"}, ex.s.rebuildIndex)
	}
	if err != nil {
		return err
	}
	if err := ex.edits(area); err != nil {
		return err
	}
	if err := ex.purgeQueue(area); err != nil {
		return err
	}
	ex.Fine(area, "the search index agrees with the texts; %s", waiting)
	return nil
}

const (
	editsPage   = 5000 // events that are read in one go to compare their edits with the index
	editsAtOnce = 100  // those that one transaction compares again, or puts in again
)

// edits compares the index of edits with the calls of the events that were put in. What
// others change meanwhile may look wrong at first.
func (ex *exam) edits(area string) error {
	var suspects []int64
	for after := int64(0); ; {
		var last int64
		err := ex.read(func(c *engine.Conn) (err error) {
			last, err = textindex.WrongEdits(c, ex.s.pack, after, editsPage, func(event int64) error {
				suspects = append(suspects, event)
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
		if last == after {
			break
		}
		after = last
	}
	var wrong []int64
	for some := range slices.Chunk(suspects, editsAtOnce) {
		err := ex.s.change(ex.ctx, func(t *txn.Tx) error {
			for _, event := range some {
				_, err := textindex.WrongEdits(t.Conn, ex.s.pack, event-1, 1, func(event int64) error {
					wrong = append(wrong, event)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Text: fmt.Sprintf("the index of edits disagrees with %s; it can be made again from them", inspect.Count(len(wrong), "event"))}, func() error {
		for some := range slices.Chunk(wrong, editsAtOnce) {
			err := ex.s.change(context.Background(), func(t *txn.Tx) error {
				for _, event := range some {
					if err := textindex.MendEdits(t, ex.s.pack, event); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// rebuildIndex rebuilds the index, step by step; meanwhile searches scan.
func (c *core) rebuildIndex() error {
	for _, forget := range []func(*txn.Tx) error{textindex.ForgetIndex, textindex.ForgetEdits} {
		if err := c.change(context.Background(), forget); err != nil {
			return err
		}
	}
	return errors.Join(c.indexAll(context.Background()), c.readers.Renew())
}

// blobs reads every blob, and looks for blobs that nothing refers to.
func (ex *exam) blobs(area string) error {
	n := 0
	for after := int64(0); ; n++ {
		found := false
		err := ex.read(func(c *engine.Conn) (err error) {
			var hash, data []byte
			var form int64
			found, err = c.One(`SELECT rowid, hash, form, data FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 1`, []any{after}, &after, &hash, &form, &data)
			if err != nil || !found {
				return err
			}
			h := skein.Hash(hex.EncodeToString(hash))
			_, err = ex.s.pack.UnpackBlob(h, int(form), data)
			ex.Blob(area, h, err)
			return nil
		})
		if err != nil {
			return err
		}
		if !found {
			break
		}
	}
	if err := ex.refs(area); err != nil {
		return err
	}
	ex.Fine(area, "%s, all intact", inspect.Count(n, "blob"))
	return nil
}

func (ex *exam) refs(area string) error {
	var orphans, missing int64
	err := ex.read(func(c *engine.Conn) error {
		if _, err := c.One(`SELECT count(*) FROM blobs WHERE hash NOT IN (SELECT hash FROM blob_refs)`, nil, &orphans); err != nil {
			return err
		}
		_, err := c.One(`SELECT count(*) FROM blob_refs WHERE hash NOT IN (SELECT hash FROM blobs)`, nil, &missing)
		return err
	})
	if err != nil {
		return err
	}
	return ex.Refs(area, missing, orphans, ex.dropOrphans)
}

// dropOrphans removes the blobs that nothing refers to. A reference may only have been
// lost: those that the events name are restored first.
func (ex *exam) dropOrphans() error {
	for after, more := int64(0), true; more; {
		err := ex.s.change(ex.ctx, func(t *txn.Tx) (err error) {
			var page []eventFacts
			if page, after, more, err = factsAfter(t.Conn, ex.s.pack, after); err != nil {
				return err
			}
			for _, f := range page {
				if err := putRefs(t, f.id, f.Blobs); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ex.s.change(ex.ctx, func(t *txn.Tx) error {
		_, _, err := t.Exec(`DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM blob_refs)`)
		return err
	})
}
