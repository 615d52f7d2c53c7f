//go:build unix

package pgtest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// known reads what the process that made a cluster recorded about it.
func known(dir string) (*Cluster, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir}
	return c, json.Unmarshal(b, &c.installation)
}

// make creates and starts a cluster that was prepared.
func (c *Cluster) make(o Options) error {
	if err := c.initialise(o); err != nil {
		return err
	}
	if err := c.start(); err != nil {
		return err
	}
	return c.populate()
}

// prepare creates a cluster's folder, which is still empty.
func prepare(base string) (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	port, err := free()
	if err != nil {
		return nil, err
	}
	dir, door, err := foundation(base)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, door: door, installation: installation{Bin: bin, Port: port, Password: strings.ToLower(rand.Text())}}
	b, err := json.Marshal(c.installation)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "cluster.json"), b, 0o600)
	}
	if err == nil {
		err = own(dir)
	}
	return c, err
}

// free returns a port that no process listens on at the moment.
func free() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // it accepted nobody
	return l.Addr().(*net.TCPAddr).Port, nil
}

// initialise creates the data folder.
func (c *Cluster) initialise(o Options) error {
	if err := c.small(o.Size); err != nil {
		return err
	}
	secret := filepath.Join(c.dir, "password")
	if err := os.WriteFile(secret, []byte(c.Password+"\n"), 0o600); err != nil {
		return err
	}
	if err := own(secret); err != nil {
		return err
	}
	args := []string{"--no-sync", "-D", c.data(), "-U", superuser, "-E", "UTF8", "-A", "password", "--pwfile=" + secret}
	if o.Size > 0 {
		args = append(args, "--wal-segsize=1")
	}
	var err error
	for _, locale := range []string{"C.UTF-8", "en_US.UTF-8", "C"} {
		if err = c.run("initdb", append(args, "--locale="+locale)...); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return c.configure(o.Settings...)
}

// configure adds lines to postgresql.conf.
func (c *Cluster) configure(settings ...string) error {
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	all := append([]string{
		"listen_addresses = '127.0.0.1'", "unix_socket_directories = ''", "port = " + strconv.Itoa(c.Port),
		"dynamic_shared_memory_type = mmap", // in the cluster's folder: what a killed server leaves is removed with it
		"logging_collector = off", "log_min_messages = warning",
	}, settings...)
	_, err = fmt.Fprintln(f, strings.Join(all, "\n"))
	return err
}
