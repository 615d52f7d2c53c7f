package server

import (
	"context"
	"path"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/door"
)

// Options are the settings of the API.
type Options struct {
	Store   skein.Store // the store of all users: readers of a stream share one reader of it; nil: each reads by itself
	Version string
	Now     func() time.Time
	Formats []interop.Format            // that imports recognize, as interop.Import takes them
	Prices  func() (*price.List, error) // called when prices are needed; nil: no cost is known
	Redact  *redact.Redactor            // masks secrets in what people read; nil: nothing is masked

	// Purged removes what is kept of a purged session outside the store; may be
	// nil.
	Purged func(skein.User, skein.SessionID) error

	// Ready returns why the server cannot do its work now; nil: it always can.
	Ready func(context.Context) error
}

// Routes returns the routes of the API.
func Routes(o Options) []door.Route {
	t := newTable(o.Version)
	a := &service{Options: o}
	t.veiled = a.veiledSession
	for _, add := range []func(*table){
		a.lists, a.sessions, a.patches, a.branches, a.bins, a.trees, a.prunes, a.exports, a.imports,
		a.messages, a.events, a.appends, a.streams, a.blobs, a.leases, a.searches, a.usages, a.store,
	} {
		add(t)
	}
	t.besides()
	shapes := t.api.OpenAPI().Components.Schemas.Map()
	delete(shapes, "ErrorModel") // huma's own: our errors are problems
	delete(shapes, "ErrorDetail")
	return append(append(t.routes, t.documents()...), a.ready())
}

func newTable(version string) *table {
	config := huma.DefaultConfig("skein", version)
	config.Info.Description = about
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.CreateHooks = nil // no $schema in answers
	config.Formats = map[string]huma.Format{"application/json": strictly(), "json": strictly()}
	config.Transformers = []huma.Transformer{problems}
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaNames())
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	t := &table{}
	t.api = huma.NewAPI(config, t)
	return t
}

const about = `The sessions of a skein store: what was said between people and agents, as events that are only ever appended.

Every request shows a token: Authorization: Bearer TOKEN. Errors are problems of RFC 9457; their code says which error it is, and each status means one thing. Lists come in pages: next_cursor goes into cursor. Times are UTC, 2026-11-21T04:36:00.123Z, and empty where they are not known. What belongs to another user is not found.`

// schemaNames returns a function that names types in the document. If two
// packages have a type of the same name, the later one is prefixed with its
// package.
func schemaNames() func(reflect.Type, string) string {
	named := map[string]reflect.Type{}
	return func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if was, ok := named[name]; ok && was != t {
			name = huma.DefaultSchemaNamer(t, "") + "-" + path.Base(t.PkgPath())
		}
		named[name] = t
		return name
	}
}

// service is what all operations share.
type service struct {
	Options
	hubs      hubs
	overtaken queues
}

// prices returns what models cost; nil if that is not known.
func (a *service) prices() (*price.List, error) {
	if a.Prices == nil {
		return nil, nil
	}
	return a.Prices()
}
