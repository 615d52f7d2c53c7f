package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lenient"
)

// exports registers the route that returns a session as a file.
func (a eventOps) exports(t *openapi.Table) {
	type query struct {
		ID       skein.SessionID `path:"id"`
		To       string          `query:"to" enum:"skein,md,html,json,source" default:"skein" doc:"skein: every event and blob, for an import; md, html: for people; json: the session and its messages; source: the file that it was imported from, byte for byte"`
		Thinking bool            `query:"thinking" doc:"md, html: include the models' reasoning"`
		NoTools  bool            `query:"no_tools" doc:"md, html: leave out tool calls and results"`
		Rewound  bool            `query:"rewound" doc:"md, html, json: include messages that were taken back, marked"`
		Raw      bool            `query:"raw" doc:"md, html, json: include secrets; skein and source always do. All of these need the scope read:raw"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "export-session", Method: http.MethodGet, Path: "/sessions/{id}/export", Tag: "sessions", Scope: door.Read, Summary: "A session as a file", Errors: []int{http.StatusNotFound},
		Doc:   "Sent as an attachment. If the export fails, the connection is closed early. A damaged event is replaced by a message that says so, and the trailer " + damagedTrailer + " lists the seqs of such events. From a source, damaged records are left out, and the trailer lists them.",
		Gives: []openapi.Media{{Type: linesType}, {Type: jsonType}, {Type: "text/markdown"}, {Type: "text/html"}, {Type: "application/octet-stream"}},
	}, func(ctx context.Context, q *query) (*rawAnswer, error) {
		if err := rawly(ctx, q.Raw || q.To == "skein" || q.To == "source"); err != nil {
			return nil, err
		}
		var damaged []string
		store := lenient.Store(door.From(ctx).Store, func(_ skein.SessionID, e *skein.DamagedError) {
			if seq := strconv.FormatInt(int64(e.Seq), 10); !slices.Contains(damaged, seq) {
				damaged = append(damaged, seq)
			}
		})
		s, err := store.Session(ctx, q.ID)
		if err != nil {
			return nil, err
		}
		e := export{service: a.service, ctx: ctx, store: store, s: &s, to: q.To, raw: q.Raw, rewound: q.Rewound, look: render.Options{Reasoning: q.Thinking, NoTools: q.NoTools}}
		if q.To == "source" {
			if e.source, err = sourceOf(ctx, store, &s); err != nil {
				return nil, err
			}
		}
		if e.look.Cost, err = a.cost(ctx, store, &s); err != nil {
			return nil, err
		}
		return &rawAnswer{func(c huma.Context) {
			e.send(c)
			if w, ok := c.BodyWriter().(http.ResponseWriter); ok && len(damaged)+len(e.lost) > 0 {
				http.NewResponseController(w).Flush() //nolint:errcheck // a short answer would have a length instead of trailers
				c.SetHeader(http.TrailerPrefix+damagedTrailer, strings.Join(append(damaged, e.lost...), ", "))
			}
		}}, nil
	})
}

// damagedTrailer is the trailer of an export that had to skip damaged events.
const damagedTrailer = "Skein-Damaged"

type export struct {
	*service
	ctx   context.Context
	store skein.Store
	s     *skein.Session
	to    string
	raw   bool
	look  render.Options

	rewound bool // includes what was taken back

	source skein.SourceFile
	lost   []string // damaged records of the source, in words
}

// sourceOf returns the file that s was imported from. A file that was uploaded
// again counts as another file: of several, it returns the one of which most
// was read.
func sourceOf(ctx context.Context, store skein.Store, s *skein.Session) (found skein.SourceFile, err error) {
	if s.Origin != nil {
		for f, err := range skein.SourcesOf(store).Files(ctx, s.Origin.Format) {
			if err != nil {
				return found, err
			}
			if f.Session == s.ID && (found.Path == "" || f.Offset > found.Offset) {
				found = f
			}
		}
	}
	if found.Path == "" {
		return found, fmt.Errorf("session %s: the file it was imported from: %w", s.ID, skein.ErrNotFound)
	}
	return found, nil
}

// kind returns the media type and the extension of the file.
func (e *export) kind() (mediaType, ending string) {
	switch e.to {
	case "md":
		return "text/markdown; charset=utf-8", ".md"
	case "html":
		return "text/html; charset=utf-8", ".html"
	case "json":
		return jsonType, ".json"
	case "skein":
		return linesType, ".jsonl"
	}
	return "application/octet-stream", ""
}

func (e *export) send(c huma.Context) {
	mediaType, ending := e.kind()
	name := fileName(string(e.s.ID)) + ending
	if e.to == "source" {
		name = fileName(baseName(e.source.Path))
	}
	c.SetHeader("Content-Type", mediaType)
	c.SetHeader("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	c.SetStatus(http.StatusOK)
	w := bufio.NewWriter(c.BodyWriter())
	err := errors.Join(e.write(w), w.Flush())
	if err != nil {
		if e.ctx.Err() == nil {
			door.Note(e.ctx, err)
		}
		panic(http.ErrAbortHandler) // the status is sent: that it is not whole shows in the connection
	}
}

func (e *export) write(w io.Writer) error {
	said := e.entries()
	if !e.rewound {
		said = render.Live(said)
	}
	if e.to == "md" || e.to == "html" {
		var hide func(string) string
		if !e.raw && e.Redact != nil {
			hide = e.Redact.Text
		}
		var err error
		if e.look.Told, err = render.ProgressOf(e.s, e.store.Events(e.ctx, e.s.ID, 0), e.s.Last, hide); err != nil {
			return err
		}
		if !e.rewound {
			e.look.Told = e.look.Told.Live()
		}
	}
	e.look.Image = func(h skein.Hash) ([]byte, error) { return e.store.Blob(e.ctx, e.s.ID, h) }
	switch e.to {
	case "md":
		return render.Markdown(w, e.s, said, e.look)
	case "html":
		return render.HTML(w, e.s, said, e.look)
	case "json":
		told, err := render.ProgressOfCalls(e.s, e.store.Events(e.ctx, e.s.ID, 0), e.s.Last)
		if err != nil {
			return err
		}
		return render.JSON(w, e.s, said, told)
	case "source":
		err := writeback.WriteFile(e.ctx, e.store, e.source.Format, e.source.Path, w)
		var missing *writeback.GapError
		if !errors.As(err, &missing) {
			return err
		}
		for _, g := range missing.Gaps {
			e.lost = append(e.lost, g.String())
		}
		return nil
	}
	_, err := replay.Write(e.ctx, w, e.store, e.s.ID)
	return err
}

// entries yields the messages, with secrets masked.
func (e *export) entries() iter.Seq2[skein.Entry, error] {
	all := entries(e.ctx, e.store, e.s, 0)
	if e.raw || e.Redact == nil {
		return all
	}
	shown := e.Redact.Session(*e.s)
	e.s = &shown
	return func(yield func(skein.Entry, error) bool) {
		for x, err := range all {
			if !yield(e.Redact.Entry(x), err) {
				return
			}
		}
	}
}

// cost says what a session itself cost, for people.
func (a *service) cost(ctx context.Context, store skein.Store, s *skein.Session) (string, error) {
	prices, err := a.prices()
	if err != nil || prices == nil || s.Usage == (skein.Usage{}) {
		return "", err
	}
	rows, err := store.Usage(ctx, skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{s.ID}})
	if err != nil {
		return "", err
	}
	return prices.Sum(rows, s.Updated).Costs(), nil
}

// fileName returns s as a file name that is safe on every system.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.~", r)) {
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".-")
	if s == "" {
		return "session"
	}
	return s[:min(len(s), 120)]
}

// baseName returns the last part of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
