package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

const sendTime = 10 * time.Second

// A spanExporter sends spans to a collector.
type spanExporter struct {
	to     Endpoint
	log    *slog.Logger
	client *http.Client
	broken atomic.Bool // the failure was logged
}

func newExporter(o Options) *spanExporter {
	x := &spanExporter{to: o.Endpoint, log: o.Log, client: o.Client}
	if x.client == nil {
		x.client = &http.Client{
			Timeout:       sendTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are only for this server
		}
	}
	return x
}

// export sends spans. Those that cannot be sent are lost: that is logged once, until
// sending works again.
func (x *spanExporter) export(ctx context.Context, body wireRequest) {
	err := x.send(ctx, body)
	switch {
	case err != nil && !x.broken.Swap(true):
		x.log.Warn("traces are lost: the collector does not accept them", "err", err)
	case err == nil && x.broken.Swap(false):
		x.log.Warn("the collector accepts traces again")
	}
}

func (x *spanExporter) send(ctx context.Context, body wireRequest) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, x.to.URL, bytes.NewReader(text))
	if err != nil {
		return err
	}
	for name, values := range x.to.Headers {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	r.Header.Set("Content-Type", "application/json")
	a, err := x.client.Do(r)
	if err != nil {
		return err
	}
	defer a.Body.Close()                                                             //nolint:errcheck // it was read
	if _, err := io.CopyN(io.Discard, a.Body, 64<<10); err != nil && err != io.EOF { //nolint:errorlint // CopyN returns it as it is
		return err
	}
	if a.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s", r.URL.Host, a.Status)
	}
	return nil
}
