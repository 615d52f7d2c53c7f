package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
)

func TestAnErrorSaysItsCauseAndNotItsPath(t *testing.T) {
	act := func(err error, acts ...string) error {
		for _, a := range acts {
			skein.Wrapf(&err, "%s", a)
		}
		return err
	}
	dialed := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, c := range []struct {
		err  error
		want string
	}{
		{act(fmt.Errorf("session 01a2: fence 7, now it is 8: %w", skein.ErrFenced), "sqlite: append to 01a2", "agent: turn in 01a2"), "another program took this session over, so nothing more was stored here"},
		{act(fmt.Errorf("session nope %w", skein.ErrNotFound), "sqlite: session nope", `session "nope"`), "session nope not found"},
		{act(fmt.Errorf("%w: file is not a database (26)", skein.ErrCorrupt), "sqlite: open /x/skein.db"), "open /x/skein.db: stored data is damaged: file is not a database (26)"},
		{act(errors.New("disk I/O error"), "sqlite: append to 01a2", "agent: turn in 01a2"), "disk I/O error"},
		{act(errors.New("model is busy"), "agent: turn in 01a2"), "model is busy"},
		{fmt.Errorf("a.jsonl: line 7: %w", act(errors.New("disk I/O error"), "sqlite: append to 01a2")), "a.jsonl: line 7: disk I/O error"},
		{act(&fs.PathError{Op: "open", Path: "/a/b", Err: fs.ErrPermission}, "file /a/b"), "/a/b: permission denied"},
		{act(fmt.Errorf("%w: %w", skein.ErrReadOnly, errors.New("attempt to write a readonly database (1544)")), "sqlite: append to 01a2"), "store is read-only"},
		{act(fmt.Errorf("%w: want a name", skein.ErrInvalid), "sqlite: append to 01a2"), "want a name"},
		{fmt.Errorf("token %q: %w: want a name", "x", skein.ErrInvalid), `token "x": want a name`},
		{skein.Invalidf("name: it is empty"), "invalid name: it is empty"},
		{errors.Join(errors.New("unable to open"), errors.New("unable to open")), "unable to open"},
		{act(fmt.Errorf("the server cannot be reached: %w", dialed), "server http://127.0.0.1:1"), "server http://127.0.0.1:1: the server cannot be reached: connection refused"},
		{&url.Error{Op: "Post", URL: "http://127.0.0.1:1/v1", Err: dialed}, "http://127.0.0.1:1/v1: connection refused"},
		{&net.OpError{Op: "listen", Net: "tcp", Err: &net.AddrError{Err: "missing port in address", Addr: "x"}}, "address x: missing port in address"},
		{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nowhere", Server: "127.0.0.11:53"}}, "nowhere: no such host"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "its certificate cannot be trusted: certificate signed by unknown authority"},
		{errors.Join(act(skein.ErrFull, "sqlite: append to 01a2"), errors.New("other")), "disk is full\nother"},
		{act(fmt.Errorf("%w: %w", skein.ErrFull, errors.New("disk I/O error (4874)")), "sqlite: append to 01a2"), "disk is full"},
		{Advise(act(skein.ErrClosed, "memory: feed"), "go"), "store is closed"},
	} {
		if got := Sentence(c.err); got != c.want {
			t.Errorf("sentence(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}
