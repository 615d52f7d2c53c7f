package sessionlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
)

const ext = ".jsonl"

// maxName is the longest file name made from another name, in bytes, without
// its hash and extension.
const maxName = 100

// allowed reports whether c may occur in a name.
func allowed(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// clean returns name reduced to a-z, A-Z, 0-9, _ and -; it may be "".
func clean(name string) string {
	var b []byte
	for _, c := range []byte(strings.TrimSpace(name)) {
		switch {
		case allowed(c):
			b = append(b, c)
		case len(b) == 0 || b[len(b)-1] != 0:
			b = append(b, 0)
		}
	}
	s := strings.Trim(strings.ReplaceAll(string(b), "\x00", "_"), "_")
	return s[:min(len(s), maxName)]
}

// plain reports whether name can be used unchanged on every file system, and no
// other name is equal to it there.
func plain(name string) bool {
	return name != "" && len(name) <= maxName && clean(name) == name && strings.ToLower(name) == name && !device(name)
}

// device reports whether Windows reserves name.
func device(name string) bool {
	switch strings.TrimRight(strings.ToLower(name), "0123456789") {
	case "con", "prn", "aux", "nul", "com", "lpt":
		return true
	}
	return false
}

// hashed returns clean(name) with a hash of name, which makes it unique.
func hashed(name, otherwise string) string {
	h := sha256.Sum256([]byte(name))
	s := clean(name)
	if s == "" {
		s = otherwise
	}
	return s + "-" + hex.EncodeToString(h[:4])
}

// fileName returns the name of the log of session id.
func fileName(id skein.SessionID) string {
	if plain(string(id)) {
		return string(id) + ext
	}
	return hashed(string(id), "session") + ext
}

// userFile is the file in the folder of a user's logs that has the user's name.
const userFile = ".user"

// folder returns the folder of u's logs, which need not exist.
func folder(dir string, u skein.User) (string, error) {
	name := clean(string(u))
	if name == "" || device(name) {
		return filepath.Join(dir, hashed(string(u), "user")), nil
	}
	path := filepath.Join(dir, name)
	owner, err := os.ReadFile(filepath.Join(path, userFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", err
	case strings.TrimSuffix(string(owner), "\n") != string(u):
		return filepath.Join(dir, hashed(string(u), "user")), nil
	}
	return path, nil
}

// makeFolder returns the folder of u's logs, and creates it.
func makeFolder(dir string, u skein.User) (string, error) {
	for range 2 { // a second time if another user took the name meanwhile
		path, err := folder(dir, u)
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return "", err
		}
		if err := takeFolder(path, u); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		if again, err := folder(dir, u); err != nil || again == path {
			return path, err
		}
	}
	return "", fmt.Errorf("%w: folder of user %q", skein.ErrExists, u)
}

// takeFolder records in a folder which user it belongs to, atomically. The
// error wraps [fs.ErrExist] if the folder belongs to somebody already.
func takeFolder(path string, u skein.User) error {
	f, err := os.CreateTemp(path, userFile+"-*") // 0600
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, u)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(f.Name(), filepath.Join(path, userFile))
	}
	return errors.Join(err, os.Remove(f.Name()))
}

// Path returns the path of the log of session id of user u, which need not
// exist.
//
// The error is the file system's.
func Path(dir string, u skein.User, id skein.SessionID) (string, error) {
	path, err := folder(dir, u)
	return filepath.Join(path, fileName(id)), err
}
