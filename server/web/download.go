package web

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
)

// downloader answers with files: blobs and sessions.
type downloader struct{ *site }

func (s downloader) routes() []door.Route {
	return []door.Route{
		read("/sessions/{id}/blobs/{hash}", s.blob),
		read("/sessions/{id}/download", s.download),
	}
}

// blob answers with a blob of a session: a picture as itself, anything else as
// a file to save.
func (s downloader) blob(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	data, err := door.From(r.Context()).Store.Blob(r.Context(), one.ID, skein.Hash(r.PathValue("hash")))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	kind := render.PictureKind(data)
	if !mayRead(w, r, kind == "") {
		return
	}
	h := w.Header()
	if h.Set("Content-Type", kind); kind == "" {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Cache-Control", "private, max-age=86400, immutable") // its name is its hash
	w.Write(data)                                               //nolint:errcheck // the client has gone
}

// mayRead reports whether the visitor may read what was asked for, raw or not,
// and refuses the request otherwise.
func mayRead(w http.ResponseWriter, r *http.Request, raw bool) bool {
	v := door.From(r.Context())
	if raw && !v.Raw {
		door.Refuse(w, r, http.StatusForbidden, "scope", "%s", v.NoRaw())
		return false
	}
	return true
}

// downloads returns the formats for downloads, by name.
func downloads() []download {
	return []download{
		{"md", "Markdown", ".md", "text/markdown; charset=utf-8"},
		{"html", "Web page", ".html", "text/html; charset=utf-8"},
		{"json", "JSON", ".json", "application/json"},
		{"skein", "skein's own format, complete, for another machine", ".jsonl", "application/jsonl"},
	}
}

type download struct{ Name, Title, Ext, Media string }

// download answers with a session as a file.
func (s downloader) download(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	for _, d := range downloads() {
		if d.Name != r.URL.Query().Get("as") {
			continue
		}
		if !mayRead(w, r, d.Name == "skein") {
			return
		}
		h := w.Header()
		h.Set("Content-Type", d.Media)
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": fileName(&one) + d.Ext}))
		if err := s.export(r.Context(), w, one, d.Name, r.URL.Query().Has("rewound")); err != nil {
			s.Log.Error("a download broke off", "session", one.ID, "err", err)
			panic(http.ErrAbortHandler) // so that nobody takes half a file for the whole
		}
		return
	}
	door.Refuse(w, r, http.StatusBadRequest, "invalid", "as=%s: want md, html, json or skein", r.URL.Query().Get("as"))
}

// export writes a session in a format: what is live of it or, if rewound, all.
// Formats for people contain no secrets.
func (s downloader) export(ctx context.Context, w io.Writer, one skein.Session, as string, rewound bool) error {
	store := transcript.Legible(door.From(ctx).Store)
	if as == "skein" {
		_, err := replay.Write(ctx, w, store, one.ID)
		return err
	}
	b := bufio.NewWriter(w)
	entries := s.entries(ctx, store, one)
	if !rewound {
		entries = render.Live(entries)
	}
	one = s.veiled(one)
	if as == "json" {
		told, err := render.ProgressOfCalls(&one, store.Events(ctx, one.ID, 0), one.Last)
		if err != nil {
			return err
		}
		return errors.Join(render.JSON(b, &one, entries, told), b.Flush())
	}
	told, err := render.ProgressOf(&one, store.Events(ctx, one.ID, 0), one.Last, s.Redact)
	if err != nil {
		return err
	}
	if !rewound {
		told = told.Live()
	}
	o := render.Options{Told: told}
	if as == "html" {
		o.Image = func(h skein.Hash) ([]byte, error) { return store.Blob(ctx, one.ID, h) }
		err = render.HTML(b, &one, entries, o)
	} else {
		err = render.Markdown(b, &one, entries, o)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// entries yields the messages of a session with their secrets masked.
func (s downloader) entries(ctx context.Context, store skein.Store, one skein.Session) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		share := room.Of(ctx)
		was := share.Used()
		for after := skein.Seq(0); after < one.Last; after += transcript.MaxWindow {
			share.Give(share.Used() - was)
			found, err := store.Newest(ctx, one.ID, transcript.MaxWindow, after+transcript.MaxWindow+1)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found {
				if e.Seq <= after {
					continue
				}
				if s.Secrets != nil {
					e = s.Secrets.Entry(e)
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// fileName returns the name of a session's file.
func fileName(one *skein.Session) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '-'
	}, render.Clip(one.Name(), 60))
	name = strings.Trim(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' }), "-"), "-")
	short := lookup.ShortIDs([]skein.SessionID{one.ID})[0]
	return strings.Trim(name+"-"+fileSafe(short), "-")
}

func fileSafe(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, s)
}
