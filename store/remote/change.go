package remote

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
)

// noAnswer is a response without content.
type noAnswer struct{}

// Bin implements [skein.Lifecycle].
func (s lifecycle) Bin(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "remote: bin %s", id)
	_, err = ask[noAnswer](ctx, s.view, "bin", sessionQuery{Session: id})
	return err
}

// Restore implements [skein.Lifecycle].
func (s lifecycle) Restore(ctx context.Context, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "remote: restore %s", id)
	_, err = ask[noAnswer](ctx, s.view, "restore", sessionQuery{Session: id})
	return err
}

// Delete implements [skein.Lifecycle]. The error wraps [skein.ErrUnknown] if the
// response was lost, [ErrForbidden] if the token is not an admin's.
func (s lifecycle) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (_ skein.Deleted, err error) {
	defer skein.Wrapf(&err, "remote: delete %s", id)
	got, err := change[api.Deleted](ctx, s.view, "delete", api.Deletion{Session: id, Children: d.Children, After: d.After})
	return skein.Deleted(got), err
}

// Scrub implements [skein.Lifecycle]. Errors as [Store.Delete].
func (s lifecycle) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (_ skein.Scrubbed, err error) {
	defer skein.Wrapf(&err, "remote: scrub %s", id)
	in := api.Scrub{Session: id, Secrets: make([][]byte, len(secrets))}
	for i, secret := range secrets {
		in.Secrets[i] = []byte(secret)
	}
	got, err := change[api.Scrubbed](ctx, s.view, "scrub", in)
	return skein.Scrubbed(got), err
}
