//go:build unix

package pgtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// join returns the cluster of all test processes; the first process creates it.
func join() (c *Cluster, err error) {
	err = alone(func(base string) error {
		current := filepath.Join(base, "current")
		if dir, err := os.ReadFile(current); err == nil {
			if c, err = joined(strings.TrimSpace(string(dir))); err == nil {
				return nil
			}
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if c, err = prepare(base); err != nil {
			return err
		}
		err = c.make(Options{Settings: []string{
			// The data is thrown away, and no test on it crashes the system.
			"fsync = off", "full_page_writes = off",
			"max_connections = 400", "shared_buffers = 64MB", "max_wal_size = 256MB",
		}})
		if err != nil {
			c.door.Close() // ends the cluster
			return err
		}
		return os.WriteFile(current, []byte(c.dir), 0o600)
	})
	return c, err
}

// joined enters the cluster in dir, if it works.
func joined(dir string) (*Cluster, error) {
	door, err := enter(dir)
	if err != nil {
		return nil, err
	}
	c, err := known(dir)
	if err == nil {
		err = ping(c.Admin())
	}
	if err != nil {
		door.Close()
		return nil, err
	}
	c.door = door
	return c, nil
}

func ping(dsn string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
