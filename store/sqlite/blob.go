package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// putBlob stores a blob. If another row is stored for it, that one is damaged or packed in
// another way: the new one takes its place.
func putBlob(t *txn.Tx, b pack.Blob) error {
	_, _, err := t.Exec(`INSERT INTO blobs (hash, size, form, data) VALUES (?, ?, ?, ?)
		ON CONFLICT (hash) DO UPDATE SET size = excluded.size, form = excluded.form, data = excluded.data
		WHERE (size, form, data) IS NOT (excluded.size, excluded.form, excluded.data)`, b.Hash, b.Size, b.Form, b.Data)
	return err
}

// putRefs records that an event refers to blobs.
func putRefs(t *txn.Tx, event int64, hashes []skein.Hash) error {
	for _, h := range hashes {
		hash, err := hex.DecodeString(string(h))
		if err != nil {
			return err
		}
		if _, _, err := t.Exec(`INSERT INTO blob_refs (event, hash) VALUES (?, ?) ON CONFLICT DO NOTHING`, event, hash); err != nil {
			return err
		}
	}
	return nil
}

// Blob implements [skein.Store].
func (s *reads) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) (data []byte, err error) {
	defer skein.Wrapf(&err, "sqlite: blob %s of %s", h, id)
	hash, herr := hex.DecodeString(string(h))
	if herr != nil {
		hash = nil // no event refers to it
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		data, err = s.blob(c, id, h, hash)
		return err
	})
	return data, err
}

func (s *reads) blob(c *engine.Conn, id skein.SessionID, h skein.Hash, hash []byte) (data []byte, err error) {
	x, err := s.head(c, id)
	if err != nil {
		return nil, err
	}
	if err := columns.WaitIfLarge(c, &x); err != nil {
		return nil, err
	}
	segs, err := eventlog.Segments(c, x.N, x.Last)
	if err != nil {
		return nil, err
	}
	for _, seg := range segs {
		var form int64
		found, err := c.One(`SELECT b.form, b.data FROM blobs b WHERE b.hash = ?1 AND EXISTS (
			SELECT 1 FROM blob_refs r JOIN events e ON e.id = r.event
			WHERE r.hash = ?1 AND e.session = ?2 AND e.seq <= ?3)`, []any{hash, seg.Session, int64(seg.To)}, &form, &data)
		if err != nil {
			return nil, err
		}
		if found {
			if err := room.Of(c.Context()).Try(int64(len(data)) + pack.UnpackedSize(int(form), data)); err != nil {
				return nil, err
			}
			return s.pack.UnpackBlob(h, int(form), data)
		}
	}
	return nil, fmt.Errorf("blob %s %w", h, skein.ErrNotFound)
}
