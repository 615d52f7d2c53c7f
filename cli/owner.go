package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	"github.com/skein-dev/skein"
)

// openAt opens the store of a file or a database.
func (j *job) openAt(ctx context.Context, p Place) (skein.Store, error) {
	if file := p.file(); file != "" {
		if err := fitsOwner(os.Geteuid(), file); err != nil {
			return nil, err
		}
	}
	return j.Open(ctx, p)
}

// fitsOwner returns an error if uid is root's, and the file at path, or the folder
// that it is or will be in, belongs to another user. That user can no longer change
// what root writes there, and can replace what root reads there.
func fitsOwner(uid int, path string) error {
	if uid != 0 {
		return nil // the system checks permissions
	}
	for at, below := path, ""; at != below; at, below = filepath.Dir(at), at {
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil //nolint:nilerr // who opens the file says it better
		}
		if owner, ok := ownerOf(info); ok && owner != uid {
			return ofAnother(at, owner)
		}
		if at != path {
			return nil // the nearest folder that exists
		}
	}
	return nil
}

// ofAnother returns the error that path belongs to a user other than root.
func ofAnother(path string, owner int) error {
	name, how := fmt.Sprintf("user %d", owner), fmt.Sprintf("in a container, docker run --user %d", owner)
	if u, err := user.LookupId(strconv.Itoa(owner)); err == nil {
		name, how = u.Username, "sudo -H -u "+u.Username+" skein …"
	}
	return advise(fmt.Errorf("%s belongs to %s, and you are root: %s could not use what root writes there", path, name, name),
		"run the command as %s: %s\nor give root files of its own: SKEIN_HOME=/root/skein", name, how)
}
