package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// Bounds of how long a lease that was acquired over HTTP lasts unless it is
// renewed.
const (
	leaseFor = time.Minute
	leaseMin = time.Second
	leaseMax = time.Hour
)

// lease is a lease in an answer.
type lease struct {
	Session skein.SessionID `json:"session"`
	Fence   skein.Fence     `json:"fence" doc:"fencing number; send it with every write"`
	Holder  skein.Holder    `json:"holder"`
	Expires skein.Time      `json:"expires_at,omitzero" doc:"by the server's clock"`
}

// newLease is the body of a request for a lease.
type newLease struct {
	Program  string `json:"program,omitempty" maxLength:"200" doc:"name of the program that asks, shown to people"`
	TTL      string `json:"ttl,omitempty" doc:"how long the lease lasts unless it is renewed, such as 30s or 5m; 1 s to 1 h, by default 1 m"`
	TakeOver bool   `json:"take_over,omitempty" doc:"end the lease of another holder"`
}

// leases registers the routes of leases.
func (a sessionOps) leases(t *openapi.Table) {
	type out struct{ Body lease }
	type in struct {
		ID   skein.SessionID `path:"id"`
		Body newLease
	}
	conflict := []int{http.StatusNotFound, http.StatusConflict}
	openapi.Register(t, openapi.Operation{
		ID: "acquire-lease", Method: http.MethodPost, Path: "/sessions/{id}/lease", Tag: "leases", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Take the lease of a session",
		Doc:    "While the lease is held, messages, tools, steps, compactions and rewinds are appended only with its fencing number. The session need not exist yet. If another program holds the lease: 409, locked, and who the holder is.",
		Errors: conflict,
	}, func(ctx context.Context, i *in) (*out, error) {
		ttl, err := ttlOf(i.Body.TTL)
		if err != nil {
			return nil, err
		}
		l, err := skein.LeasesOf(door.From(ctx).Store).Acquire(ctx, i.ID, skein.LeaseRequest{Program: cmp.Or(i.Body.Program, door.From(ctx).Token), TTL: ttl, TakeOver: i.Body.TakeOver})
		return &out{lease(l)}, err
	})
	type again struct {
		ID   skein.SessionID `path:"id"`
		Body struct {
			Fence skein.Fence `json:"fence"`
			TTL   string      `json:"ttl,omitempty" doc:"default: 1m"`
		}
	}
	openapi.Register(t, openapi.Operation{
		ID: "renew-lease", Method: http.MethodPost, Path: "/sessions/{id}/lease/renew", Tag: "leases", Scope: door.Write, Body: door.MaxBody, Summary: "Renew a lease",
		Doc: "If the lease is no longer held: 409, fenced; if the session does not exist either, 404.", Errors: conflict,
	}, func(ctx context.Context, i *again) (*out, error) {
		ttl, err := ttlOf(i.Body.TTL)
		if err != nil {
			return nil, err
		}
		store := door.From(ctx).Store
		l, err := skein.LeasesOf(store).Renew(ctx, skein.Lease{Session: i.ID, Fence: i.Body.Fence}, ttl)
		if errors.Is(err, skein.ErrFenced) {
			if _, none := store.Session(ctx, i.ID); none != nil {
				err = none // the session does not exist, or not for this user
			}
		}
		return &out{lease(l)}, err
	})
	type back struct {
		ID    skein.SessionID `path:"id"`
		Fence skein.Fence     `query:"fence" required:"true"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "release-lease", Method: http.MethodDelete, Path: "/sessions/{id}/lease", Tag: "leases", Scope: door.Write, Status: http.StatusNoContent, Summary: "Release a lease",
		Doc: "Releasing a lease that is no longer held is not an error.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *back) (*struct{}, error) {
		return nil, skein.LeasesOf(door.From(ctx).Store).Release(ctx, skein.Lease{Session: i.ID, Fence: i.Fence})
	})
}

func ttlOf(s string) (time.Duration, error) {
	if s == "" {
		return leaseFor, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < leaseMin || d > leaseMax {
		return 0, fmt.Errorf("%w ttl %q: want %v to %v, such as 30s", skein.ErrInvalid, s, leaseMin, leaseMax)
	}
	return d, nil
}
