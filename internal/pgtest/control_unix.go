//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// New starts a cluster for this test alone, which ends with the test.
func New(t testing.TB, o Options) *Cluster {
	t.Helper()
	c := prepared(t)
	if err := c.make(o); err != nil {
		without(t, err)
	}
	return c
}

// prepared returns a cluster that is still empty, and ends with the test.
func prepared(t testing.TB) (c *Cluster) {
	t.Helper()
	err := alone(func(base string) (err error) {
		c, err = prepare(base)
		return err
	})
	if err != nil {
		without(t, err)
	}
	t.Cleanup(func() { c.door.Close() })
	return c
}

// Standby starts a second cluster that follows c as its hot standby. Commits
// of c do not wait for it, unless c's settings say so
// (synchronous_standby_names = '*').
func (c *Cluster) Standby(t testing.TB, o Options) *Cluster {
	t.Helper()
	s := prepared(t)
	s.Password = c.Password
	if err := s.run("pg_basebackup", "-D", s.data(), "-R", "-X", "stream", "-c", "fast", "-d", c.Admin()); err != nil {
		t.Fatal(err)
	}
	if err := s.configure(o.Settings...); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	return s
}

// Kill kills the postmaster with SIGKILL, as the system does when it is out of
// memory. Its children end by themselves, a moment later.
func (c *Cluster) Kill(t testing.TB) {
	t.Helper()
	if err := syscall.Kill(c.Postmaster(t), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// Postmaster returns the process ID of the running server.
func (c *Cluster) Postmaster(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// start starts the server. Children of a killed one may block that for a moment.
func (c *Cluster) start() error {
	return until(func() error {
		return c.run("pg_ctl", "-D", c.data(), "-w", "-l", filepath.Join(c.dir, "log"), "start")
	})
}

// populate creates the role that owns the databases of tests.
func (c *Cluster) populate() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.Admin())
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // the statement was answered
	_, err = conn.Exec(ctx, fmt.Sprintf(`CREATE ROLE %s LOGIN CREATEROLE PASSWORD '%s'`, application, c.Password))
	return err
}

// small puts the data on a file system with room for size bytes.
func (c *Cluster) small(size int64) error {
	if size == 0 {
		return nil
	}
	if err := os.Mkdir(c.data(), 0o700); err != nil {
		return err
	}
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0700", size), "tmpfs", c.data()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount a small file system: %w: %s", err, tail(out))
	}
	return own(c.data())
}

// Enlarge gives the small file system of a cluster room for size bytes in all.
func (c *Cluster) Enlarge(t testing.TB, size int64) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", fmt.Sprintf("remount,size=%d", size), c.data()).CombinedOutput(); err != nil {
		t.Fatalf("enlarge the small file system: %v: %s", err, tail(out))
	}
}

// run runs a program of PostgreSQL, as the user that the server runs as.
func (c *Cluster) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(c.Bin, program), args...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C", fmt.Sprintf("PGCTLTIMEOUT=%.0f", patience.Seconds())}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	who, err := account()
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = who
	// A file, not a pipe: the server that pg_ctl starts would hold a pipe open.
	out, err := os.CreateTemp(c.dir, "out")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) //nolint:errcheck // its folder is removed in the end
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())                             // the error says enough without it
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))             // there may be none yet
		said = bytes.ReplaceAll(said, []byte(c.Password), []byte("…")) // pg_basebackup prints its -d
		return fmt.Errorf("%s: %w: %s\n%s", program, err, tail(said), tail(log))
	}
	return nil
}

// own gives a file to the user that the server runs as.
func own(name string) error {
	who, err := account()
	if err != nil || who == nil {
		return err
	}
	return os.Chown(name, int(who.Uid), int(who.Gid))
}

// account returns the account that the server runs as: root may not run it; other
// users run it as themselves, which is nil.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // documented
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("root may not run it, and there is no user postgres or nobody")
}
