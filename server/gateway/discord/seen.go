package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// A place is how far a channel was read.
type place struct {
	Last   string `json:"last"`             // ID of the newest message that was handled
	Direct bool   `json:"direct,omitempty"` // a direct channel: all messages in it are for the bot
}

// seen records how far each channel was read, in a file. It is not safe for
// concurrent use.
type seen struct {
	file string
	at   map[string]place // by channel
}

// readSeen reads the file, which may be missing.
func readSeen(file string) (seen, error) {
	s := seen{file: file, at: map[string]place{}}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s.at); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// all returns the newest message of each channel.
func (s *seen) all() map[string]string {
	all := make(map[string]string, len(s.at))
	for channel, p := range s.at {
		all[channel] = p.Last
	}
	return all
}

// guild reports whether a channel is known to be a guild's: messages that are
// requested do not say so.
func (s *seen) guild(channel string) bool {
	p, ok := s.at[channel]
	return ok && !p.Direct
}

// put records that a message was handled; a message older than the newest
// changes nothing.
func (s *seen) put(channel, id string, direct bool) error {
	if old := s.at[channel].Last; len(id) < len(old) || len(id) == len(old) && id <= old {
		return nil
	}
	next := maps.Clone(s.at)
	next[channel] = place{id, direct}
	if err := os.WriteFile(s.file+".new", skein.MustJSON(next), 0o600); err != nil {
		return err
	}
	if err := os.Rename(s.file+".new", s.file); err != nil {
		return err
	}
	s.at = next
	return nil
}
