package door_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

func TestAnErrorComesThroughAProblem(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{
		{skein.ErrNotFound, 404},
		{skein.ErrExists, 409},
		{skein.ErrMismatch, 422},
		{skein.ErrFenced, 409},
		{skein.ErrDeleted, 404},
		{skein.ErrRefused, 409},
		{skein.ErrInvalid, 400},
		{skein.ErrUnknown, 503},
		{skein.ErrClosed, 503},
		{skein.ErrCorrupt, 500},
		{skein.ErrNewer, 500},
		{skein.ErrReadOnly, 503},
		{skein.ErrReplaced, 503},
		{skein.ErrFull, 507},
		{&skein.ConflictError{Session: "a", Last: 7}, 409},
		{&skein.LockedError{Session: "a", Holder: skein.Holder{Program: "skein chat", PID: 4, Since: 9}}, 409},
		{&skein.QuotaError{User: "ann", Of: "bytes", Most: 4}, 507},
		{&skein.AmbiguousError{Name: "x", Candidates: []skein.Session{{ID: "a"}, {ID: "b"}}, More: true}, 409},
	} {
		wrapped := fmt.Errorf("sqlite: append: %w", c.err)
		b, err := json.Marshal(door.ProblemOf(wrapped))
		if err != nil {
			t.Fatal(err)
		}
		var p door.Problem
		if err := json.Unmarshal(b, &p); err != nil || p.Status != c.status {
			t.Errorf("%v is the problem %s, want status %d", c.err, b, c.status)
		}
		got := p.Err()
		if unwrapped := errors.Unwrap(c.err); unwrapped != nil && !errors.Is(got, unwrapped) || unwrapped == nil && !errors.Is(got, c.err) {
			t.Errorf("%s comes back as %v, want %v", b, got, c.err)
		}
		if got.Error() != wrapped.Error() {
			t.Errorf("the words of %v come back as %v", wrapped, got)
		}
		if want := new(skein.ConflictError); errors.As(c.err, &want) {
			if is := new(skein.ConflictError); !errors.As(got, &is) || *is != *want {
				t.Errorf("%v comes back as %+v", c.err, is)
			}
		}
		if want := new(skein.QuotaError); errors.As(c.err, &want) {
			if is := new(skein.QuotaError); !errors.As(got, &is) || *is != *want {
				t.Errorf("%v comes back as %+v", c.err, is)
			}
		}
		if want := new(skein.LockedError); errors.As(c.err, &want) {
			if is := new(skein.LockedError); !errors.As(got, &is) || *is != *want {
				t.Errorf("%v comes back as %+v", c.err, is)
			}
		}
	}
}

func TestAStoreThatIsAwayIsSaidWithoutWhereItIs(t *testing.T) {
	p := door.ProblemOf(fmt.Errorf("postgres: %w: dial tcp 10.1.2.3:5432", skein.ErrAway))
	if p.Status != 503 || p.Code != "away" || strings.Contains(p.Detail, "10.1.2.3") {
		t.Errorf("a store that is away is the problem %+v, want 503, away, and no address", p)
	}
	if got := p.Err(); !errors.Is(got, skein.ErrAway) {
		t.Errorf("it comes back as %v, want %v", got, skein.ErrAway)
	}
}

func TestWhatFailsInsideIsNotTold(t *testing.T) {
	p := door.ProblemOf(errors.New("open /home/ada/secret: no such file"))
	if p.Status != 500 || strings.Contains(p.Detail, "secret") {
		t.Errorf("a system's error is the problem %+v, want nothing of its words", p)
	}
}

func TestWhichRecordsAreDamagedComesThroughAProblem(t *testing.T) {
	b, err := json.Marshal(door.ProblemOf(fmt.Errorf("sqlite: records: %w", &skein.DamagedRecordsError{First: 0, Last: 5, Err: errors.New("it is cut")})))
	if err != nil {
		t.Fatal(err)
	}
	var p door.Problem
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	is := new(skein.DamagedRecordsError)
	if got := p.Err(); !errors.As(got, &is) || is.First != 0 || is.Last != 5 || !errors.Is(got, skein.ErrCorrupt) {
		t.Errorf("%s comes back as %v, want records 0 to 5 damaged", b, got)
	}
}
