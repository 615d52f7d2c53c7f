package fault

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
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
