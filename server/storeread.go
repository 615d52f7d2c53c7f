package server

import (
	"context"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// storeSessions registers the methods that return sessions.
func (a storeOps) storeSessions(t *openapi.Table) {
	ask(t, storeOperation("session", "A session by its ID", door.Read), func(ctx context.Context, s skein.Store, in ofSession) (skein.Session, error) {
		return s.Session(ctx, in.Session)
	})
	list(t, storeOperation("sessions", "The sessions that match a filter, latest first", door.Read), skein.Session{}, pieces[skein.Session],
		func(ctx context.Context, s skein.Store, in api.Filter) iter.Seq2[skein.Session, error] {
			return s.Sessions(ctx, skein.Filter(in))
		})
	type sizeInBytes struct {
		Bytes int64 `json:"bytes"`
	}
	ask(t, storeOperation("size", "The approximate size of a session on disk, in bytes", door.Read), func(ctx context.Context, s skein.Store, in ofSession) (sizeInBytes, error) {
		n, err := skein.LifecycleOf(s).Size(ctx, in.Session)
		return sizeInBytes{n}, err
	})
}

// pieces yields v as JSON.
func pieces[T any](v T) iter.Seq2[[]byte, error] { return skein.JSONPieces(v) }

// entryPieces yields e as JSON.
func entryPieces(e skein.Entry) iter.Seq2[[]byte, error] {
	out := api.EntryOf(e)
	return skein.JSONPieces(&out)
}

// eventPieces yields e as JSON.
func eventPieces(e skein.Event) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for b := range api.EventPieces(nil, e) {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// afterPlace is a request for what follows a seq in a session.
type afterPlace struct {
	Session skein.SessionID `json:"session"`
	After   skein.Seq       `json:"after,omitempty"`
}

// storeEvents registers the methods that return events and messages.
func (a storeOps) storeEvents(t *openapi.Table) {
	list(t, storeOperation("events", "The events of a session after a seq", door.Read), event{}, eventPieces,
		func(ctx context.Context, s skein.Store, in afterPlace) iter.Seq2[skein.Event, error] {
			return s.Events(ctx, in.Session, in.After)
		})
	type newestOf struct {
		Session skein.SessionID `json:"session"`
		N       int             `json:"n"`
		Before  skein.Seq       `json:"before,omitempty"`
	}
	list(t, storeOperation("newest", "The newest messages of a session", door.Read), api.Entry{}, entryPieces,
		func(ctx context.Context, s skein.Store, in newestOf) iter.Seq2[skein.Entry, error] {
			return each(s.Newest(ctx, in.Session, in.N, in.Before))
		})
	type windowOf struct {
		Session skein.SessionID `json:"session"`
		N       int             `json:"n"`
	}
	list(t, storeOperation("window", "The events from which the context can be computed", door.Read), event{}, eventPieces,
		func(ctx context.Context, s skein.Store, in windowOf) iter.Seq2[skein.Event, error] {
			return each(s.Window(ctx, in.Session, in.N))
		})
	type blobOf struct {
		Session skein.SessionID `json:"session"`
		Hash    skein.Hash      `json:"hash"`
	}
	type blobBytes struct {
		Data []byte `json:"data"`
	}
	ask(t, storeOperation("blob", "The bytes of a blob of a session", door.Read), func(ctx context.Context, s skein.Store, in blobOf) (blobBytes, error) {
		b, err := s.Blob(ctx, in.Session, in.Hash)
		return blobBytes{b}, err
	})
}

// each yields the values of a list, or the error.
func each[T any](list []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// storeFind registers search and usage.
func (a storeOps) storeFind(t *openapi.Table) {
	ask(t, storeOperation("search", "The hits of a query, best first", door.Read), func(ctx context.Context, s skein.Store, in api.Query) (api.Results, error) {
		in.Deadline = min(in.Deadline, longest)
		r, err := s.Search(ctx, in.Query())
		return api.ResultsOf(r), err
	})
	type usageRows struct {
		Rows []api.UsageRow `json:"rows"`
	}
	ask(t, storeOperation("usage", "Usage, summed up", door.Read), func(ctx context.Context, s skein.Store, in api.UsageQuery) (out usageRows, err error) {
		q := skein.UsageQuery{By: in.By, Then: in.Then, User: in.User, Sessions: in.Sessions, Project: in.Project, Repository: in.Repository, Agent: in.Agent, Since: in.Since, Until: in.Until}
		if q.Zone, err = api.Location(in.Zone); err != nil {
			return out, err
		}
		got, err := s.Usage(ctx, q)
		out.Rows = make([]api.UsageRow, len(got))
		for i, r := range got {
			out.Rows[i] = api.UsageRow(r)
		}
		return out, err
	})
	type clientIDs struct {
		Keys []skein.ClientID `json:"client_ids"`
	}
	type eventPlaces struct {
		Places []api.Place `json:"places"`
	}
	ask(t, storeOperation("find", "Where the events with these client IDs stand", door.Read), func(ctx context.Context, s skein.Store, in clientIDs) (eventPlaces, error) {
		got, err := skein.SourcesOf(s).Find(ctx, in.Keys)
		out := eventPlaces{Places: make([]api.Place, 0, len(got))}
		for id, p := range got {
			out.Places = append(out.Places, api.Place{ClientID: id, Session: p.Session, Seq: p.Seq})
		}
		slices.SortFunc(out.Places, func(a, b api.Place) int {
			if a.ClientID < b.ClientID {
				return -1
			}
			return 1
		})
		return out, err
	})
}

// storeSources registers the methods that return source files.
func (a storeOps) storeSources(t *openapi.Table) {
	type sourceName struct {
		Format string `json:"format"`
		Path   string `json:"path"`
	}
	ask(t, storeOperation("file", "What is stored about a source file", door.Read), func(ctx context.Context, s skein.Store, in sourceName) (api.File, error) {
		f, err := skein.SourcesOf(s).File(ctx, in.Format, in.Path)
		return api.File(f), err
	})
	putFile := func(f skein.SourceFile) iter.Seq2[[]byte, error] { return pieces(api.File(f)) }
	type sourceFormat struct {
		Format string `json:"format,omitempty"`
	}
	list(t, storeOperation("files", "The source files, by path", door.Read), api.File{}, putFile,
		func(ctx context.Context, s skein.Store, in sourceFormat) iter.Seq2[skein.SourceFile, error] {
			return skein.SourcesOf(s).Files(ctx, in.Format)
		})
	type sourcePart struct {
		Part string `json:"part"`
	}
	list(t, storeOperation("files-named", "The source files whose own ID begins or ends with a text", door.Read), api.File{}, putFile,
		func(ctx context.Context, s skein.Store, in sourcePart) iter.Seq2[skein.SourceFile, error] {
			return skein.SourcesOf(s).FilesNamed(ctx, in.Part)
		})
	type recordsFrom struct {
		Format string `json:"format"`
		Path   string `json:"path"`
		From   int    `json:"from,omitempty"`
	}
	list(t, storeOperation("records", "The records of a source file from a number on", door.Read), api.Record{}, func(r skein.Record) iter.Seq2[[]byte, error] { return pieces(api.Record(r)) },
		func(ctx context.Context, s skein.Store, in recordsFrom) iter.Seq2[skein.Record, error] {
			return skein.SourcesOf(s).Records(ctx, in.Format, in.Path, in.From)
		})
}
