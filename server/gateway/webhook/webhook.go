package webhook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/gateway"
)

// A Caller is a program that messages come from. It is a [gateway.Surface].
type Caller struct {
	Title  string           // name, as in the requests
	Secret []byte           // at least MinSecret bytes
	Keys   []string         // that it may write under; one that ends with * allows all keys that begin so
	URL    string           // where answers go; "": nowhere
	Client *http.Client     // nil is one with a timeout of 30 seconds
	Now    func() time.Time // nil is time.Now
}

// Name implements [gateway.Surface].
func (s *Caller) Name() string { return "inbox." + s.Title }

// Run implements [gateway.Surface]: messages come through [Routes].
func (s *Caller) Run(ctx context.Context, _ func(context.Context, gateway.Message) error) error {
	<-ctx.Done()
	return nil
}

// Check returns what is wrong with the source. The error wraps
// [skein.ErrInvalid].
func (s *Caller) Check() error {
	switch {
	case len(s.Secret) < MinSecret:
		return fmt.Errorf("%w source %q: a secret of %d bytes, want at least %d", skein.ErrInvalid, s.Title, len(s.Secret), MinSecret)
	case len(s.Keys) == 0:
		return fmt.Errorf("%w source %q: no keys that it may write under", skein.ErrInvalid, s.Title)
	}
	return nil
}

// may reports whether the source may write under key.
func (s *Caller) may(key string) bool {
	return slices.ContainsFunc(s.Keys, func(k string) bool {
		if begin, ok := strings.CutSuffix(k, "*"); ok {
			return strings.HasPrefix(key, begin)
		}
		return k == key
	})
}

// A place is where an answer goes: the gateway.Message.To of this surface.
type place struct {
	Key string `json:"key"`
	To  string `json:"to,omitempty"`
	ID  string `json:"id"`
}

// A delivery is the body of an answer.
type delivery struct {
	place
	Text string `json:"text"`
}

// Send implements [gateway.Surface].
func (s *Caller) Send(ctx context.Context, to, text string) error {
	if s.URL == "" {
		return nil
	}
	d := delivery{Text: text}
	if err := json.Unmarshal([]byte(to), &d.place); err != nil {
		return err
	}
	body := skein.MustJSON(d)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	Sign(r.Header, s.Title, s.Secret, body, s.now())
	client := cmp.Or(s.Client, &http.Client{Timeout: 30 * time.Second, CheckRedirect: stay})
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s", s.URL, res.Status)
	}
	return nil
}

// stay follows no redirect: the answer is only for that URL.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (s *Caller) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}
