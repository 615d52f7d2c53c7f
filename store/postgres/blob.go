package postgres

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// Blob implements [skein.Store].
func (s reads) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (data []byte, err error) {
	defer skein.Wrapf(&err, "postgres: blob %s of %s", h, id)
	var form int
	err = s.read(ctx, func(q *conn) error {
		form, data, err = q.blob(id, h)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.pack.UnpackBlob(h, form, data)
}

// blob returns the row of a blob that session id refers to.
func (q *conn) blob(id skein.SessionID, h skein.Hash) (form int, data []byte, err error) {
	x, err := q.head(id)
	if err != nil {
		return 0, nil, err
	}
	none := fmt.Errorf("blob %s %w", h, skein.ErrNotFound)
	hash, err := columns.Hash(h)
	if err != nil {
		return 0, nil, none // no event refers to it
	}
	if err := q.large(&x); err != nil {
		return 0, nil, err
	}
	segs, err := q.segments(&x, x.Last)
	if err != nil {
		return 0, nil, err
	}
	found := false
	p := q.pipe()
	for _, seg := range segs {
		p.Query(`SELECT b.form, b.data FROM blobs b WHERE b.user_id = $1 AND b.hash = $2 AND EXISTS (
			SELECT 1 FROM blob_refs r WHERE r.user_id = $1 AND r.hash = $2 AND r.n = $3 AND r.seq <= $4)`,
			[]any{string(x.User), hash, seg.Session, int64(seg.To)}, func(r wire.Row) error {
				if found {
					return nil // it has the same bytes
				}
				if err := q.Hold(r); err != nil {
					return err
				}
				found = true
				if err := r.Scan(&form, &data); err != nil {
					return err
				}
				return q.Share.Try(pack.UnpackedSize(form, data))
			})
	}
	if err = p.Run(); err == nil && !found {
		err = none
	}
	return form, data, err
}

// blobDrafts are the blobs of a group.
type blobDrafts struct {
	brought map[userBlob]pack.Blob // with its batches
	stored  map[userBlob]bool      // that must exist: from the group, or stored before
	healed  map[blobRef]bool       // references of stored events that were brought again
}

// A blobRef is a stored event's reference to a blob of its user.
type blobRef struct {
	userBlob
	n   int64
	seq skein.Seq
}

// has reports whether a user has a blob: from the group, or stored before.
func (x *blobDrafts) has(t *tx, k userBlob) (bool, error) {
	hash, err := columns.Hash(k.hash)
	if err != nil {
		return false, nil //nolint:nilerr // there is no blob with such a hash
	}
	if x.stored[k] {
		return true, nil
	}
	var one int
	return t.One(`SELECT 1 FROM blob_refs r WHERE r.user_id = $1 AND r.hash = $2
		AND NOT EXISTS (SELECT FROM purge_queue d WHERE d.user_id = r.user_id AND d.n = r.n AND r.seq > d.above) LIMIT 1`, []any{string(k.user), hash}, &one)
}

// write adds the blobs that the group's events refer to to the pipe: those
// that came with the batches are inserted, or take the place of a damaged row, and
// all are locked against removal until the commit.
func (x *blobDrafts) write(p *pipe) error {
	users := map[skein.User][][]byte{}
	for k := range x.stored {
		hash, err := columns.Hash(k.hash)
		if err != nil {
			return err
		}
		users[k.user] = append(users[k.user], hash)
		if b, ok := x.brought[k]; ok {
			p.Exec(`WITH healed AS (UPDATE blobs SET size = $3, form = $4, data = $5 WHERE user_id = $1 AND hash = $2 AND (size, form, data) IS DISTINCT FROM ($3, $4, $5))
				INSERT INTO blobs (user_id, hash, size, form, data) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, hash) DO NOTHING`,
				string(k.user), b.Hash, b.Size, b.Form, b.Data)
		}
	}
	for user, hashes := range users {
		p.Exec(`SELECT must_be(count(*) = $3) FROM (SELECT 1 FROM blobs WHERE user_id = $1 AND hash = ANY($2::bytea[]) ORDER BY hash FOR KEY SHARE) b`,
			string(user), hashes, len(hashes))
	}
	for r := range x.healed {
		p.Exec(`INSERT INTO blob_refs (user_id, hash, n, seq) VALUES ($1, decode($2, 'hex'), $3, $4) ON CONFLICT DO NOTHING`, string(r.user), string(r.hash), r.n, int64(r.seq))
	}
	clear(x.stored)
	clear(x.healed)
	return nil
}
