package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// Check reports an error wrapping [ErrRequest] if something in r that is sent
// unchanged is not valid JSON.
func (r *Request) Check() error {
	if len(r.Opaque) > 0 && !json.Valid(r.Opaque) {
		return fmt.Errorf("%w: opaque item %.40q is no JSON", ErrRequest, r.Opaque)
	}
	for _, t := range r.Tools {
		if !json.Valid(t.Schema) {
			return fmt.Errorf("%w: schema %.40q of tool %q is no JSON", ErrRequest, t.Schema, t.Name)
		}
	}
	for i, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Call != nil && !json.Valid(p.Call.Input) {
				return fmt.Errorf("%w: message %d: input %.40q of call %q is no JSON", ErrRequest, i, p.Call.Input, p.Call.ID)
			}
			if len(p.Raw) > 0 && !json.Valid(p.Raw) {
				return fmt.Errorf("%w: message %d: raw %s %.40q is no JSON", ErrRequest, i, p.Kind, p.Raw)
			}
		}
	}
	return nil
}

// Data returns the bytes of f, which has a blob.
//
// The error wraps [ErrRequest] if the request cannot read blobs, or is that of
// its Blob.
func (r *Request) Data(ctx context.Context, f *skein.File) ([]byte, error) {
	if r.Blob == nil {
		return nil, fmt.Errorf("%w: no way to the bytes of file %q", ErrRequest, f.Name)
	}
	data, err := r.Blob(ctx, f.Blob)
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", f.Name, err)
	}
	return data, nil
}

// DataURL returns a URL for f: its own, or one that contains its bytes. Errors
// as [Request.Data].
func (r *Request) DataURL(ctx context.Context, f *skein.File) (string, error) {
	if f.Blob == "" {
		return f.URL, nil
	}
	data, err := r.Data(ctx, f)
	if err != nil {
		return "", err
	}
	return "data:" + f.Media + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
