package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

// A changeWatcher notices what other processes commit: the system reports
// writes to the -wal file, and SQLite's data_version then says whether
// something was committed. It does nothing while nothing is written.
type changeWatcher struct {
	conn    *engine.Conn
	readers *engine.Pool
	notify  *fsnotify.Watcher // nil if the system has none left: then it polls
	log     string            // the file whose writes count
	file    string            // the database
	wake    func()
	inPlace func() error // reports whether the file is still the one at its path
	seen    int64        // data_version
	stop    chan struct{}
	done    chan struct{}
}

// looks are the delays after which a changeWatcher looks once it was notified of a
// write: the commit becomes visible only some time later, when it is on disk.
var looks = [...]time.Duration{
	0, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	40 * time.Millisecond, 80 * time.Millisecond, 160 * time.Millisecond, 640 * time.Millisecond, 3 * time.Second,
}

// pollEvery is how often it looks where the system sends no notifications.
const pollEvery = 50 * time.Millisecond

func newChangeWatcher(c *core, wake func()) (*changeWatcher, error) {
	dir, log := host.WakePlace(c.path)
	l := &changeWatcher{readers: c.readers, log: log, file: filepath.Base(c.path), wake: wake, inPlace: c.paths.Check, stop: make(chan struct{}), done: make(chan struct{})}
	if n, err := fsnotify.NewWatcher(); err == nil {
		if err := n.Add(dir); err == nil {
			l.notify = n
		} else if err := n.Close(); err != nil {
			return nil, err
		}
	}
	var err error
	if l.conn, err = c.readers.Open(); err == nil {
		_, err = l.look()
	}
	if err != nil {
		return nil, errors.Join(err, l.end())
	}
	go l.run()
	return l, nil
}

// close ends the changeWatcher and waits until it has ended.
func (l *changeWatcher) close() {
	close(l.stop)
	<-l.done
}

func (l *changeWatcher) end() error {
	var errs []error
	if l.notify != nil {
		errs = append(errs, l.notify.Close())
	}
	if l.conn != nil {
		errs = append(errs, l.conn.Close())
	}
	return errors.Join(errs...)
}

// look reports whether another connection has committed since the last look.
func (l *changeWatcher) look() (changed bool, err error) {
	if l.readers.Stale(l.conn) {
		conn, err := l.readers.Open()
		if err != nil {
			return false, err
		}
		if err := l.conn.Close(); err != nil {
			return false, err
		}
		l.conn, l.seen = conn, 0
	}
	var v int64
	_, err = l.conn.One("PRAGMA data_version", nil, &v)
	changed = v != l.seen
	l.seen = v
	return changed, err
}

func (l *changeWatcher) run() {
	defer close(l.done)
	defer l.end() //nolint:errcheck // nobody is left to tell
	if l.notify == nil {
		l.poll()
		return
	}
	next := len(looks) // index of the next look; len(looks) for none
	timer := time.NewTimer(0)
	defer timer.Stop()
	told := func() {
		if next == 0 || next == 1 {
			return // a look is due in a moment
		}
		wait := looks[0]
		if next < len(looks) {
			wait = looks[1] // it has just looked
		}
		next = 0
		timer.Reset(wait)
	}
	for {
		select {
		case <-l.stop:
			return
		case e := <-l.notify.Events:
			if l.counts(e) {
				told()
			}
		case <-l.notify.Errors: //nolint:errcheck // such as: too many writes to tell them all
			told()
		case <-timer.C:
			l.lookAndWake()
			if next++; next < len(looks) {
				timer.Reset(looks[next])
			}
		}
	}
}

// poll looks every pollEvery.
func (l *changeWatcher) poll() {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.lookAndWake()
		}
	}
}

func (l *changeWatcher) lookAndWake() {
	if changed, err := l.look(); changed || errors.Join(err, l.inPlace()) != nil {
		l.wake()
	}
}

// counts reports whether a notification may mean a commit, or the end of the file.
func (l *changeWatcher) counts(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	return strings.EqualFold(name, l.log) || strings.EqualFold(name, l.file) && !e.Has(fsnotify.Write)
}
