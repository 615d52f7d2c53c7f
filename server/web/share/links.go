package share

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
)

// Links makes links, and serves their pages to anybody.
type Links struct {
	Shares  accounts.Shares
	Store   skein.Store // of everybody's sessions
	Secrets *redact.Redactor
	Now     func() time.Time
	Log     *slog.Logger
	Styles  []string // paths of the style sheets of a transcript's page

	busy chan struct{} // has room for the pages that are made at once
}

// MaxDays is how long a link works at most.
const MaxDays = 365

// maxBusy is how many pages are made at once: anybody who has a link can ask for them.
const maxBusy = 2

// New returns l, ready to serve.
func New(l Links) *Links {
	l.busy = make(chan struct{}, maxBusy)
	return &l
}

// Path is where links lead to.
const Path = "/s/"

// Routes returns the routes of the pages that links lead to. They need no login, and do
// not look at it: everybody sees the same.
func (l *Links) Routes() []door.Route {
	open := func(path string, h http.HandlerFunc) door.Route {
		return door.Route{Pattern: "GET " + path, Scope: door.Open, Page: true, Handler: h}
	}
	return []door.Route{
		open(Path+"{secret}", l.page),
		open(Path+"{secret}/files/{hash}", l.file),
	}
}

// Look returns what a link to one would show.
//
// The errors are those of the function [Look].
func (l *Links) Look(ctx context.Context, store skein.Store, one skein.Session, shows SharedPart) (*Preview, error) {
	return Look(ctx, store, one, shows, l.Secrets)
}

// ErrUnseen says that something else would be shared than was seen.
var ErrUnseen = fmt.Errorf("%w: something else would be shown than what you saw", skein.ErrConflict)

// Add makes a link to what p shows, which works for some days, and returns it with its
// path. seen is [Preview.Seen] of what the person who makes the link has seen.
//
// The error is [ErrUnseen], wraps [skein.ErrInvalid] for a wrong number of days, or is
// the store's.
func (l *Links) Add(ctx context.Context, one skein.Session, p *Preview, seen, by string, days int) (a accounts.SharedLink, path string, err error) {
	switch {
	case p.Seen() != seen:
		return a, "", ErrUnseen
	case days < 1 || days > MaxDays:
		return a, "", skein.Invalidf("%d days: a link works for 1 to %d days", days, MaxDays)
	}
	secret := strings.ToLower(rand.Text())
	now := skein.At(l.Now())
	a = accounts.SharedLink{
		ID: strings.ToLower(rand.Text()[:6]), Hash: sha256.Sum256([]byte(secret)), User: one.User, Session: one.ID, Shows: skein.MustJSON(keptPart{p.Shows, seen}),
		By: by, Created: now, Expires: now + skein.Time(time.Duration(days)*24*time.Hour/time.Millisecond),
	}
	if err := l.Shares.AddShare(ctx, a); err != nil {
		return a, "", err
	}
	return a, Path + secret, nil
}

// shown is a link, and what it shows.
type shown struct {
	accounts.SharedLink
	*Preview
	store skein.Store
}

// errNoLink says that a link does not work, whatever the reason.
var errNoLink = errors.New("this link does not work")

// visit calls f with what the link of a request shows. Only a few visits are under way at
// once, so f sends nothing: whoever reads slowly holds up nobody.
func (l *Links) visit(r *http.Request, f func(shown) error) error {
	ctx := r.Context()
	link, err := l.Shares.FindShare(ctx, sha256.Sum256([]byte(r.PathValue("secret"))))
	if errors.Is(err, skein.ErrNotFound) || err == nil && skein.At(l.Now()) >= link.Expires {
		return errNoLink
	}
	if err != nil {
		return err
	}
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	s, err := l.open(ctx, link)
	if err != nil {
		return err
	}
	return f(s)
}

// open returns what a link shows.
func (l *Links) open(ctx context.Context, link accounts.SharedLink) (s shown, err error) {
	s.SharedLink = link
	if s.store = l.Store; s.User != "" {
		s.store = l.Store.As(s.User)
	}
	one, err := s.store.Session(ctx, s.Session)
	if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) || err == nil && one.Binned != 0 {
		return s, errNoLink
	}
	if err != nil {
		return s, err
	}
	kept, err := read(s.SharedLink.Shows)
	if err != nil {
		return s, err
	}
	s.Preview, err = l.Look(ctx, s.store, one, kept.SharedPart)
	// What it showed was scrubbed, or would be masked in another way than it was.
	if errors.Is(err, skein.ErrInvalid) || err == nil && s.Seen() != kept.Seen {
		err = errNoLink
	}
	return s, err
}

// page shows what a link shows.
func (l *Links) page(w http.ResponseWriter, r *http.Request) {
	n := 1
	if text := r.URL.Query().Get("page"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			l.fail(w, r, errNoLink)
			return
		}
	}
	path := Path + r.PathValue("secret")
	where := func(n int) string {
		if n == 1 {
			return path
		}
		return path + "?page=" + strconv.Itoa(n)
	}
	var b bytes.Buffer
	var id string
	err := l.visit(r, func(s shown) error {
		id = s.ID
		return s.write(&b, n, sharedPage{Styles: l.Styles, Expires: s.Expires}, where, func(h skein.Hash) string { return path + "/files/" + string(h) })
	})
	if errors.Is(err, skein.ErrNotFound) {
		err = errNoLink
	}
	if err != nil {
		l.fail(w, r, err)
		return
	}
	if r.Method == http.MethodGet && n == 1 && r.Header.Get("Sec-Purpose") == "" {
		if err := l.Shares.CountView(context.WithoutCancel(r.Context()), id, skein.At(l.Now())); err != nil {
			l.Log.Warn("a view of a link is not counted", "share", id, "err", err)
		}
	}
	l.answer(w, http.StatusOK, b.Bytes())
}

// file sends a picture that a link shows.
func (l *Links) file(w http.ResponseWriter, r *http.Request) {
	var data []byte
	err := l.visit(r, func(s shown) (err error) {
		h := skein.Hash(r.PathValue("hash"))
		if !s.pictures[h] {
			return errNoLink
		}
		data, err = s.store.Blob(r.Context(), s.Session, h)
		return err
	})
	kind := render.PictureKind(data)
	if errors.Is(err, skein.ErrNotFound) || err == nil && kind == "" {
		err = errNoLink // files that are no pictures are named, not shown
	}
	if err != nil {
		l.fail(w, r, err)
		return
	}
	headers(w)
	w.Header().Set("Content-Type", kind)
	w.Write(data) //nolint:errcheck // the client has gone
}

// headers sets those of everything that a link leads to. Nothing keeps it: the link may be
// ended.
func headers(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

func (l *Links) answer(w http.ResponseWriter, status int, text []byte) {
	headers(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client has gone
}

// fail says that a link does not work. It does not say whether it ever did.
func (l *Links) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	status, data := http.StatusNotFound, sharedPage{Styles: l.Styles, Title: "This link does not work", Gone: "It may have expired, or its owner has ended it. Ask whoever sent it to you for a new one."}
	if !errors.Is(err, errNoLink) {
		door.Note(r.Context(), err)
		status, data = http.StatusInternalServerError, sharedPage{Styles: l.Styles, Title: "This page cannot be shown now", Gone: "The server failed. Try again later."}
	}
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, "page", data); err != nil {
		door.Note(r.Context(), err)
	}
	l.answer(w, status, b.Bytes())
}
