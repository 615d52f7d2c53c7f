package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/sqlite"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"skein": func() { os.Exit(runSkein()) },
		"seed":  func() { os.Exit(runSeed()) },
	})
}

// TestScripts runs each command as a person types it. In a script
//
//	skein ARGS          is the command, at $SKEIN_NOW, and as on a terminal of
//	                    $SKEIN_TERMINAL (80x24) if that is set
//	exits N COMMAND     runs COMMAND, which must end with exit code N
//	serving FLAGS       starts skein serve on the store, and sets $SERVER to its URL
//	signed PATH BODY    sends a signed request to $SERVER
//	asks STATUS METHOD PATH [BODY]  asks that server, as curl would
//	seed FILE           puts events into the store: each line of FILE is an
//	                    event in JSON with one more member, session
func TestScripts(t *testing.T) { runScripts(t, "testdata", nil) }

// TestDatabaseScripts runs the scripts in testdata/postgres. In one
//
//	database NAME       makes an empty database and sets $NAME to its address,
//	                    which wants the password that is in $PGPASSWORD, and
//	                    $NAME_WORDS to the same as keywords and values
func TestDatabaseScripts(t *testing.T) {
	pgtest.Admin(t)
	runScripts(t, "testdata/postgres", func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: database NAME")
		}
		u, err := url.Parse(pgtest.DSN(t))
		ts.Check(err)
		password, _ := u.User.Password()
		u.User, u.RawQuery = url.User(u.User.Username()), ""
		ts.Setenv(args[0], u.String())
		ts.Setenv(args[0]+"_WORDS", fmt.Sprintf("host=%s port=%s user=%s dbname='%s'", u.Hostname(), u.Port(), u.User.Username(), strings.TrimPrefix(u.Path, "/")))
		ts.Setenv("PGPASSWORD", password)
		ts.Setenv("PGSSLMODE", "disable")
	})
}

func runScripts(t *testing.T, dir string, database func(*testscript.TestScript, bool, []string)) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "serving": serving, "asks": asks, "signed": signed, "database": database},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("USERPROFILE", e.WorkDir+"/home")
			e.Setenv("SKEIN_HOME", e.WorkDir+"/skein")
			e.Setenv("SKEIN_NOW", "2026-11-21T12:00:00Z")
			e.Setenv("SKEIN_TERMINAL", "")
			return os.MkdirAll(e.WorkDir+"/home", 0o700)
		},
	})
}

// exits runs a command and checks its exit code, which comes first.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND")
	}
	err, code := ts.Exec(args[1], args[2:]...), "0"
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if code != args[0] {
		ts.Fatalf("%v ends with exit code %s, want %s", args[1:], code, args[0])
	}
}

// testEnv returns the environment of a script.
func testEnv() *config.Env {
	now, err := time.Parse(time.RFC3339, os.Getenv("SKEIN_NOW"))
	if err != nil {
		panic(err)
	}
	env := &config.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Getwd: os.Getwd, Now: func() time.Time { return now },
		OS: runtime.GOOS, Version: "1.2.3", Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Open: func(ctx context.Context, at config.Place) (skein.Store, error) {
			if at.Scheme == "postgres" {
				s, err := postgres.Open(ctx, at.Path, postgres.Options{})
				if err != nil {
					return nil, err
				}
				return s, nil
			}
			return sqlite.Open(ctx, at.Path, sqlite.Options{})
		},
	}
	if size := os.Getenv("SKEIN_TERMINAL"); size != "" {
		env.Terminal = config.TerminalInfo{Out: true, Err: true}
		if _, err := fmt.Sscanf(size, "%dx%d", &env.Terminal.Width, &env.Terminal.Height); err != nil {
			panic(err)
		}
	}
	return env
}

func runSkein() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return cli.Main(ctx, testEnv(), patient(os.Args[1:]))
}

// patient gives a search all the time it needs, unless args set a deadline: a busy
// machine may need more than the usual 150 ms.
func patient(args []string) []string {
	at := slices.Index(args, "search")
	if at < 0 || at > 0 && !strings.HasPrefix(args[0], "--") {
		return args
	}
	return slices.Insert(slices.Clone(args), at+1, "--deadline", "1m")
}

func runSeed() int {
	if err := seed(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "seed:", err)
		return 1
	}
	return 0
}

func seed(name string) (err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	st, err := sqlite.Open(context.Background(), os.Getenv("SKEIN_HOME")+"/skein.db", sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if closed := st.Close(); err == nil {
			err = closed
		}
	}()
	for r := bufio.NewReader(bytes.NewReader(text)); ; {
		line, readErr := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var to struct {
				Session skein.SessionID `json:"session"`
			}
			var e skein.Event
			if err := json.Unmarshal(line, &to); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
			if _, err := skein.Add(context.Background(), st, to.Session, e); err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			return nil
		}
	}
}
