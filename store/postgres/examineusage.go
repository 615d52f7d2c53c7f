package postgres

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// sumsOf returns a query for the sums of the charges u for which a condition holds,
// with the columns of usage.
func sumsOf(cond string) string {
	return `SELECT u.user_id, u.n, u.slot, u.provider, u.model, u.tier, u.recorded, s.project, s.repository, s.agent, ` + usageSums + ` FROM charges u` + sessionOf("u") +
		` WHERE ` + cond + alive("u") + ` GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`
}

// usage compares the sums with the charges.
func (ex *exam) usage(area string) error {
	wrong := map[resumePoint]bool{}
	const have = `SELECT user_id, n, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported FROM usage
		WHERE (input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported) <> (0, 0, 0, 0, 0, 0, 0, 0)`
	want := sumsOf("") + ` HAVING (sum(u.input), sum(u.output), sum(u.reasoning), sum(u.cache_read), sum(u.cache_write), sum(u.cache_hour), sum(u.requests), sum(u.reported)) <> (0, 0, 0, 0, 0, 0, 0, 0)`
	err := ex.rows(`SELECT user_id, n FROM ((`+want+` EXCEPT `+have+`) UNION (`+have+` EXCEPT `+want+`)) w`, nil, func(r wire.Row) error {
		var m resumePoint
		err := r.Scan(&m.user, &m.n)
		wrong[m] = true
		return err
	})
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Text: fmt.Sprintf("the usage sums of %d sessions differ from their requests", len(wrong))}, func() error {
			for m := range wrong {
				if err := ex.resum(m); err != nil {
					return err
				}
			}
			return nil
		})
	}
	ex.Fine(area, "every usage sum agrees with its requests")
	return nil
}

// resum recomputes the usage of a session; nobody can append to it meanwhile.
func (ex *exam) resum(m resumePoint) error {
	return ex.s.write(ex.ctx, func(t *tx) error {
		p := t.pipe()
		p.Exec(`UPDATE heads SET revision = revision + 1 WHERE user_id = $1 AND n = $2`, m.user, m.n)
		p.Exec(`DELETE FROM usage WHERE user_id = $1 AND n = $2`, m.user, m.n)
		p.Exec(`INSERT INTO usage (user_id, n, slot, provider, model, tier, recorded, project, repository, agent, input, output, reasoning, cache_read, cache_write, cache_hour, requests, reported) `+
			sumsOf("u.user_id = $1 AND u.n = $2 AND "), m.user, m.n)
		return p.Run()
	})
}

// blobs reads every blob, and looks for those that nothing refers to.
func (ex *exam) blobs(area string) error {
	n := 0
	hash := []byte{}
	for user := ""; ; n++ {
		found := false
		var stored []byte
		var form int
		err := ex.rows(`SELECT b.user_id, b.hash, b.form, b.data FROM blobs b WHERE (b.user_id, b.hash) > ($1, $2) ORDER BY b.user_id, b.hash LIMIT 1`, []any{user, hash}, func(r wire.Row) error {
			found = true
			return r.Scan(&user, &hash, &form, &stored)
		})
		if err != nil {
			return err
		}
		if !found || ex.Over() {
			break
		}
		h := skein.Hash(hex.EncodeToString(hash))
		_, err = ex.s.pack.UnpackBlob(h, form, stored)
		ex.Blob(area, h, err)
	}
	if err := ex.refs(area); err != nil {
		return err
	}
	ex.Fine(area, "%s, all intact", inspect.Count(n, "blob"))
	return nil
}

// refs looks for blobs that nothing refers to, and for references to missing blobs.
func (ex *exam) refs(area string) error {
	orphans, missing, n := map[string][][]byte{}, int64(0), int64(0)
	err := ex.rows(`SELECT b.user_id, b.hash FROM blobs b WHERE NOT EXISTS (SELECT FROM blob_refs r WHERE r.user_id = b.user_id AND r.hash = b.hash)`, nil, func(r wire.Row) error {
		var user string
		var hash []byte
		err := r.Scan(&user, &hash)
		orphans[user] = append(orphans[user], hash)
		n++
		return err
	})
	if err == nil {
		err = ex.rows(`SELECT count(*) FROM blob_refs r WHERE NOT EXISTS (SELECT FROM blobs b WHERE b.user_id = r.user_id AND b.hash = r.hash)`, nil, func(r wire.Row) error { return r.Scan(&missing) })
	}
	if err != nil {
		return err
	}
	return ex.Refs(area, missing, n, func() error {
		if err := ex.restoreRefs(orphans); err != nil || ex.Over() { // not all events were looked at
			return err
		}
		for user, hashes := range orphans {
			if err := ex.s.write(ex.ctx, func(t *tx) error { return t.dropBlobs(user, hashes) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// restoreRefs restores the references to orphans, the blobs of each user that nothing
// refers to, that events name: these were lost, and their blobs must not be dropped.
func (ex *exam) restoreRefs(orphans map[string][][]byte) error {
	type owned struct{ user, hash string }
	lone := map[owned]bool{}
	for user, hashes := range orphans {
		for _, h := range hashes {
			lone[owned{user, hex.EncodeToString(h)}] = true
		}
	}
	type ref struct {
		resumePoint
		hash string
	}
	var lost []ref
	_, err := ex.each(func(at resumePoint, _ skein.SessionID, e skein.Event, err error) {
		if err != nil {
			return // it is damaged, and said to be elsewhere
		}
		f, err := skein.FactsOf(e)
		if err != nil {
			return
		}
		for _, h := range f.Blobs {
			if lone[owned{at.user, string(h)}] {
				lost = append(lost, ref{at, string(h)})
			}
		}
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(lost, 1000) {
		err := ex.s.write(ex.ctx, func(t *tx) error {
			p := t.pipe()
			for _, r := range some {
				p.Exec(`INSERT INTO blob_refs (user_id, hash, n, seq) SELECT e.user_id, b.hash, e.n, e.seq FROM events e JOIN blobs b ON b.user_id = e.user_id AND b.hash = decode($4, 'hex')
					WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3 ON CONFLICT DO NOTHING`, r.user, r.n, int64(r.seq), r.hash)
			}
			return p.Run()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
