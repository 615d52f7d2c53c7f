package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// pictures are the types that a browser may show as an image. Everything else,
// SVG included, is served as bytes.
func pictures() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// blobs registers the routes of blobs.
func (a *service) blobs(t *openapi.Table) {
	type in struct {
		ID   skein.SessionID `path:"id"`
		Hash skein.Hash      `path:"hash"`
		Have string          `header:"If-None-Match"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "get-blob", Method: http.MethodGet, Path: "/sessions/{id}/blobs/{hash}", Tag: "events", Scope: door.Read, Summary: "The bytes of a blob that an event of the session refers to",
		Doc: "As an attachment; its type is that of PNG, JPEG, GIF and WebP images by their bytes, and application/octet-stream for all else, which may have secrets in it and needs the scope read:raw.", Errors: []int{http.StatusNotModified, http.StatusNotFound},
		Gives: []openapi.Media{{Type: "application/octet-stream"}, {Type: "image/*"}},
	}, func(ctx context.Context, i *in) (*written, error) {
		b, err := door.From(ctx).Store.Blob(ctx, i.ID, i.Hash)
		if err != nil {
			return nil, err
		}
		if err := rawly(ctx, pictureType(b) == bytesType); err != nil {
			return nil, err
		}
		tag := `"` + string(i.Hash) + `"`
		return &written{func(c huma.Context) {
			c.SetHeader("ETag", tag)
			c.SetHeader("Cache-Control", "private, no-cache") // revalidated each time: the session may be gone
			if i.Have != "" && matches(i.Have, tag, wholly) {
				c.SetStatus(http.StatusNotModified)
				return
			}
			c.SetHeader("Content-Type", pictureType(b))
			c.SetHeader("Content-Length", strconv.Itoa(len(b)))
			c.SetHeader("Content-Disposition", "attachment")
			c.SetStatus(http.StatusOK)
			c.BodyWriter().Write(b) //nolint:errcheck // the client has gone
		}}, nil
	})
}

const bytesType = "application/octet-stream"

func pictureType(b []byte) string {
	if got := http.DetectContentType(b); slices.Contains(pictures(), got) {
		return got
	}
	return bytesType
}
