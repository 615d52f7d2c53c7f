package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
)

// keyOf returns the key that e gives to its session, or "" if it gives none.
func keyOf(e skein.Event) (key string) {
	if e.Kind != skein.KindCreated && e.Kind != skein.KindChanged {
		return ""
	}
	var f fields
	if json.Unmarshal(e.Payload, &f) != nil || json.Unmarshal(f["key"], &key) != nil {
		return ""
	}
	return key
}

// keysOf returns the keys that the events of b give to its session.
func keysOf(b skein.Batch) (keys []string) {
	for _, e := range b.Events {
		if key := keyOf(e); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// keyless returns e without the key that it gives to its session.
func keyless(e skein.Event) skein.Event {
	var f fields
	if keyOf(e) == "" || json.Unmarshal(e.Payload, &f) != nil {
		return e
	}
	delete(f, "key")
	e.Payload = skein.MustJSON(f)
	return e
}

// withoutTakenKeys stores a batch, without its keys if another session has one of
// them, and reports whether it left them behind.
func withoutTakenKeys(ctx context.Context, to skein.Store, b skein.Batch) (r []skein.Receipt, left bool, err error) {
	if r, err = to.Append(ctx, b); !errors.Is(err, skein.ErrExists) || len(keysOf(b)) == 0 {
		return r, false, err
	}
	b.Events = slices.Clone(b.Events)
	for i, e := range b.Events {
		b.Events[i] = keyless(e)
	}
	r, err = to.Append(ctx, b)
	return r, true, err
}
