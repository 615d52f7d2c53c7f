package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

// known is how long an answered message is remembered.
const known = 7 * 24 * time.Hour

// An inbox is a folder with a file for each message:
//
//	NANOSECONDS-NAME.json  came at that time, and was not answered yet
//	NANOSECONDS-NAME.done  came at that time, and was answered; empty
//
// The time has 20 digits, so that names sort as messages came. NAME is that of
// [Message.name].
type inbox struct {
	dir string
	now func() time.Time

	mu    sync.Mutex
	last  int64            // time of the newest message
	names map[string]int64 // time of each message, by name
}

// openInbox reads the folder, which is created if it is missing, and returns
// the unanswered messages, in the order in which they came.
func openInbox(dir string, now func() time.Time) (*inbox, []Message, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	files, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, nil, err
	}
	b := &inbox{dir: dir, now: now, names: map[string]int64{}}
	var waiting []Message
	for _, f := range files {
		at, name, kind, ok := parseName(f.Name())
		switch {
		case !ok:
			continue
		case kind == "json" && at >= now().Add(-known).UnixNano():
			m, err := readMessage(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, nil, err
			}
			waiting = append(waiting, m)
		}
		b.names[name] = at
		b.last = max(b.last, at)
	}
	return b, waiting, b.forget()
}

func parseName(file string) (at int64, name, kind string, ok bool) {
	stem, kind, _ := strings.Cut(file, ".")
	digits, name, _ := strings.Cut(stem, "-")
	at, err := strconv.ParseInt(digits, 10, 64)
	return at, name, kind, err == nil && name != "" && (kind == "json" || kind == "done")
}

func readMessage(path string) (m Message, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// put writes a message to the inbox, and reports whether it is new: false means
// that it came before.
func (b *inbox) put(m Message) (fresh bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.names[m.name()]; ok {
		return false, nil
	}
	at := max(b.now().UnixNano(), b.last+1)
	if err := writeWhole(b.path(at, m.name(), "json"), skein.MustJSON(m)); err != nil {
		return false, err
	}
	b.names[m.name()], b.last = at, at
	return true, nil
}

// done marks a message as answered; that it came is remembered.
func (b *inbox) done(m Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.names[m.name()]
	if !ok {
		return fmt.Errorf("%w: message %s", skein.ErrNotFound, m.name())
	}
	if err := os.WriteFile(b.path(at, m.name(), "done"), nil, 0o600); err != nil {
		return err
	}
	return errors.Join(os.Remove(b.path(at, m.name(), "json")), b.forget())
}

// forget removes messages that came too long ago to come again, or to be
// answered.
func (b *inbox) forget() error {
	before := b.now().Add(-known).UnixNano()
	var errs []error
	for name, at := range b.names {
		if at >= before {
			continue
		}
		delete(b.names, name)
		for _, kind := range []string{"json", "done"} {
			if err := os.Remove(b.path(at, name, kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

func (b *inbox) path(at int64, name, kind string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%020d-%s.%s", at, name, kind))
}

// writeWhole writes a file that is either complete or missing, even after a
// power failure.
func writeWhole(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
