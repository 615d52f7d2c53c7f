package sessionlog

import (
	"os"

	"github.com/skein-dev/skein"
)

// Remove removes the log of session id of user u, if there is one. It is for a
// session that was purged.
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
// store must be told too, with a [ClearedEvent]; the writer of the log notices
// it with the next event.
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
