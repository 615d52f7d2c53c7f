package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skein-dev/skein/server/gateway/webhook"
)

// signed sends a signed request from the source mail to the server that serving
// started, and writes the response to stdout.
func signed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signed PATH BODY")
	}
	body := []byte(args[1])
	r, err := http.NewRequest(http.MethodPost, ts.Getenv("SERVER")+args[0], bytes.NewReader(body))
	ts.Check(err)
	r.Header.Set("Content-Type", "application/json")
	webhook.Sign(r.Header, "mail", []byte(ts.Getenv("MAIL_SECRET")), body, time.Now())
	res, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer res.Body.Close() //nolint:errcheck // it was read
	got, err := io.ReadAll(res.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(got)
	ts.Check(err)
}
