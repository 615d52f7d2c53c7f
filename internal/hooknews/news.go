package hooknews

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Folder is the name of the folder of a [Board] below skein's state folder.
const Folder = "hooks"

// keepFor is how long the news of a session is kept after the last of it.
const keepFor = 7 * 24 * time.Hour

// A News is what an agent's hooks last said about one session.
type News struct {
	Agent   string          `json:"agent"`          // the name of the agent's format
	Session string          `json:"session"`        // as the agent calls it
	File    string          `json:"file,omitempty"` // the transcript, absolute; "" if the agent does not say
	Cwd     string          `json:"cwd,omitempty"`  // where the agent works
	Event   string          `json:"event"`          // as the agent calls it
	State   skein.WorkState `json:"state,omitempty"`
	Tool    string          `json:"tool,omitempty"` // that runs, or that waits for a person
	Asks    skein.AskKind   `json:"asks,omitempty"` // waiting: what a person is asked
	Text    string          `json:"text,omitempty"` // what it waits for, or why it failed; at most 500 characters
	Since   time.Time       `json:"since"`          // when State and Tool became what they are
	At      time.Time       `json:"at"`             // when the hook ran
}

// halfWritten is how the name of a file begins that is being written.
const halfWritten = ".new-"

// A Board is a folder of news.
type Board string

// At returns the board below skein's state folder.
func At(state string) Board { return Board(filepath.Join(state, Folder)) }

func (b Board) name(agent, session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(string(b), agent+"-"+hex.EncodeToString(sum[:8])+".json")
}

// Put keeps n as the newest news of its session. News without a state leaves the
// state as it was; news that is older than what is kept changes nothing.
//
// The error is the file system's.
func (b Board) Put(n News) error {
	was, known := b.Of(n.Agent, n.Session)
	if known && was.At.After(n.At) {
		return nil
	}
	n.Since = n.At
	n.File = cmp.Or(n.File, was.File)
	reminds := n.State == skein.StateWaiting && was.State == n.State && n.Tool == "" // that a person was asked, but not what
	if n.State == "" || reminds {
		n.State, n.Tool, n.Asks, n.Text, n.Since = was.State, was.Tool, was.Asks, was.Text, was.Since
	} else if known && n.State == was.State && n.Tool == was.Tool {
		n.Since = was.Since
	}
	if err := os.MkdirAll(string(b), 0o700); err != nil {
		return err
	}
	if !known {
		b.forget(n.At.Add(-keepFor))
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return replace(b.name(n.Agent, n.Session), text)
}

// replace writes a file that readers never see half written. It is not synced: news
// does not outlive a crash of the machine.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), halfWritten+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// forget removes the files that were last written before a time.
func (b Board) forget(before time.Time) {
	entries, err := os.ReadDir(string(b))
	if err != nil {
		return
	}
	for _, e := range entries {
		if !IsNews(e.Name()) && !strings.HasPrefix(e.Name(), halfWritten) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(string(b), e.Name()))
		}
	}
}

// Of returns the news of one session, and false if there is none.
func (b Board) Of(agent, session string) (News, bool) {
	n, err := Read(b.name(agent, session))
	return n, err == nil && n.Session == session
}

// Read returns the news in one file of a board. The error is the file system's, or
// says that the file is no news.
func Read(path string) (n News, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err == nil && (n.Agent == "" || n.Session == "") {
		err = errors.New("no news: agent and session are missing")
	}
	return n, err
}

// All returns the news of all sessions, the newest first. A file that is no news is
// left out. The error is the file system's; a board that does not exist has no news.
func (b Board) All() ([]News, error) {
	entries, err := os.ReadDir(string(b))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []News
	for _, e := range entries {
		if !IsNews(e.Name()) {
			continue
		}
		if n, err := Read(filepath.Join(string(b), e.Name())); err == nil {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(x, y News) int { return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.Session, y.Session)) })
	return all, err
}

// IsNews reports whether a file of a board is named as news is.
func IsNews(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(filepath.Base(name), ".")
}
