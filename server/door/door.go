package door

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// Options are the settings of a Door.
type Options struct {
	Store  skein.Store
	Tokens *Tokens
	Hosts  []string // names of the server, besides loopback; with a port, or for any port
	Public *url.URL // scheme and host by which browsers reach the server through a proxy; nil: there is no proxy
	Log    *slog.Logger
	Now    func() time.Time
	Form   http.Handler // the login page, for people who are not logged in; nil: they get a problem

	// Page shows a problem to people who asked for a page; nil: they get the
	// problem as JSON.
	Page func(w http.ResponseWriter, r *http.Request, p Problem)

	// Done is called after each request, with the route's pattern, "" if there
	// was none; may be nil.
	Done func(pattern string, status int, took time.Duration)

	// Trace is called before each request, with the route's pattern and the
	// request's ID. It returns the context for the request, and a function that
	// is called at its end with its status; may be nil.
	Trace func(r *http.Request, pattern, id string) (context.Context, func(status int))
}

// A Door is an [http.Handler] that lets in only those who may.
type Door struct {
	Options
	tokens  *Tokens
	hosts   []string
	at      net.IP // where it listens, if that is a single address
	now     func() time.Time
	routes  []Route
	mux     *http.ServeMux
	codes   codes
	uses    uses
	wrong   wrongs
	streams streamLimit
	visits  visits
	room    *room.Room

	// grace returns a context that ends when requests that were still running
	// at the server's stop have had their time.
	grace func(context.Context) (context.Context, context.CancelFunc)
}

// New returns the door to routes. It panics if two have the same pattern, as
// [http.ServeMux] does: that is the caller's mistake.
func New(o Options, routes ...Route) *Door {
	d := &Door{Options: o, tokens: o.Tokens, hosts: o.Hosts, now: o.Now, routes: slices.Concat(routes, nil), mux: http.NewServeMux(), room: room.New(maxHeld), grace: grace}
	d.routes = append(d.routes, d.own()...)
	for _, r := range d.routes {
		d.mux.Handle(r.Pattern, d.guard(r))
	}
	return d
}

// Routes returns the table of all routes.
func (d *Door) Routes() []Route { return slices.Clone(d.routes) }

// ServeHTTP implements [http.Handler].
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := d.now()
	note := &noting{ResponseWriter: w}
	v := Visitor{ID: rand.Text()[:12], note: note, host: r.Host, https: d.https(r)}
	r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
	setHeaders(w.Header(), v.ID)
	if v.https && lastingName(r.Host) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
	}
	_, pattern := d.mux.Handler(r)
	if d.Trace != nil {
		ctx, end := d.Trace(r, pattern, v.ID)
		r = r.WithContext(ctx)
		defer func() { end(note.status) }()
	}
	defer func() { d.done(r, note, pattern, began, recover()) }()
	note.lease() // the deadline of the connection's last request may be over
	hurry(note, r)
	if r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 {
		// There may have been a length too, which a proxy believed: what
		// follows the body is then not a request of the proxy's client.
		note.Header().Set("Connection", "close")
	}
	switch {
	case !d.ours(r.Host):
		Refuse(note, r, http.StatusForbidden, "host", "the host %q is not one of this server's: allow it with --host", r.Host)
	case d.foreign(r):
		Refuse(note, r, http.StatusForbidden, "origin", "the request comes from another site's page")
	case pattern == "":
		d.lost(note, r)
	default:
		d.mux.ServeHTTP(note, r)
	}
}

// lost answers a request that matches no route.
func (d *Door) lost(w http.ResponseWriter, r *http.Request) {
	var methods []string
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		probe := r.Clone(r.Context())
		if probe.Method = m; m != r.Method {
			if _, pattern := d.mux.Handler(probe); pattern != "" {
				methods = append(methods, m)
			}
		}
	}
	if len(methods) > 0 {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		Refuse(w, r, http.StatusMethodNotAllowed, "method", "%s: only %s here", r.Method, strings.Join(methods, ", "))
		return
	}
	r = d.paged(r)
	if v := From(r.Context()); v.page != nil {
		if k, _, err := d.known(r); err == nil {
			v.as(k)
		}
		r = asVisitor(r, v)
	}
	Refuse(w, r, http.StatusNotFound, "no_route", "nothing is at %s", r.URL.Path)
}

