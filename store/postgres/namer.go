package postgres

import (
	"context"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// FilesNamed implements [skein.Sources].
func (s sources) FilesNamed(ctx context.Context, part string) iter.Seq2[skein.SourceFile, error] {
	return func(yield func(skein.SourceFile, error) bool) {
		if plain(part) != part {
			return // no ID has it
		}
		for last := (sourceFile{}); ; {
			page, err := s.namedPage(ctx, part, last)
			if err != nil {
				skein.Wrapf(&err, "postgres: files named %q", part)
				yield(skein.SourceFile{}, err)
				return
			}
			for _, f := range page {
				if !yield(f.SourceFile, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
			last = page[len(page)-1]
		}
	}
}

// namedPage returns the next files of FilesNamed after last.
func (s sources) namedPage(ctx context.Context, part string, last sourceFile) (page []sourceFile, err error) {
	w := &where{}
	if s.user != "" {
		w.add("f.user_id = ?", string(s.user))
	}
	n := utf8.RuneCountInString(part)
	w.add("f.id <> f.session AND f.format <> '' AND (left(f.id, ?) = ? OR right(f.id, ?) = ?)", n, part, n, part)
	w.add("(f.path, f.format, f.user_id) > (?::bytea, ?::text, ?::text)", []byte(last.Path), last.Format, string(last.user))
	order, _ := s.filesOrder()
	w.args = append(w.args, pageRows)
	err = s.ask(ctx, `SELECT `+fileColumns+` FROM files f`+w.sql()+order+fmt.Sprintf(` LIMIT $%d`, len(w.args)), w.args, func(r row) error {
		f, err := scanFile(r)
		page = append(page, f)
		return err
	})
	return page, err
}
