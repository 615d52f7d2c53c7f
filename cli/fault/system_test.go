package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
)

func TestEveryErrorOfTheSystemComesWithAdvice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing := os.ReadFile(filepath.Join(dir, "none"))
	_, folder := os.ReadFile(dir)
	_, below := os.ReadFile(filepath.Join(file, "x"))
	_, address := net.ResolveTCPAddr("tcp", ":::x")
	for _, err := range []error{
		missing, folder, below, address,
		os.Mkdir(filepath.Join(dir, "none", "x"), 0o700),
		os.MkdirAll(filepath.Join(file, "x"), 0o700),
		os.Mkdir(file, 0o700),
		os.Rename(filepath.Join(dir, "none"), file),
		&fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES},
		&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EPERM},
		&fs.PathError{Op: "open", Path: "/x", Err: syscall.EROFS},
		&fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC},
		&fs.PathError{Op: "open", Path: "/x", Err: syscall.ELOOP},
		&fs.PathError{Op: "open", Path: "/x", Err: syscall.ENAMETOOLONG},
		&fs.PathError{Op: "open", Path: "/x", Err: syscall.EMFILE},
		&fs.PathError{Op: "read", Path: "/x", Err: syscall.EIO},
		&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)},
		&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", syscall.EADDRNOTAVAIL)},
		&net.DNSError{Err: "no such host", Name: "nowhere"},
		&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
	} {
		if err == nil {
			t.Fatal("a call that must fail did not")
		}
		skein.Wrapf(&err, "sqlite: open /x")
		if _, hint := Outcome(fmt.Errorf("there: %w", err), "skein x"); hint == "" {
			t.Errorf("%v comes without advice", err)
		}
	}
	if _, hint := Outcome(Advise(missing, "make it"), "skein x"); hint != "make it" {
		t.Errorf("advice of its own gives way to %q", hint)
	}
	if _, hint := Outcome(fmt.Errorf("%w: %w", skein.ErrReadOnly, missing), "skein x"); hint == systemHint(missing) {
		t.Errorf("the advice of a kind gives way to %q", hint)
	}
	if _, hint := Outcome(errors.New("x"), "skein x"); hint != "" {
		t.Errorf("an error of no known kind is advised with %q", hint)
	}
}
