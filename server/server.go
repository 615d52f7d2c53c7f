package server

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein/door"
)

// Options are what the API is made of.
type Options struct {
	Version string
	Now     func() time.Time
}

// Routes returns the routes of the API.
func Routes(o Options) []door.Route {
	config := huma.DefaultConfig("skein", o.Version)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema in answers
	config.Transformers = []huma.Transformer{problems}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	t := &table{}
	t.api = huma.NewAPI(config, t)
	a := &service{o}
	a.sessions(t)
	a.messages(t)
	return append(t.routes, door.Route{Pattern: "GET /v1/openapi.json", Scope: door.Read, Handler: t.document()})
}

// service is what operations share.
type service struct{ Options }

// document answers with the OpenAPI document.
func (t *table) document() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := t.api.OpenAPI().MarshalJSON()
		if err != nil {
			door.Fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
		w.Write(b) //nolint:errcheck // the client has gone
	})
}
