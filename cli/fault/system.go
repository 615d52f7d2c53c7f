package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// systemHints maps what the system says of a file, a folder or an address to what a
// person can do next; the first match counts.
var systemHints = []struct {
	err  error
	hint string
}{
	{syscall.ENOTDIR, "a file stands where the path needs a folder: name another place"},
	{syscall.EISDIR, "it is a folder: name a file"},
	{syscall.EROFS, "nothing can be written there: name another place"},
	{syscall.ENOSPC, "make room on the disk, or name another place"},
	{syscall.ENAMETOOLONG, "name a shorter path"},
	{syscall.ELOOP, "its symbolic links lead in a circle: name another place"},
	{syscall.EMFILE, "let programs open more files: ulimit -n 4096"},
	{syscall.EADDRINUSE, "another program listens there: stop it, or name another address"},
	{syscall.EADDRNOTAVAIL, "this machine does not have that address: name one of its own, such as 127.0.0.1:7777"},
	{syscall.ECONNREFUSED, "see whether the server runs at that address"},
	{fs.ErrPermission, "give yourself the right to it, or name another place"},
	{fs.ErrExist, "name another, or move what is there away"},
}

// systemHint returns what a person can do about an error of the system's; "" if err is
// none.
func systemHint(err error) string {
	for _, h := range systemHints {
		if errors.Is(err, h.err) {
			return h.hint
		}
	}
	var path *fs.PathError
	var name *net.DNSError
	var address *net.AddrError
	var cert *tls.CertificateVerificationError
	var signer x509.UnknownAuthorityError
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &path) && path.Op == "mkdir":
		return "no folder can be made there: name another place"
	case errors.Is(err, fs.ErrNotExist):
		return "see whether the name is right, and whether the folder is there"
	case errors.As(err, &name):
		return "see whether the name is right, and whether the network is there"
	case errors.As(err, &address):
		return "write an address as HOST:PORT, such as 127.0.0.1:7777"
	case errors.As(err, &cert), errors.As(err, &signer):
		return "see whether it is the right address; if it is, let this machine trust the certificate"
	case errors.As(err, &path):
		return "see whether the disk is in order, or name another place"
	}
	return ""
}

// plainly returns text, the words for err, with what the system reports in them in plain
// words: the file or the address, unless the rest of text names it, and the cause. The
// names of system calls are left out.
func plainly(text string, err error) string {
	said, place, cause := reported(err)
	if said != "" {
		rest := strings.Replace(text, said, "", 1)
		if place == "" || strings.Contains(rest, place) {
			place = ""
		} else {
			place += ": "
		}
		return strings.Replace(text, said, place+cause, 1)
	}
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked here, node by node
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			text = plainly(text, part)
		}
	case interface{ Unwrap() error }:
		if part := e.Unwrap(); part != nil {
			text = plainly(text, part)
		}
	}
	return text
}

// reported returns the text of an error of the system's, what it is about, and the
// cause in plain words; "" if err itself is not one.
func reported(err error) (said, place, cause string) {
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked here, node by node
	case *fs.PathError:
		return e.Error(), e.Path, e.Err.Error()
	case *net.OpError:
		if e.Addr != nil {
			place = e.Addr.String()
		}
		return e.Error(), place, causeOf(e.Err)
	case *net.DNSError:
		return e.Error(), e.Name, e.Err
	case *url.Error:
		return e.Error(), e.URL, causeOf(e.Err)
	case *tls.CertificateVerificationError:
		return e.Error(), "", "its certificate cannot be trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
	}
	return "", "", ""
}

// causeOf returns err in plain words, without the name of a system call.
func causeOf(err error) string {
	if call := (*os.SyscallError)(nil); errors.As(err, &call) {
		return call.Err.Error()
	}
	return plainly(err.Error(), err)
}
