package llm

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/skein-dev/skein"
)

// Data returns the bytes of f, which has a blob.
//
// The error wraps [ErrRequest] if the request has no way to them, or is that
// of its Blob.
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

// DataURL returns where f is: its URL, or one that has its bytes in it. Errors
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
