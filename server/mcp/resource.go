package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

const (
	scheme = "skein://session/"
)

// resources registers sessions as resources. The list is read from the store
// each time.
func (s *toolset) resources(m *sdk.Server) {
	m.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "session", Title: "A session", URITemplate: scheme + "{id}", MIMEType: "text/plain",
		Description: "The newest messages of a session, framed as data",
	}, s.resource)
	m.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "resources/list" {
				return s.listed(ctx, req)
			}
			return next(ctx, method, req)
		}
	})
}

// listed answers with the list of resources.
func (s *toolset) listed(ctx context.Context, req sdk.Request) (sdk.Result, error) {
	cursor := ""
	if p, ok := req.GetParams().(*sdk.ListResourcesParams); ok && p != nil {
		cursor = p.Cursor
	}
	before, err := sessionCursor(cursor)
	if err != nil {
		return nil, err
	}
	out, last := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{CacheScope: private}}, (*skein.Session)(nil)
	for x, err := range s.store.Sessions(ctx, skein.Filter{Before: before, Limit: manySessions + 1}) {
		if err != nil {
			return nil, err
		}
		if len(out.Resources) == manySessions {
			out.NextCursor = cursorOf(last)
			break
		}
		out.Resources = append(out.Resources, &sdk.Resource{
			URI: scheme + url.PathEscape(string(x.ID)), Name: string(x.ID), Title: s.short(x.Name()), MIMEType: "text/plain",
			Description: fmt.Sprintf("%d messages", x.Messages),
		})
		last = &x
	}
	return out, nil
}

// resource answers with the newest messages of a session.
func (s *toolset) resource(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	rest, _ := strings.CutPrefix(uri, scheme)
	id, err := url.PathUnescape(rest)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if _, err := s.store.Session(ctx, skein.SessionID(id)); errors.Is(err, skein.ErrNotFound) {
		return nil, sdk.ResourceNotFoundError(uri)
	} else if err != nil {
		return nil, err
	}
	r, err := s.read(ctx, readIn{Session: id, Limit: 200})
	if err != nil {
		return nil, err
	}
	text := r.Content[0].(*sdk.TextContent).Text
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
}
