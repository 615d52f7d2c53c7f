package door

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/skein-dev/skein"
)

// A Scope is what a token allows; each contains those before it.
type Scope int

// The scopes.
const (
	Open  Scope = iota // needs no token: says nothing that a stranger may not know
	Read               // sees its user's sessions
	Write              // adds to them, changes them, bins them
	Admin              // every user's, purges, tokens
)

// Bytes of body that a route may take.
const (
	MB         = 1 << 20
	MaxBody    = 32 * MB  // of most routes
	MaxBatches = 256 * MB // of events and imports, which are read as a stream
)

// A Route is what answers one kind of request.
type Route struct {
	Pattern string                   // method, a space and a path, as of [http.ServeMux]: GET /v1/sessions/{id}
	Scope   Scope                    // that it needs
	Raw     bool                     // needs [ReadRaw] besides
	Body    int64                    // most bytes of body that it takes; 0: none
	Types   []string                 // media types of the body; nil: application/json
	Stream  bool                     // stays open: it counts among the streams of its token
	Streams func(*http.Request) bool // of a Stream: whether this request does; nil: every one
	Page    bool                     // is for people: without a login they get the form
	Handler http.Handler
}

// A Visitor is who asks.
type Visitor struct {
	Token string      // name of the token
	Scope Scope       // of the token
	Raw   bool        // it may read what looks like a secret
	User  skein.User  // whose sessions it sees; "" for everybody's
	Store skein.Store // these sessions
	ID    string      // of the request, for logs
	Login string      // ID of the login by which it is in; "" if it shows a token
	known Token       // what is known of its token
	in    logbook     // and where
	note  *noting
	page  func(http.ResponseWriter, *http.Request, Problem) // shows what is refused; nil: as it is
	host  string                                            // that it asks for
	https bool                                              // its browser speaks
}

// UserHeader names, escaped as in a query, the user whose sessions alone a
// request is about. Only tokens that see everybody's may name another.
const UserHeader = "Skein-User"

// ofUser narrows a visitor down to the user that a request names, and reports
// whether its token may see that one's sessions.
func ofUser(r *http.Request, v *Visitor) bool {
	name, err := url.QueryUnescape(r.Header.Get(UserHeader))
	if err != nil || name == "" {
		return err == nil
	}
	if v.User == "" {
		v.User = skein.User(name)
	}
	return v.User == skein.User(name)
}

// as makes v the visitor that k is.
func (v *Visitor) as(k known) {
	v.Token, v.Scope, v.User, v.Login, v.known, v.in = k.token.Name, scopeOf(k.token.Scope), k.token.User, k.login, k.token, k.in
	v.Raw = raw(k.token.Scope)
}

// Owner returns whose token it is, whatever user the request names; "" for a
// token that sees everybody's sessions.
func (v Visitor) Owner() skein.User { return v.known.User }

// MayDestroy reports whether the visitor may destroy sessions: their own with
// the scope write, everybody's with admin.
func (v Visitor) MayDestroy() bool {
	return v.Scope >= Admin || v.Scope >= Write && v.Owner() != ""
}

// NoRaw says why a visitor may not read what looks like a secret.
func (v Visitor) NoRaw() string {
	return fmt.Sprintf("the token %q may not read what looks like a secret: this needs a token that was made with the scope %s", v.Token, ReadRaw)
}

type visitorKey struct{}

// From returns who asks; the zero Visitor in a context that is no request's.
func From(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}

// Note puts into the log why a request failed, where its answer does not say
// so. ctx is that of the request.
func Note(ctx context.Context, err error) {
	if n := From(ctx).note; n != nil {
		n.failed(err)
	}
}
