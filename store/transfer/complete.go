package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A fileKey names a source file.
type fileKey struct {
	user         skein.User
	format, path string
}

// A supplier finds what belongs to events: blobs, and what is known about the files
// that they came from.
type supplier struct {
	renaming
	blobs   map[skein.User]map[skein.Hash]bool // that were stored in this run
	files   map[fileKey]*skein.SourceFile      // what the second store knows about a file
	damaged []string                           // see Report
}

// hurt notes that something in the first store is damaged.
func (c *supplier) hurt(what string) {
	if !slices.Contains(c.damaged, what) {
		c.damaged = append(c.damaged, what)
	}
}

// complete returns b as batches for the second store: with the blobs that it refers
// to, and with the events that came from an import in batches of their own.
func (c *supplier) complete(ctx context.Context, u skein.User, b skein.Batch) ([]skein.Batch, error) {
	imported, err := c.imported(ctx, u, b)
	if err != nil {
		return nil, err
	}
	var all []skein.Batch
	for i, e := range b.Events {
		im := imported[i]
		if n := len(all); n == 0 || (all[n-1].Import != nil) != (im != nil) {
			after := b.After
			if i > 0 {
				after = e.Seq - 1
			}
			all = append(all, skein.Batch{Session: c.place(b.Session), After: after, Import: im, Again: b.Again})
		}
		last := &all[len(all)-1]
		last.Events = append(last.Events, e)
		blobs, err := c.newBlobs(ctx, u, b.Session, e)
		if err != nil {
			return nil, err
		}
		last.Blobs = append(last.Blobs, blobs...)
	}
	return all, nil
}

// newBlobs returns the blobs that e refers to and that were not stored yet in
// this run.
func (c *supplier) newBlobs(ctx context.Context, u skein.User, id skein.SessionID, e skein.Event) (blobs []skein.Blob, err error) {
	f, err := skein.FactsOf(e)
	if err != nil {
		return nil, err
	}
	for _, h := range f.Blobs {
		if c.blobs[u][h] {
			continue
		}
		data, err := c.blob(ctx, id, h)
		if errors.Is(err, skein.ErrCorrupt) {
			c.hurt(fmt.Sprintf("session %s: blob %s", id, h))
			continue
		}
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, skein.Blob{Hash: h, Data: data})
		if c.blobs[u] == nil {
			c.blobs[u] = map[skein.Hash]bool{}
		}
		c.blobs[u][h] = true
	}
	return blobs, nil
}

// blob reads a blob of a session. If the session was deleted, a fork has the blob.
func (c *supplier) blob(ctx context.Context, id skein.SessionID, h skein.Hash) ([]byte, error) {
	data, err := c.from.Blob(ctx, id, h)
	if !errors.Is(err, skein.ErrNotFound) {
		return data, err
	}
	for _, k := range c.sessions {
		if k.Parent != nil && k.Parent.Session == id {
			if data, ferr := c.blob(ctx, k.ID, h); ferr == nil {
				return data, nil
			}
		}
	}
	return nil, err
}

// imported returns, for each event of b, what to store about its file; nil for
// events that did not come from an import.
func (c *supplier) imported(ctx context.Context, u skein.User, b skein.Batch) ([]*skein.Import, error) {
	all := make([]*skein.Import, len(b.Events))
	var keys []skein.ClientID
	for _, e := range b.Events {
		if e.ClientID != "" {
			keys = append(keys, e.ClientID)
		}
	}
	if len(keys) == 0 {
		return all, nil
	}
	found, err := skein.SourcesOf(c.from.As(u)).Find(ctx, keys)
	if err != nil || len(found) == 0 {
		return all, err
	}
	file, err := c.fileOf(ctx, u, b.Session)
	if err != nil || file == nil {
		return all, err
	}
	for i, e := range b.Events {
		if p, ok := found[e.ClientID]; ok && p.Session == b.Session && p.Seq == e.Seq {
			all[i] = &skein.Import{File: *file}
		}
	}
	return all, nil
}

// fileOf returns what the second store is to know, or knows, about the file that
// a session came from, before its records are there; nil if there is none.
func (c *supplier) fileOf(ctx context.Context, u skein.User, id skein.SessionID) (*skein.SourceFile, error) {
	k := c.sessions[id]
	if k == nil || k.Origin == nil {
		return nil, nil //nolint:nilnil // documented
	}
	key := fileKey{u, k.Origin.Format, k.Origin.Path}
	if f, ok := c.files[key]; ok {
		return f, nil
	}
	f, err := skein.SourcesOf(c.from.As(u)).File(ctx, key.format, key.path)
	if errors.Is(err, skein.ErrNotFound) {
		c.files[key] = nil
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	has, err := skein.SourcesOf(c.to.As(c.whose(u))).File(ctx, key.format, key.path)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		f = c.givenFile(f)
		f.Offset, f.Records, f.Damaged, f.State = 0, 0, 0, nil
		has = f
	case err != nil:
		return nil, err
	}
	c.files[key] = &has
	return &has, nil
}
