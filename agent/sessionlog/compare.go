package sessionlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
)

// difference says, for people, how the log at path differs from what it should
// be; "" if it does not.
func difference(ctx context.Context, st skein.Store, s skein.Session, path string) (what string, err error) {
	f, missing, err := openLog(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	c := comparison{in: f}
	if _, err = eachLine(st.Events(ctx, s.ID, s.Base), s, newKeeper(s, strings.NewReader("")), c.add, c.restart); err != nil {
		return "", err
	}
	return c.result(missing)
}

// A comparison compares a file with lines.
type comparison struct {
	in      io.ReadSeeker
	line    int
	differs int // first line that differs; 0 if none
	lacks   int // expected lines after the end of the file
}

func (c *comparison) add(b []byte) error {
	for line := range bytes.Lines(b) {
		c.line++
		if c.differs > 0 {
			continue
		}
		there := make([]byte, len(line))
		n, err := io.ReadFull(c.in, there)
		switch {
		case err != nil && !ends(err):
			return err
		case !bytes.HasPrefix(line, there[:n]):
			c.differs = c.line
		case n < len(line):
			c.lacks++
		}
	}
	return nil
}

func (c *comparison) restart() error {
	c.line, c.differs, c.lacks = 0, 0, 0
	_, err := c.in.Seek(0, io.SeekStart)
	return err
}

func (c *comparison) result(missing bool) (string, error) {
	n, err := io.ReadFull(c.in, make([]byte, 1))
	switch {
	case err != nil && !ends(err):
		return "", err
	case c.differs > 0:
		return fmt.Sprintf("its log differs from the store from line %d on", c.differs), nil
	case c.lacks > 0 && missing:
		return "its log is missing", nil
	case c.lacks == 1:
		return "its log is 1 line behind", nil
	case c.lacks > 0:
		return fmt.Sprintf("its log is %d lines behind", c.lacks), nil
	case n > 0:
		return fmt.Sprintf("its log should end after line %d", c.line), nil
	}
	return "", nil
}
