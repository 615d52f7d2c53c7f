package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/skein-dev/skein"
)

// Sockets are where the live sessions of a store are reached: each has a Unix socket in
// a folder that only its owner may enter. The zero value reaches none.
type Sockets struct {
	Dir   string     // the folder
	Store string     // the store's address, to tell the sessions of several apart
	User  skein.User // whose sessions: others may have sessions with the same IDs
}

// Of returns the sockets of a user's sessions.
func (s Sockets) Of(u skein.User) Sockets {
	s.User = u
	return s
}

// path returns the path of the socket of a session.
func (s Sockets) path(id skein.SessionID) string {
	sum := sha256.Sum256([]byte(s.Store + "\n" + string(s.User) + "\n" + string(id)))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8]))
}

// mostPath is the longest path that every system binds a socket to, in bytes: macOS's
// limit is 104, with a zero at the end.
const mostPath = 103

// address returns the address of the socket at path. If the path is too long for the
// system, the address leads through the open folder, which Linux can be asked for. done
// closes that.
func address(path string) (at string, done func(), err error) {
	if len(path) <= mostPath || runtime.GOOS != "linux" {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil //nolint:errcheck // it was only read
}

// listen listens for the guests of a session. The caller has the session's lease, so a
// socket that is there is from a process that has died.
func (s Sockets) listen(ctx context.Context, id skein.SessionID) (net.Listener, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	path := s.path(id)
	_ = os.Remove(path) //nolint:errcheck // there may be none; else listening fails
	at, done, err := address(path)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", at)
	if err != nil {
		return nil, err
	}
	own := &ownSocket{Listener: l, path: path}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	if err = os.Chmod(path, 0o600); err == nil {
		own.made, err = os.Lstat(path)
	}
	if err != nil {
		l.Close() //nolint:errcheck // nobody has come
		return nil, err
	}
	return own, nil
}

// An ownSocket removes its file when it is closed, but not that of another process which
// has taken the session over since.
type ownSocket struct {
	net.Listener
	path string
	made os.FileInfo
}

func (l *ownSocket) Close() error {
	if is, err := os.Lstat(l.path); err == nil && os.SameFile(is, l.made) {
		_ = os.Remove(l.path) //nolint:errcheck // the next process removes it
	}
	return l.Listener.Close()
}

// dial connects to the hub of a session.
//
// The error wraps [skein.ErrNotFound] if no process of this machine has the session open.
func (s Sockets) dial(ctx context.Context, id skein.SessionID) (net.Conn, error) {
	if s.Dir == "" {
		return nil, notHere(id)
	}
	at, done, err := address(s.path(id))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", notHere(id), err)
	}
	defer done()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", at)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", notHere(id), err)
	}
	return c, nil
}

func notHere(id skein.SessionID) error {
	return fmt.Errorf("session %s is not open in a program that this server reaches: only skein acp, on the same machine and of the same person: %w", id, skein.ErrNotFound)
}
