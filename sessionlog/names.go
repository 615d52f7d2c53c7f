package sessionlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skein-dev/skein"
)

var (
	foreign = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)
	plainID = regexp.MustCompile(`^[a-z0-9_-]{1,100}$`)
	device  = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

const ext = ".jsonl"

// clean returns name made of a-z, A-Z, 0-9, _ and -; perhaps "".
func clean(name string) string {
	s := strings.Trim(foreign.ReplaceAllString(strings.TrimSpace(name), "_"), "_")
	return s[:min(len(s), 100)]
}

// hashed returns clean(name) with a hash of name, which no other name has.
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
	if s := string(id); plainID.MatchString(s) && !device.MatchString(s) {
		return s + ext
	}
	return hashed(string(id), "session") + ext
}

// userFile has, in the folder of a user's logs, the user's name.
const userFile = ".user"

// folder returns the folder of u's logs, which need not be there.
func folder(dir string, u skein.User) (string, error) {
	name := clean(string(u))
	if name == "" || device.MatchString(name) {
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

// makeFolder returns the folder of u's logs, and makes it.
func makeFolder(dir string, u skein.User) (string, error) {
	for range 2 { // the second time, if another user took the name meanwhile
		path, err := folder(dir, u)
		if err != nil {
			return "", err
		}
		if err := os.MkdirAll(path, 0o700); err != nil {
			return "", err
		}
		f, err := os.OpenFile(filepath.Join(path, userFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, u)
			return path, errors.Join(err, f.Close())
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if again, err := folder(dir, u); err != nil || again == path {
			return path, err
		}
	}
	return "", fmt.Errorf("%w: folder of user %q", skein.ErrExists, u)
}

// Path returns where the log of session id of user u is, or would be.
//
// The error is the file system's.
func Path(dir string, u skein.User, id skein.SessionID) (string, error) {
	path, err := folder(dir, u)
	return filepath.Join(path, fileName(id)), err
}
