package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/internal/jsonedit"
	"github.com/skein-dev/skein/internal/tomledit"
)

// A fileEdit is what setup does to one file: it adds values to a file of somebody
// else, or makes one of its own.
type fileEdit struct {
	Agent string              `json:"agent,omitempty"` // whose file it is; "" for skein's own
	What  string              `json:"what"`            // for people, such as "MCP server"
	Path  string              `json:"path"`            // absolute
	JSON  []jsonedit.Addition `json:"json,omitempty"`
	TOML  []tomledit.Table    `json:"toml,omitempty"`
	Text  string              `json:"text,omitempty"`  // the whole file, if it is setup's own
	Shell string              `json:"shell,omitempty"` // lines at the beginning of a script for a shell

	Optional bool `json:"-"` // if the person has another one, that one stays
}

// A done is a change that was made.
type done struct {
	fileEdit
	At      time.Time `json:"at"`
	Existed bool      `json:"existed"`
	Before  []byte    `json:"before,omitempty"` // the file's bytes, if it existed
	After   string    `json:"after"`            // SHA-256 of the file as it was written
	Folder  string    `json:"folder,omitempty"` // the outermost folder that was made for it
}

// errOwners means that a file that setup made was changed by its owner.
var errOwners = errors.New("was changed since by somebody else")

// plan returns the bytes that the file will have. It notes in c what is new.
//
// The error wraps [jsonedit.ErrTaken] or [tomledit.ErrTaken] if the file says
// something else there, errNoShell if the script is not for a shell, and [fs.ErrExist] if somebody else's file is where setup's
// own would be.
func (c *fileEdit) plan(now []byte, exists bool) ([]byte, error) {
	if c.Text != "" {
		if exists && string(now) != c.Text {
			return nil, fs.ErrExist
		}
		return []byte(c.Text), nil
	}
	if c.Shell != "" {
		return withShell(now, c.Shell)
	}
	var err error
	for i := range c.JSON {
		if now, err = jsonedit.Add(now, &c.JSON[i]); err != nil {
			return nil, err
		}
	}
	for i := range c.TOML {
		if now, err = tomledit.Add(now, &c.TOML[i]); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// write writes a file, and makes the folder that it is in.
func (c *fileEdit) write(text []byte) error {
	path, _, exists, err := current(c.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := config.ReplaceFile(path, text); err != nil || exists || c.Shell == "" {
		return err
	}
	return os.Chmod(path, 0o755) //nolint:gosec // a script that is to be run
}

// undo takes a change back: if nobody changed the file since, it has the bytes of
// before again, or is gone again; otherwise only what setup added goes.
//
// The error wraps errOwners if somebody changed what setup made itself.
func (d *done) undo() error {
	path, now, exists, err := current(d.Path)
	if err != nil || !exists {
		return err
	}
	if sum(now) == d.After {
		if !d.Existed {
			return errors.Join(os.Remove(path), d.removeFolders())
		}
		return config.ReplaceFile(path, d.Before)
	}
	if d.Text != "" {
		return errOwners
	}
	left, err := d.without(now)
	switch {
	case err != nil || bytes.Equal(left, now):
		return err
	case !d.Existed && (len(bytes.Trim(left, "{} \n")) == 0 || string(left) == shebang):
		return errors.Join(os.Remove(path), d.removeFolders())
	}
	return config.ReplaceFile(path, left)
}

// removeFolders removes the folders that were made for the file and are empty.
func (d *done) removeFolders() error {
	for dir := filepath.Dir(d.Path); d.Folder != ""; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := os.Remove(dir); err != nil || dir == d.Folder {
			return err
		}
	}
	return nil
}

// newFolder returns the outermost folder that has to be made for a file; "" if none.
func newFolder(path string) (made string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return made
		}
		made = dir
	}
}