// paged returns r with a context that shows problems as pages, if the client
// wants pages.
func (d *Door) paged(r *http.Request) *http.Request {
	if d.Page == nil || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return r
	}
	v := From(r.Context())
	v.page = d.Page
	return asVisitor(r, v)
}

func asVisitor(r *http.Request, v Visitor) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// done logs a request, and answers one whose handler panicked.
func (d *Door) done(r *http.Request, w *noting, pattern string, began time.Time, panicked any) {
	begun := w.status != 0
	if !begun && panicked == nil {
		w.begin(http.StatusOK) // an empty answer
	}
	w.lease()
	if panicked != nil && panicked != http.ErrAbortHandler { //nolint:errorlint // it is that value
		d.Log.Error("a request made the server panic", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
		if w.status == 0 {
			Refuse(w, r, http.StatusInternalServerError, "internal", "the server failed; its log has the error")
		}
	}
	if w.err != nil {
		d.Log.Error("a request failed", "err", w.err, "route", pattern, "id", w.Header().Get("X-Request-Id"))
	}
	took := d.now().Sub(began)
	d.Log.Info("request", "method", r.Method, "route", pattern, "status", w.status, "ms", took.Milliseconds(), "bytes", w.bytes, "id", w.Header().Get("X-Request-Id"))
	if d.Done != nil {
		d.Done(pattern, w.status, took)
	}
	if begun && panicked != nil {
		panic(http.ErrAbortHandler) // what was sent is incomplete: the client must see that
	}
}

// guard wraps a route in the checks of its visitors.
func (d *Door) guard(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route.Page {
			r = d.paged(r)
		}
		if route.Scope > Open {
			v, shown, ok := d.who(w, r, route)
			if !ok {
				return
			}
			ctx, leave := d.enter(r.Context(), shown, v)
			defer leave()
			r = r.WithContext(ctx)
			if route.Stream && (route.Streams == nil || route.Streams(r)) {
				ctx, leave := d.streams.enter(r.Context(), v.Token)
				if leave == nil {
					Refuse(w, r, http.StatusTooManyRequests, "streams", "too many streams are open: at most %d a token and %d in all", maxOfToken, maxStreams)
					return
				}
				defer leave()
				r = r.WithContext(ctx)
			}
			d.audited(r, &v, route.Pattern)
			r = asVisitor(r, v)
		}
		share := d.room.Share()
		defer share.LetGo()
		share.Expect(maxAnswer)
		share.Limit(maxWait)
		r = r.WithContext(room.With(r.Context(), share))
		if !d.fits(w, r, route) {
			return
		}
		route.Handler.ServeHTTP(w, r)
	})
}

// who returns the visitor and their proof; false if the request was refused.
func (d *Door) who(w http.ResponseWriter, r *http.Request, route Route) (Visitor, proof, bool) {
	v := From(r.Context())
	k, p, err := d.known(r)
	if err != nil {
		d.unknown(w, r, route, r.Header.Get("Authorization") != "", err)
		return v, p, false
	}
	v.as(k)
	if v.Scope < route.Scope {
		Refuse(w, asVisitor(r, v), http.StatusForbidden, "scope", "the token %q may only %s; %s", v.Token, v.Scope, wants(route.Scope))
		return v, p, false
	}
	if route.Raw && !v.Raw {
		Refuse(w, asVisitor(r, v), http.StatusForbidden, "scope", "%s", v.NoRaw())
		return v, p, false
	}
	if !ofUser(r, &v) {
		Refuse(w, r, http.StatusForbidden, "user", "the token %q is only for the sessions of %q", v.Token, v.User)
		return v, p, false
	}
	v.Store = d.Store
	if v.User != "" {
		v.Store = d.Store.As(v.User)
	}
	d.use(r, k, p)
	return v, p, true
}

