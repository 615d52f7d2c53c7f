package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/listing"
)

// FilesNamed implements [skein.Sources].
func (s *sources) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		few, many, err := s.filesNamed(ctx, part)
		if err != nil {
			skein.Wrapf(&err, "sqlite: files named %q", part)
			yield(skein.SourceFile{}, err)
			return
		}
		for _, f := range few {
			if !yield(f, nil) {
				return
			}
		}
		if !many {
			return
		}
		for f, err := range s.Files(ctx, "") {
			if (f.IsNamed(part) || err != nil) && !yield(f, err) {
				return
			}
		}
	}
}

// filesNamed returns the files that FilesNamed yields, unless there are many.
func (s *sources) filesNamed(ctx context.Context, part string) (few []skein.SourceFile, many bool, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		ns := []int64{}
		err := c.Query(`SELECT n FROM files WHERE id <> session AND (substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1)
			AND format <> '' AND (?2 = '' OR user_id = ?2) LIMIT ?3`, []any{part, string(s.user), listing.Many}, func(row []driver.Value) error {
			ns = append(ns, row[0].(int64))
			return nil
		})
		if many = len(ns) == listing.Many; err != nil || many {
			return err
		}
		list, err := json.Marshal(ns)
		if err != nil {
			return err
		}
		return c.Query(selectFile+`WHERE f.n IN (SELECT value FROM json_each(?)) ORDER BY f.path, f.format, f.user_id`, []any{string(list)}, func(row []driver.Value) error {
			f, _, err := scanFile(row)
			few = append(few, f)
			return err
		})
	})
	return few, many, err
}
