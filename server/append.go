package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/batch"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

const (
	jsonType  = "application/json"
	linesType = "application/x-ndjson"
)

// appended is the answer to a batch.
type appended struct {
	Seqs []skein.Seq `json:"seqs" doc:"seqs of the events, whether new or already stored"`
	Last skein.Seq   `json:"last" doc:"the session's last seq"`
	New  int         `json:"new" doc:"number of events that are new"`
}

// appends registers the route that appends events.
func (a eventOps) appends(t *openapi.Table) {
	type in struct {
		openapi.Request
		Once
		ID    skein.SessionID `path:"id"`
		After skein.Seq       `query:"after" doc:"same as in the body; for JSON Lines"`
		Fence skein.Fence     `query:"fence" doc:"same as in the body; for JSON Lines"`
	}
	type out struct{ Body appended }
	openapi.Register(t, openapi.Operation{
		ID: "append-events", Method: http.MethodPost, Path: "/sessions/{id}/events", Tag: "events", Scope: door.Write, Status: http.StatusCreated,
		Body: door.MaxBatches, Types: []string{jsonType, linesType}, Summary: "Append events, all or none",
		Doc: "A 201 means that the events are on disk. An event whose client_id the session already has is not stored again, so a batch whose answer was lost can be sent again. " +
			"The first event of a session must be created. In " + linesType + ", each line is an event, or a blob: {\"hash\":…,\"data\":…}.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
		Takes:  []openapi.Media{openapi.BodyOf[newBatch](jsonType), openapi.BodyOf[newEvent](linesType), openapi.BodyOf[newBlob](linesType)},
	}, func(ctx context.Context, i *in) (*out, error) {
		b, err := a.batch(i.Call().Header("Content-Type"), i.Call().BodyReader())
		if err != nil {
			return nil, batch.Refused(ctx, i.Call().BodyReader(), err)
		}
		b.Session = i.ID
		if b.After == 0 {
			b.After = i.After
		}
		if b.Fence == 0 {
			b.Fence = i.Fence
		}
		if err := begins(ctx, &b.Events[0]); err != nil {
			return nil, err
		}
		got, err := i.append(ctx, door.From(ctx).Store, b, &a.overtaken)
		if err != nil {
			return nil, err
		}
		return &out{appended{got[0].Seqs, got[0].Last, got[0].New}}, nil
	})
}

// begins returns an error if e is the created event of a session that cannot hang on
// its parent.
func begins(ctx context.Context, e *skein.Event) error {
	if e.Kind != skein.KindCreated {
		return nil
	}
	c, err := skein.Decode[skein.Created](*e)
	if err != nil {
		return err
	}
	if c.Origin != nil {
		return nil
	}
	return hangsOn(ctx, door.From(ctx).Store, c.Parent)
}

// batch decodes a batch from the stream. Events without a time get the
// server's.
func (a eventOps) batch(contentType string, body io.Reader) (b skein.Batch, err error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && contentType != "" {
		return b, err
	}
	d := json.NewDecoder(body)
	if media == linesType {
		err = batch.ReadLines(d, &b)
	} else {
		err = batch.Read(d, &b)
	}
	if err == nil && len(b.Events) == 0 {
		err = fmt.Errorf("%w: no events", skein.ErrInvalid)
	}
	now := skein.At(a.Now())
	for i := range b.Events {
		if b.Events[i].Time == 0 {
			b.Events[i].Time = now
		}
	}
	return b, err
}
