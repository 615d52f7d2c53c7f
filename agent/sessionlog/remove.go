package sessionlog

import (
	"os"

	"github.com/skein-dev/skein"
)

// Remove removes the log of session id of user u, if there is one: for a
// session that was destroyed.
//
// The error is the file system's.
func Remove(dir string, u skein.User, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "log of %s: remove", id)
	path, err := Path(dir, u, id)
	if err != nil {
		return err
	}
	return gone(os.Remove(path))
}

// Empty empties the log of session id of user u at once, if there is one. The
// store must say so too, with a [ClearedEvent]; whoever writes the log sees
// that with the next event.
//
// The error is the file system's.
func Empty(dir string, u skein.User, id skein.SessionID) (err error) {
	defer skein.Wrapf(&err, "log of %s: empty", id)
	path, err := Path(dir, u, id)
	if err != nil {
		return err
	}
	return gone(os.Truncate(path, 0))
}
