package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/upload"
)

// imported is the result of an import.
type imported struct {
	Files     int               `json:"files" doc:"number of files that a format recognizes"`
	Unchanged int               `json:"unchanged"`
	Unmatched int               `json:"unmatched" doc:"number of files that no format recognizes"`
	Forced    []takenAs         `json:"forced,omitempty" doc:"files that were read as the requested format, although they look like another program's"`
	Sessions  int               `json:"sessions" doc:"number of new sessions"`
	Grown     int               `json:"grown" doc:"number of existing sessions with new events"`
	Messages  int               `json:"messages"`
	Events    int               `json:"events"`
	Amended   int               `json:"amended"`
	Copies    int               `json:"copied_records"`
	Damaged   int               `json:"damaged_records"`
	Damage    []damaged         `json:"damage,omitempty"`
	Skips     []skipped         `json:"skips,omitempty"`
	Failed    int               `json:"failed" doc:"number of these that an error kept from being imported; send the same file again to try again"`
	Removed   int               `json:"deleted_here" doc:"left out, because the session was destroyed here"`
	Waiting   int               `json:"locked" doc:"left out, because the session is locked; import again later"`
	Changed   []skein.SessionID `json:"changed,omitempty" doc:"sessions that are new or have new events"`
}

type damaged struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	What string `json:"what"`
}

type takenAs struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Looks  string `json:"looks" doc:"the format, or the program, whose file it looks like"`
	Why    string `json:"why"`
}

type skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// imports registers the route that imports other programs' files.
func (a eventOps) imports(t *openapi.Table) {
	type in struct {
		openapi.Request
		Name   string `query:"name" required:"true" maxLength:"1000" doc:"name of the file, as its program calls it, with its folders if they matter: projects/-home-ada/4f1d.jsonl. Send several files as a .zip, .tar, .tar.gz or .tgz"`
		Format string `query:"format" doc:"read the files only as this format"`
		Again  bool   `query:"again" doc:"import sessions again that were destroyed here"`
	}
	type out struct{ Body imported }
	openapi.Register(t, openapi.Operation{
		ID: "import", Method: http.MethodPost, Path: "/import", Tag: "sessions", Scope: door.Write, Body: door.MaxBatches, Types: []string{"application/octet-stream"},
		Summary: "Import sessions from a file of another program, or from skein's own export",
		Doc:     "What is already imported is not imported again; new messages are added. Damaged records are kept, counted and named. Files that cannot be imported are counted and named; if no file can be imported, the request fails.",
		Takes:   []openapi.Media{{Type: "application/octet-stream"}},
	}, func(ctx context.Context, i *in) (_ *out, err error) {
		formats, err := a.formatsNamed(i.Format)
		if err != nil {
			return nil, err
		}
		dir, err := os.MkdirTemp("", "skein-import-*") // only the owner may read it
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		sum := sha256.New()
		if err := upload.Unpack(dir, i.Name, io.TeeReader(upload.Passing(ctx, i.Call().BodyReader()), sum)); err != nil {
			return nil, err
		}
		rep, err := importer.Import(room.With(ctx, nil), upload.Store(door.From(ctx).Store, dir, upload.Name(sum.Sum(nil))), formats, []string{dir}, interop.Options{Again: i.Again, Named: i.Format != "", All: a.Formats})
		if err == nil && rep.Failed > 0 && rep.Events == 0 {
			err = rep.Err
		}
		return &out{reportOf(rep, dir)}, err
	})
}

func (a eventOps) formatsNamed(name string) ([]interop.Format, error) {
	if name == "" {
		return a.Formats, nil
	}
	i := slices.IndexFunc(a.Formats, func(f interop.Format) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w format %q", skein.ErrInvalid, name)
	}
	return a.Formats[i : i+1], nil
}

func reportOf(r interop.Report, dir string) imported {
	out := imported{
		Files: r.Files, Unchanged: r.Unchanged, Unmatched: r.Unmatched, Sessions: r.Sessions, Grown: r.Grown, Messages: r.Messages, Events: r.Events,
		Amended: r.Amended, Copies: r.Copies, Damaged: r.Damaged, Removed: r.Removed, Waiting: r.Waiting, Failed: r.Failed, Changed: r.Changed,
	}
	within := func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(path)
	}
	for _, d := range r.Damage {
		out.Damage = append(out.Damage, damaged{within(d.Path), d.Line, d.What})
	}
	for _, o := range r.Others {
		out.Skips = append(out.Skips, skipped{within(o.Path), o.String()})
	}
	for _, f := range r.Forced {
		out.Forced = append(out.Forced, takenAs{within(f.Path), f.Format, f.Looks, f.Why})
	}
	for _, s := range r.Skips {
		out.Skips = append(out.Skips, skipped{within(s.Path), s.Why})
	}
	return out
}
