package pgtest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// superuser is the role that created a cluster, application the role that owns the
// databases of tests.
const (
	superuser   = "postgres"
	application = "skein_test"
)

// Options say how a cluster differs from PostgreSQL's defaults. The zero value is
// the defaults, with fsync.
type Options struct {
	Settings []string // lines of postgresql.conf
	Size     int64    // bytes that all its files may take; 0: no limit
}

// A Cluster is a server of PostgreSQL with its data.
type Cluster struct {
	installation
	dir  string
	door *os.File // closing it ends the cluster
}

// An installation is what another process needs to know about a cluster.
type installation struct {
	Bin      string // folder of the programs
	Port     int
	Password string
}

// data is the folder that initdb makes.
func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// Address returns host and port that the server listens on, the same after a
// restart.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) }

// Admin returns the address of the cluster's maintenance database as
// superuser.
func (c *Cluster) Admin() string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, c.Password), Host: c.Address(), Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

// DSN returns the address of a new, empty database in the cluster, as the
// function of that name does.
func (c *Cluster) DSN(t testing.TB) string {
	t.Helper()
	return database(t, c.Admin(), application)
}

// Stop stops the server; how is a mode of pg_ctl: "fast" aborts running transactions,
// "immediate" also leaves recovery to the next start.
func (c *Cluster) Stop(t testing.TB, how string) {
	t.Helper()
	if err := c.run("pg_ctl", "-D", c.data(), "-w", "-m", how, "stop"); err != nil {
		t.Fatal(err)
	}
}

// Start starts a server that was stopped or killed, and waits until it
// answers.
func (c *Cluster) Start(t testing.TB) {
	t.Helper()
	if err := c.start(); err != nil {
		t.Fatalf("start on %s: %v", c.Address(), err)
	}
}

// Promote makes a standby writable, and waits until it is.
func (c *Cluster) Promote(t testing.TB) {
	t.Helper()
	if err := c.run("pg_ctl", "-D", c.data(), "-w", "promote"); err != nil {
		t.Fatal(err)
	}
}