// known returns what is known of the visitor, and their proof. The errors are
// those of [Tokens.Find].
func (d *Door) known(r *http.Request) (proofInfo, proof, error) {
	p, ok := d.shown(r)
	if !ok {
		return proofInfo{}, p, skein.ErrNotFound
	}
	k, err := d.tokens.one(context.WithoutCancel(r.Context()), p)
	return k, p, err
}

// shown returns the token or login of a request, and false if there is none. A
// second token is an error: a proxy in front of this server may have checked
// the other one.
func (d *Door) shown(r *http.Request) (proof, bool) {
	if shown := r.Header.Values("Authorization"); len(shown) > 0 {
		kind, token, _ := strings.Cut(shown[0], " ")
		if len(shown) > 1 || !strings.EqualFold(kind, "Bearer") {
			return proof{}, false
		}
		return proofOf(strings.TrimSpace(token))
	}
	if unsafe(r.Method) && r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
		return proof{}, false // every browser says which page a change comes from
	}
	c, err := r.Cookie(From(r.Context()).CookieName(loginCookie))
	if err != nil {
		return proof{}, false
	}
	return shownBy(c), true
}

// unknown answers a request without a known token. If err says that the token
// could not be looked up, the client is not told that it is wrong: the client
// might discard it.
func (d *Door) unknown(w http.ResponseWriter, r *http.Request, route Route, wrong bool, err error) {
	if errors.Is(err, skein.ErrNotFound) {
		d.stranger(w, r, route, wrong)
		return
	}
	d.Log.Error("a token cannot be looked up", "err", err)
	w.Header().Set("Retry-After", "1")
	Refuse(w, r, http.StatusServiceUnavailable, "unavailable", "the token cannot be looked up now: try again")
}

// stranger answers a request without a token; wrong is set if it had an unknown
// one.
func (d *Door) stranger(w http.ResponseWriter, r *http.Request, route Route, wrong bool) {
	if wrong && d.wrong.add(r, d.now()) {
		w.Header().Set("Retry-After", fmt.Sprint(int(wrongFor/time.Second)))
		Refuse(w, r, http.StatusTooManyRequests, "tries", "too many wrong tokens: wait")
		return
	}
	if route.Page && arrives(r) {
		loginRoutes{d}.comeAgain(w, r)
		return
	}
	if _, shown := d.shown(r); shown {
		forgetPages(w) // the login was ended elsewhere, or has expired
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="skein"`)
	if route.Page && d.Form != nil {
		d.Form.ServeHTTP(w, r)
		return
	}
	Refuse(w, r, http.StatusUnauthorized, "token", "this needs a token: Authorization: Bearer TOKEN")
}

// fits reports whether a route accepts the body of a request.
func (d *Door) fits(w http.ResponseWriter, r *http.Request, route Route) bool {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return true
	}
	if r.ContentLength > route.Body {
		Refuse(w, r, http.StatusRequestEntityTooLarge, "size", "a body of %d bytes: at most %d here", r.ContentLength, route.Body)
		return false
	}
	types := route.Types
	if types == nil {
		types = []string{"application/json"}
	}
	got, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || !slices.Contains(types, got) || charset != "" && !strings.EqualFold(charset, "utf-8") {
		Refuse(w, r, http.StatusUnsupportedMediaType, "type", "a body of type %q: want %s", r.Header.Get("Content-Type"), strings.Join(types, " or "))
		return false
	}
	if packed := r.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		Refuse(w, r, http.StatusUnsupportedMediaType, "type", "a body with the encoding %q: send it without an encoding", packed)
		return false
	}
	length := r.ContentLength
	if length < 0 { // it is not known
		length = route.Body
	}
	share := room.Of(r.Context())
	share.Expect(max(length, maxAnswer))
	share.Limit(0) // what somebody sends is worth a wait
	r.Body = &heldBody{ReadCloser: http.MaxBytesReader(w, inTime(w, r.Body), route.Body), ctx: r.Context()}
	return true
}