// without returns the bytes of a file without what the change added to it.
func (d *done) without(now []byte) ([]byte, error) {
	now = bytes.Replace(now, []byte(d.Shell), nil, min(len(d.Shell), 1))
	var err error
	for i := len(d.TOML) - 1; i >= 0; i-- {
		if now, _, err = tomledit.Remove(now, d.TOML[i]); err != nil {
			return nil, err
		}
	}
	for i := len(d.JSON) - 1; i >= 0; i-- {
		if now, _, err = jsonedit.Remove(now, d.JSON[i]); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// A condition is the state of a change.
type condition string

const (
	inPlace condition = "in place"
	partly  condition = "changed since" // the file does not have all of it
	missing condition = "gone"
)

// look returns the state of the change.
func (d *done) look() (condition, error) {
	_, now, exists, err := current(d.Path)
	switch {
	case err != nil:
		return "", err
	case !exists:
		return missing, nil
	case sum(now) == d.After:
		return inPlace, nil
	case d.Text != "":
		return partly, nil
	}
	c := d.fileEdit
	c.JSON, c.TOML = append([]jsonedit.Addition(nil), c.JSON...), append([]tomledit.Table(nil), c.TOML...)
	if again, err := c.plan(now, true); err == nil && bytes.Equal(again, now) {
		return inPlace, nil
	}
	return partly, nil
}

// current returns the bytes of a file, and where it really is, which differs if
// path is a symbolic link, as with people who keep such files elsewhere.
func current(path string) (real string, b []byte, exists bool, err error) {
	real, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, lerr := os.Lstat(path); lerr == nil {
			return path, nil, false, fmt.Errorf("%s is a symbolic link to a file that does not exist", path)
		}
		return path, nil, false, nil
	}
	if err == nil {
		b, err = os.ReadFile(real)
	}
	return real, b, err == nil, err
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// A journal is what setup has done, in a file of skein's own, in the order in
// which it was done.
type journal struct {
	path string
	All  []done `json:"changes"`
}

func readJournal(path string) (*journal, error) {
	j := &journal{path: path}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(b, j)
	}
	if err != nil {
		return nil, fmt.Errorf("what setup did cannot be read from %s: %w", path, err)
	}
	return j, nil
}

// prepare returns what a change will do, and the bytes that the file will have;
// nil if there is nothing to do. What the journal has of the same change, from an
// earlier place of this program for example, is replaced.
//
// The error is as for plan.
func (j *journal) prepare(c fileEdit, at time.Time) (*done, []byte, error) {
	_, now, exists, err := current(c.Path)
	if err != nil {
		return nil, nil, err
	}
	if again, err := c.plan(now, exists); exists && err == nil && bytes.Equal(again, now) {
		return nil, nil, nil
	}
	d := &done{fileEdit: c, At: at, Existed: exists, Before: now, Folder: newFolder(c.Path)}
	if i := j.find(c); i >= 0 && exists {
		was := j.All[i]
		d.Folder = was.Folder
		switch {
		case sum(now) == was.After:
			d.Existed, d.Before = was.Existed, was.Before
		case c.Text == "":
			d.Existed = was.Existed
			if d.Before, err = was.without(now); err != nil {
				return nil, nil, err
			}
		}
	}
	after, err := d.plan(d.Before, d.Existed)
	if err != nil || exists && bytes.Equal(now, after) {
		return nil, nil, err
	}
	d.After = sum(after)
	return d, after, nil
}

// find returns the index of the same change in the journal; -1 if it has none.
func (j *journal) find(c fileEdit) int {
	return slices.IndexFunc(j.All, func(d done) bool { return d.Path == c.Path && d.What == c.What })
}

// do makes a change. It is in the journal before the file is written, so that it
// can always be undone.
func (j *journal) do(c fileEdit, at time.Time) error {
	d, after, err := j.prepare(c, at)
	if err != nil || d == nil {
		return err
	}
	if i := j.find(c); i >= 0 { // in its place: what made a folder is undone last
		j.All[i] = *d
	} else {
		j.All = append(j.All, *d)
	}
	if err := j.save(); err != nil {
		return err
	}
	return c.write(after)
}

// save writes the journal; one without changes is removed.
func (j *journal) save() error {
	if len(j.All) == 0 {
		if err := os.Remove(j.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	return config.ReplaceFile(j.path, append(b, '\n'))
}
