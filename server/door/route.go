package door

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
)

// A Scope is what a token allows; each contains those before it.
type Scope int

// The scopes.
const (
	Open   Scope = iota // needs no token: says nothing that a stranger may not know
	Read                // sees its user's sessions
	Answer              // decides what an agent may do that asks, in a session that is live
	Write               // adds to them, changes them, bins them
	Admin               // sees and purges every user's; manages tokens
)

// Most bytes of a body.
const (
	MB         = 1 << 20
	MaxBody    = 32 * MB  // of most routes
	MaxBatches = 256 * MB // of events and imports, which are decoded as a stream
)

// A Route answers one kind of request.
type Route struct {
	Pattern string                   // method, a space and a path, as in [http.ServeMux]: GET /v1/sessions/{id}
	Scope   Scope                    // that the token needs
	Raw     bool                     // needs [ReadRaw] too
	Body    int64                    // most bytes of the body; 0: no body
	Types   []string                 // media types of the body; nil: application/json
	Stream  bool                     // the response stays open: it counts among the streams of its token
	Streams func(*http.Request) bool // for a Stream: whether this request stays open; nil: all do
	Page    bool                     // for people: without a login, they get the login page
	Handler http.Handler
}

// A Visitor is the sender of a request.
type Visitor struct {
	Token string      // name of the token
	Scope Scope       // of the token
	Raw   bool        // may read what looks like a secret
	User  skein.User  // whose sessions the visitor sees; "" for everybody's
	Store skein.Store // these sessions
	ID    string      // of the request, for logs
	Login string      // ID of the login; "" if the request has a token
	known Token       // what is known of the token
	in    logbook     // where that comes from
	note  *noting
	reads func(skein.SessionID)                             // notes in the audit that a session is read; nil for strangers
	page  func(http.ResponseWriter, *http.Request, Problem) // shows refusals; nil: as JSON
	host  string                                            // that the request names
	https bool                                              // the browser uses it
}

// UserHeader names the only user whose sessions a request is about, escaped as
// in a query. Only tokens that see everybody's sessions may name another user.
const UserHeader = "Skein-User"

// ofUser limits a visitor to the user that a request names, and reports whether
// the token may see that user's sessions.
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

// as makes v the visitor k.
func (v *Visitor) as(k proofInfo) {
	v.Token, v.Scope, v.User, v.Login, v.known, v.in = k.token.Name, scopeOf(k.token.Scope), k.token.User, k.login, k.token, k.in
	v.Raw = raw(k.token.Scope)
}

// Owner returns the owner of the token, whatever user the request names; "" for
// a token that sees everybody's sessions.
func (v Visitor) Owner() skein.User { return v.known.User }

// Name names the visitor to others: the token, and its owner if it has one.
func (v Visitor) Name() string {
	if v.Owner() == "" {
		return v.Token
	}
	return v.Token + " (" + string(v.Owner()) + ")"
}

// Site returns the scheme and host by which the visitor reaches the server.
func (v Visitor) Site() string {
	if v.https {
		return "https://" + v.host
	}
	return "http://" + v.host
}

// Local reports whether the visitor reaches the server by an address that works only on
// its machine.
func (v Visitor) Local() bool {
	host := v.host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip.IsLoopback()
}

// MayDestroy reports whether the visitor may destroy sessions: their own with
// the scope write, everybody's with admin.
func (v Visitor) MayDestroy() bool {
	return v.Scope >= Admin || v.Scope >= Write && v.Owner() != ""
}

// NoRaw returns why a visitor may not read what looks like a secret.
func (v Visitor) NoRaw() string {
	return fmt.Sprintf("the token %q may not read secrets: this needs a token with the scope %s", v.Token, ReadRaw)
}

type visitorKey struct{}

// From returns the visitor of a request, by its context; without one, the zero
// Visitor.
func From(ctx context.Context) Visitor {
	v, _ := ctx.Value(visitorKey{}).(Visitor)
	return v
}

// Note logs why a request failed if the answer does not say so. ctx is that of
// the request.
func Note(ctx context.Context, err error) {
	if n := From(ctx).note; n != nil {
		n.failed(err)
	}
}
