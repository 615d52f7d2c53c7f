//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/sqlite"
)

// A machine is a home folder of skein, in which commands run.
type machine struct {
	*testing.T
	home, work string
	env        []string
}

func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	m := &machine{T: t, home: t.TempDir(), work: t.TempDir()}
	for _, dir := range []string{"state", "config"} {
		if err := os.Mkdir(filepath.Join(m.home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "SKEIN_HOME=" + m.home, "GORACE=atexit_sleep_ms=0"}, env...)
	return m
}

// command returns a program that dies at a place, see asProgram; with "1" it does
// not.
func (m *machine) command(dies string, args ...string) *exec.Cmd {
	m.Helper()
	self, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	cmd := exec.CommandContext(m.Context(), self, args...)
	cmd.Dir, cmd.Env = m.work, append([]string{asProgram + "=" + dies}, m.env...)
	return cmd
}

// killed runs a command that is killed at a place, and reports whether it got that
// far.
func (m *machine) killed(dies string, args ...string) bool {
	m.Helper()
	out, err := m.command(dies, args...).CombinedOutput()
	if err != nil && !strings.Contains(err.Error(), "killed") {
		m.Fatalf("%v, to be killed %s: %v: %s", args, dies, err, out)
	}
	return err != nil
}

// does runs a command that must succeed and returns its output.
func (m *machine) does(args ...string) string {
	m.Helper()
	out, err := m.command("1", args...).CombinedOutput()
	if err != nil {
		m.Fatalf("%v: %v: %s", args, err, out)
	}
	return string(out)
}

// furnish adds sessions to the machine's store.
func (m *machine) furnish() {
	m.Helper()
	s, err := sqlite.Open(m.Context(), filepath.Join(m.home, "skein.db"), sqlite.Options{})
	if err != nil {
		m.Fatal(err)
	}
	defer s.Close()
	for i := range 6 {
		c := skein.Created{Key: fmt.Sprint("k", i)}
		if i > 2 {
			c = skein.Created{Parent: &skein.Parent{Session: skein.SessionID(fmt.Sprint("s", i-3)), Seq: 3, Why: skein.Fork}}
		}
		b := skein.Batch{Session: skein.SessionID(fmt.Sprint("s", i)), Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, c)}}
		for n := range 700 {
			b.Events = append(b.Events, skein.Say(skein.Time(n), skein.UserSays(fmt.Sprintf("%d says %d", i, n))))
		}
		if _, err := s.Append(context.Background(), b); err != nil {
			m.Fatal(err)
		}
	}
	if err := s.Bin(m.Context(), "s2"); err != nil {
		m.Fatal(err)
	}
}

// database returns the address of an empty database without its password, and the
// environment variable with the password.
func database(t *testing.T) (dsn, password string) {
	t.Helper()
	u, err := url.Parse(pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	return u.String(), "PGPASSWORD=" + secret
}

func TestAKilledConvertGoesOn(t *testing.T) {
	dsn, password := database(t)
	m := newMachine(t, password)
	m.furnish()
	back := "sqlite:" + filepath.Join(m.home, "back.db")
	for _, way := range [][]string{{"convert", "sqlite:" + filepath.Join(m.home, "skein.db"), dsn}, {"convert", dsn, back}} {
		// Each resumes where the one before it was killed.
		for _, dies := range []string{"before 1", "after 1", "after 2", "before 3", "after 3", "before 2", "after 1"} {
			m.killed(dies, way...)
		}
		out := m.does(append(way, "--json")...)
		if !strings.Contains(out, `"differ":0`) || !strings.Contains(out, `"sessions":6,"binned":1,"events":4206,`) {
			t.Errorf("%v in the end: %s", way, out)
		}
	}
}

// A server on a database is killed during a push, and then a pull is killed: the
// same commands resume, and nothing is lost or duplicated.
func TestAKilledPushAndPullGoOn(t *testing.T) {
	dsn, password := database(t)
	host := newMachine(t, password, "SKEIN_STORE="+dsn)
	said := strings.Fields(host.does("token", "add", "t", "--scope", "write,read:raw")) // create the tables, then the token
	token := said[len(said)-1]
	laptop, desk := newMachine(t, "SKEIN_TOKEN="+token), newMachine(t, "SKEIN_TOKEN="+token)
	laptop.furnish()
	for _, dies := range []string{"before 1", "after 1", "after 2", "after 3", "before 2", "1"} {
		cmd := host.command(dies, "serve", "--listen", "127.0.0.1:0")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		at := strings.TrimSpace(line)
		if dies != "1" {
			_ = laptop.command("1", "push", "--to", at).Run() // fails with its server
			_ = cmd.Process.Kill()                            // it may not have got that far
			_ = cmd.Wait()
			continue
		}
		laptop.does("push", "--to", at)
		if again := laptop.does("push", "--to", at); !strings.Contains(again, "nothing new") {
			t.Errorf("push again: %s", again)
		}
		for _, dies := range []string{"before 1", "after 2", "after 3"} {
			desk.killed(dies, "pull", "--from", at)
		}
		desk.does("pull", "--from", at)
		if again := desk.does("pull", "--from", at); !strings.Contains(again, "nothing new") {
			t.Errorf("pull again: %s", again)
		}
		for _, id := range []string{"s0", "s1", "s3", "s4"} {
			if a, b := laptop.does("show", id, "--events", "--json", "--raw"), desk.does("show", id, "--events", "--json", "--raw"); a != b {
				t.Errorf("session %s is not the same on both machines: %d and %d bytes", id, len(a), len(b))
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
