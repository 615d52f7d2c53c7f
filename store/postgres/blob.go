package postgres

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
)

// Blob implements [skein.Store].
func (s reads) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (data []byte, err error) {
	defer skein.Wrapf(&err, "postgres: blob %s of %s", h, id)
	var form, size int
	err = s.read(ctx, func(q *conn) error {
		form, size, data, err = q.blob(id, h)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.pack.unpackBlob(h, form, size, data)
}

// blob returns the row of a blob that session id refers to.
func (q *conn) blob(id skein.SessionID, h skein.Hash) (form, size int, data []byte, err error) {
	x, err := q.head(id)
	if err != nil {
		return 0, 0, nil, err
	}
	none := fmt.Errorf("blob %s %w", h, skein.ErrNotFound)
	hash, err := hashBytes(h)
	if err != nil {
		return 0, 0, nil, none // no event refers to it
	}
	if err := q.large(&x); err != nil {
		return 0, 0, nil, err
	}
	segs, err := q.segments(&x, x.Last)
	if err != nil {
		return 0, 0, nil, err
	}
	found := false
	p := q.pipe()
	for _, seg := range segs {
		p.query(`SELECT b.form, b.size, b.data FROM blobs b WHERE b.user_id = $1 AND b.hash = $2 AND EXISTS (
			SELECT 1 FROM blob_refs r WHERE r.user_id = $1 AND r.hash = $2 AND r.n = $3 AND r.seq <= $4)`,
			[]any{string(x.User), hash, seg.Session, int64(seg.To)}, func(r row) error {
				if found {
					return nil // it has the same bytes
				}
				if err := q.hold(r); err != nil {
					return err
				}
				found = true
				if err := r.Scan(&form, &size, &data); err != nil {
					return err
				}
				return q.share.Try(int64(size)) // its size when unpacked
			})
	}
	if err = p.run(); err == nil && !found {
		err = none
	}
	return form, size, data, err
}
