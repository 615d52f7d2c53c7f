package door

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// A failure is a kind of error that a client can do something about.
type failure struct {
	err    error
	code   string
	status int
}

// failures are the errors of package skein, with their codes in a problem and
// their statuses. Each status means one thing: 400 the request is wrong, 404
// not found (for this visitor), 409 it has changed, 422 the client ID was used
// for other content, 503 try again later, 507 no space.
func failures() []failure {
	return []failure{
		{skein.ErrMismatch, "mismatch", http.StatusUnprocessableEntity},
		{skein.ErrConflict, "conflict", http.StatusConflict},
		{skein.ErrFenced, "fenced", http.StatusConflict},
		{skein.ErrLocked, "locked", http.StatusConflict},
		{skein.ErrExists, "exists", http.StatusConflict},
		{skein.ErrRefused, "refused", http.StatusConflict},
		{skein.ErrAmbiguous, "ambiguous", http.StatusConflict},
		{skein.ErrDeleted, "deleted", http.StatusNotFound},
		{skein.ErrNotFound, "not_found", http.StatusNotFound},
		{skein.ErrInvalid, "invalid", http.StatusBadRequest},
		{skein.ErrFull, "full", http.StatusInsufficientStorage},
		{skein.ErrReadOnly, "read_only", http.StatusServiceUnavailable},
		{skein.ErrUnknown, "unknown", http.StatusServiceUnavailable},
		{skein.ErrClosed, "closed", http.StatusServiceUnavailable},
		{skein.ErrAway, "away", http.StatusServiceUnavailable},
		{skein.ErrReplaced, "replaced", http.StatusServiceUnavailable},
		{skein.ErrNewer, "newer", http.StatusInternalServerError},
		{skein.ErrCorrupt, "corrupt", http.StatusInternalServerError},
	}
}

// ProblemOf returns err as a problem. An error that is not one of package skein
// is "internal": its text goes only to the log, as does that of "away".
func ProblemOf(err error) Problem {
	p := Problem{Status: http.StatusInternalServerError, Code: "internal", Detail: "the server failed; its log has the error"}
	var long *http.MaxBytesError
	if errors.As(err, &long) {
		p = Problem{Status: http.StatusRequestEntityTooLarge, Code: "size", Detail: fmt.Sprintf("the body is longer than %d bytes", long.Limit)}
	}
	for _, f := range failures() {
		if errors.Is(err, f.err) {
			p = Problem{Status: f.status, Code: f.code, Detail: Brief(skein.Reason(err))}
			break
		}
	}
	if p.Code == "away" { // the store's address goes only to the log, too
		p.Detail = skein.ErrAway.Error() + ": try again later"
	}
	if errors.Is(err, ErrBusy) || errors.Is(err, room.ErrFull) { // whatever error it caused while reading
		p = Problem{Status: http.StatusServiceUnavailable, Code: "busy", Detail: ErrBusy.Error()}
	}
	p.Title = http.StatusText(p.Status)
	var conflict *skein.ConflictError
	var locked *skein.LockedError
	var ambiguous *skein.AmbiguousError
	var quota *skein.QuotaError
	var damaged *skein.DamagedError
	var records *skein.DamagedRecordsError
	switch {
	case errors.As(err, &records):
		p.Records = []int{records.First, records.Last}
	case errors.As(err, &damaged):
		p.Seq = damaged.Seq
	case errors.As(err, &conflict):
		p.Session, p.Last = conflict.Session, conflict.Last
	case errors.As(err, &locked):
		p.Session, p.Holder = locked.Session, &locked.Holder
	case errors.As(err, &ambiguous):
		p.Name, p.Candidates, p.More = ambiguous.Name, ambiguous.Candidates, ambiguous.More
	case errors.As(err, &quota):
		p.User, p.Of, p.Most = quota.User, quota.Of, quota.Most
	}
	return p
}

// Err returns the error that p stands for: it wraps the error of package skein,
// and is a *skein.ConflictError and so on if the store's was.
func (p Problem) Err() error {
	switch p.Code {
	case "conflict":
		return &problemError{p.Detail, &skein.ConflictError{Session: p.Session, Last: p.Last}}
	case "locked":
		if p.Holder != nil {
			return &problemError{p.Detail, &skein.LockedError{Session: p.Session, Holder: *p.Holder}}
		}
	case "full":
		if p.Of != "" {
			return &problemError{p.Detail, &skein.QuotaError{User: p.User, Of: p.Of, Most: p.Most}}
		}
	case "corrupt":
		if len(p.Records) == 2 {
			return &problemError{p.Detail, &skein.DamagedRecordsError{First: p.Records[0], Last: p.Records[1], Err: skein.ErrCorrupt}}
		}
		if p.Seq != 0 {
			return &problemError{p.Detail, &skein.DamagedError{Seq: p.Seq, Err: skein.ErrCorrupt}}
		}
	case "busy":
		return &problemError{p.Detail, ErrBusy}
	case "ambiguous":
		return &problemError{p.Detail, &skein.AmbiguousError{Name: p.Name, Candidates: p.Candidates, More: p.More}}
	}
	for _, f := range failures() {
		if f.code == p.Code {
			return &problemError{p.Detail, f.err}
		}
	}
	return fmt.Errorf("%d %s: %s", p.Status, p.Title, p.Detail)
}

// problemError is an error with the server's text.
type problemError struct {
	words string
	err   error
}

// Error implements error.
func (t *problemError) Error() string {
	if t.words == "" {
		return t.err.Error()
	}
	return t.words
}

// Unwrap returns the underlying error.
func (t *problemError) Unwrap() error { return t.err }

// Fail answers with err as a problem, unless the client has gone.
func Fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	p := ProblemOf(err)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	if n, ok := w.(interface{ failed(error) }); ok && (p.Code == "internal" || p.Code == "away") {
		n.failed(err)
	}
	p.ID = From(r.Context()).ID
	tell(w, r, p)
}

func tell(w http.ResponseWriter, r *http.Request, p Problem) {
	if page := From(r.Context()).page; page != nil {
		page(w, r, p)
		return
	}
	b := skein.MustJSON(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(p.Status)
	w.Write(b) //nolint:errcheck // the client has gone
}
