package skillet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// put puts rows into the database at path and lines into the logs beside it. An
// existing log is appended to, as Skillet does.
//
// The error wraps [interop.ErrChanged] if the database or a log has changed; then
// nothing has been written.
func put(ctx context.Context, path string, parts []interop.Part) (err error) {
	defer skein.Wrapf(&err, "state %s", filepath.Dir(path))
	var rows []interop.Part
	var logs, was []lines.Rope
	for _, p := range parts {
		r, l, err := split(p.Lines)
		if err != nil {
			return err
		}
		row := interop.Part{Name: p.Name, Lines: lines.OfRopes(r...)}
		if p.Was != nil {
			wasRows, wasLogs, err := split(p.Was)
			if err != nil {
				return err
			}
			row.Was, was = lines.OfRopes(wasRows...), append(was, wasLogs...)
		}
		if p.Gone != nil {
			gone, _, err := split(p.Gone) // a log has lines of other sessions too
			if err != nil {
				return err
			}
			row.Gone = lines.OfRopes(gone...)
		}
		if len(r) > 0 || p.Gone != nil {
			rows = append(rows, row)
		}
		logs = append(logs, l...)
	}
	dir := filepath.Dir(path)
	logs = withoutFolders(logs)
	if name, err := folder.Differ(dir, lines.OfRopes(was...), lines.OfRopes(logs...)); err != nil {
		return err
	} else if name != "" {
		return fmt.Errorf("%s: %w", name, interop.ErrChanged)
	}
	if len(rows) > 0 {
		if err := interop.PutDatabase(ctx, path, rows); err != nil {
			return err
		}
	}
	if len(logs) == 0 {
		return nil
	}
	return interop.PutLogs(func(string) bool { return true })(ctx, dir, []interop.Part{{Lines: lines.OfRopes(logs...), Was: lines.OfRopes(was...)}})
}

// split separates the lines of a database from those of a folder.
func split(r io.Reader) (rows, files []lines.Rope, err error) {
	all, err := lines.Of(r)
	if err != nil {
		return nil, nil, err
	}
	for line, ok := all.NextRope(); ok; line, ok = all.NextRope() {
		switch begin := line.Gist(); {
		case bytes.HasPrefix(begin, []byte(sharedSign)):
		case bytes.HasPrefix(begin, []byte(`{"file":`)), bytes.HasPrefix(begin, []byte(`{"folder":`)):
			files = append(files, line)
		default:
			rows = append(rows, line)
		}
	}
	return rows, files, nil
}

// withoutFolders leaves out the folders without files: those of other users.
func withoutFolders(all []lines.Rope) (out []lines.Rope) {
	var dirs []string
	for _, line := range all {
		if l, err := folder.PeekRope(line); err == nil && l.File != "" {
			dirs = append(dirs, l.File)
		}
	}
	for _, line := range all {
		if bytes.HasPrefix(line.Gist(), []byte(`{"folder":`)) {
			l, err := folder.PeekRope(line)
			if err == nil && !slices.ContainsFunc(dirs, func(f string) bool { return strings.HasPrefix(f, l.Folder+"/") }) {
				continue
			}
		}
		out = append(out, line)
	}
	return out
}
