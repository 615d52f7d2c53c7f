package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/mcp"
)

type openOptions struct{ print bool }

// NewOpen returns the command open.
func NewOpen(f *job.Frame) *cobra.Command {
	var o openOptions
	c := &cobra.Command{
		Use:   "open [NAME] [flags]",
		Short: "open the dashboard in a browser and log in with a click",
		Long: `Open the dashboard in a browser or, with NAME, the page of that session. A
button there logs the browser in. If no server is running, start one that only
this machine can reach; it runs until the machine stops or you end its process.
If the browser supports it, the dashboard gets a window of its own. If there is
no browser, or with --print, print the link, which logs in once and expires
after ten minutes.`,
		Example: "skein open\n\tskein open last",
		Args:    job.Words(0, 1, "the NAME of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.Plain(o.run)(c, args)
			}
			return f.WithStore(o.run)(c, args)
		},
	}
	c.Flags().BoolVar(&o.print, "print", false, "print the link instead of opening it")
	return c
}

func (o *openOptions) run(ctx context.Context, j *job.Job, args []string) error {
	next := "/"
	if len(args) > 0 {
		s, err := sessions.Named(ctx, j, args[0])
		if err != nil {
			return err
		}
		next = "/sessions/" + url.PathEscape(string(s.ID))
	}
	at, err := o.server(ctx, j)
	if err != nil {
		return err
	}
	link, err := loginLink(ctx, j, at, next)
	if err != nil {
		return err
	}
	browser := browser(j)
	if o.print || browser == nil {
		_, err := fmt.Fprintln(j.Stdout, link)
		return err
	}
	page, err := leadingPage(j, link)
	if err != nil {
		return err
	}
	if err := browser(page).Start(); err != nil {
		return fault.Advise(fmt.Errorf("open a browser: %w", err), "open it by hand: skein open --print")
	}
	j.Say("opening %s; if no window appears: skein open --print", at)
	return nil
}

// serverFile is the file in which a running server of this store stores its address and, on
// the next line, its process ID; the server holds the lock beside it while it runs. After
// it ends, another program could listen on its port, so the address is used only if the
// lock is held.
func serverFile(j *job.Job) string {
	sum := sha256.Sum256([]byte(j.Place.Scheme + ":" + j.Place.Path))
	return filepath.Join(j.Dirs.State, "server-"+hex.EncodeToString(sum[:4]))
}

// recordServer stores the address of this server, unless another running server has
// stored its own. forget undoes that.
func recordServer(ctx context.Context, j *job.Job, at string) (forget func(), err error) {
	if err := os.MkdirAll(j.Dirs.State, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(serverFile(j)+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, time.Second) // who looks for a server has the lock for a moment
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, startLook); errors.Is(err, context.DeadlineExceeded) {
		return func() {}, nil
	} else if err != nil || !ok {
		return func() {}, err
	}
	if err := os.WriteFile(serverFile(j), fmt.Appendf(nil, "%s\n%d\n", at, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() {
		_ = os.Remove(serverFile(j)) //nolint:errcheck // without the lock it says nothing
		_ = lock.Close()             //nolint:errcheck // the process ends
	}, nil
}

// usualAddress is where a server listens unless it is told otherwise. Browsers keep
// logins and installed apps by address, so a server that is started here uses it too.
const usualAddress = "127.0.0.1:7433"

// How long a started server may take until it can be reached, and how often to look.
const (
	startTime = 30 * time.Second
	startLook = 20 * time.Millisecond
)

// startServer starts a server for the same store, which runs on after this process has
// ended, and returns its address. It works in the home folder, so that it holds no other.
func startServer(ctx context.Context, j *job.Job) (string, error) {
	if err := opens(ctx, j); err != nil {
		return "", err
	}
	listen := usualAddress
	if l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen); err != nil {
		listen = "127.0.0.1:0" // another program has it
	} else if err := l.Close(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(j.Dirs.State, 0o700); err != nil {
		return "", err
	}
	log := serverFile(j) + ".log"
	d := config.Detached{Args: []string{"--store", j.Place.Path, "serve", "--listen", listen}, Dir: j.Dirs.Home, Output: log}
	if err := j.Detach(d); err != nil {
		return "", fmt.Errorf("start a server: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		one, err := runningServer(j)
		if err != nil {
			return "", err
		}
		if one.at != "" {
			j.Say("started a server at %s, process %s, which runs until that process is ended; its log: %s", one.at, one.process, log)
			return one.at, nil
		}
		if sleep.For(wait, startLook) != nil {
			return "", fault.Advise(errors.New("the server that was started cannot be reached"), "see why: %s", log)
		}
	}
}

// opens returns why a server could not open the store.
func opens(ctx context.Context, j *job.Job) error {
	if j.Whole != nil {
		return nil // it is open
	}
	tried := *j
	if err := tried.Begin(ctx); err != nil {
		return job.Unopened(j, err)
	}
	return tried.Whole.Close()
}

// A serverAt is a server that runs: its address and its process ID.
type serverAt struct{ at, process string }

// runningServer returns the address and the process ID of the running server; "" if there
// is none.
func runningServer(j *job.Job) (one serverAt, err error) {
	lock := flock.New(serverFile(j)+".lock", flock.SetPermissions(0o600))
	if _, err := os.Stat(lock.Path()); err != nil {
		return one, nil //nolint:nilerr // no server has run here
	}
	free, err := lock.TryLock()
	if err == nil && free {
		_ = os.Remove(serverFile(j)) //nolint:errcheck // it may not be there; its server was killed
	}
	if err != nil || free {
		return one, errors.Join(err, lock.Close())
	}
	text, err := os.ReadFile(serverFile(j))
	if errors.Is(err, fs.ErrNotExist) {
		return one, nil
	}
	one.at, one.process, _ = strings.Cut(strings.TrimSpace(string(text)), "\n")
	return one, err
}

// server returns the address of the running server, or of one that it starts for a store
// that is one person's, on this machine.
func (o *openOptions) server(ctx context.Context, j *job.Job) (string, error) {
	one, err := runningServer(j)
	switch {
	case err != nil || one.at != "":
		return one.at, err
	case j.Detach != nil && isOwn(j):
		return startServer(ctx, j)
	}
	return "", fault.Advise(fault.Missing("no server is running"), "start it: skein serve")
}

// loginLink asks the server for a link that logs in, once, and leads to the page
// next.
func loginLink(ctx context.Context, j *job.Job, at, next string) (string, error) {
	tokens, err := tokens(j)
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/v1/login-codes", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+tokens.First())
	client := &http.Client{Timeout: 10 * time.Second}
	a, err := client.Do(r)
	if err != nil {
		return "", fmt.Errorf("the server at %s: %w", at, err)
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(a.Body, 1<<16))
	if err != nil {
		return "", err
	}
	var got struct{ Code, Detail string }
	if err := json.Unmarshal(body, &got); err != nil || got.Code == "" || a.StatusCode != http.StatusCreated {
		return "", fmt.Errorf("the server at %s: %s %s", at, a.Status, got.Detail)
	}
	return at + "/login?" + url.Values{"code": {got.Code}, "next": {next}}.Encode(), nil
}

// leadingPage writes a file that redirects to link, readable only by its owner, and
// returns its URL: all users of the machine can read the arguments of a program.
func leadingPage(j *job.Job, link string) (string, error) {
	path := filepath.Join(j.Dirs.State, "open.html")
	text := `<!doctype html><meta charset="utf-8"><title>skein</title><meta http-equiv="refresh" content="0; url=` + html.EscapeString(link) + `">`
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}).String(), nil
}

// browser returns a function that opens a page in a browser that can give it its
// own window, else in the system's default one; nil if there is no screen or no
// browser.
func browser(j *job.Job) func(page string) *exec.Cmd {
	if j.OS == "linux" && j.Getenv("DISPLAY") == "" && j.Getenv("WAYLAND_DISPLAY") == "" || !j.Terminal.Out || j.Getenv("SSH_CONNECTION") != "" {
		return nil
	}
	for _, name := range appBrowsers(j.OS) {
		if path, err := exec.LookPath(name); err == nil {
			return func(page string) *exec.Cmd { return exec.Command(path, "--app="+page) }
		}
	}
	usual := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}, "linux": {"xdg-open"}}[j.OS]
	if len(usual) == 0 {
		return nil
	}
	path, err := exec.LookPath(usual[0])
	if err != nil {
		return nil
	}
	return func(page string) *exec.Cmd { return exec.Command(path, append(usual[1:], page)...) }
}

// appBrowsers returns the programs that support --app, which opens a page in a
// window without tabs.
func appBrowsers(system string) []string {
	switch system {
	case "darwin":
		return []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "/Applications/Chromium.app/Contents/MacOS/Chromium"}
	case "windows":
		return []string{"chrome.exe", "msedge.exe", `C:\Program Files\Google\Chrome\Application\chrome.exe`, `C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`}
	}
	return []string{"google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge", "brave-browser"}
}

// NewMCP returns the command mcp.
func NewMCP(f *job.Frame) *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "let an agent read the sessions, over the Model Context Protocol",
		Long: `Serve an agent that starts this program, over stdin and stdout: tools to list,
search and read sessions, and to see their families and costs; and sessions as
resources. With --write, there are also tools to add a note, to fork and to
rename. No tool changes or removes what was said.

What the agent receives is framed as data, so that no transcript can pass for an
instruction, and contains no secrets. skein serve offers the same at /mcp,
including the tools that write if you use --mcp-write.

Most agents are configured like this:

  {"mcpServers": {"skein": {"command": "skein", "args": ["mcp"]}}}`,
		Example: `skein mcp
	claude mcp add skein -- skein mcp`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, _ []string) error {
			o := mcpOptions(j)
			o.Store, o.Write, o.Folder = j.Store, write, "."
			return mcp.Serve(ctx, o, io.NopCloser(j.Stdin), unclosed{j.Stdout})
		}),
	}
	c.Flags().BoolVar(&write, "write", false, "include tools that add notes, forks and titles")
	return c
}

// unclosed is a stream that only its owner closes.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }

// mcpOptions returns the options of the MCP server's tools.
func mcpOptions(j *job.Job) mcp.Options {
	prices := sync.OnceValues(func() (*price.List, error) { return price.Load(j.Settings.Prices...) })
	var near func(context.Context) ([]string, error)
	if isOwn(j) {
		near = func(ctx context.Context) ([]string, error) { return sessions.NearBudgets(ctx, j) }
	}
	return mcp.Options{Version: j.Version, Now: j.Now, Probes: ofMachine(j), Budgets: near, Cost: func(r skein.UsageRow) (float64, bool, error) {
		table, err := prices()
		if err != nil {
			return 0, false, err
		}
		if usd := table.Sum([]skein.UsageRow{r}, skein.At(j.Now())).USD(); usd != nil {
			return *usd, true, nil
		}
		return 0, false, nil
	}}
}

type linkOptions struct{ remove, json bool }

// NewLink returns the command link.
func NewLink(f *job.Frame) *cobra.Command {
	var o linkOptions
	c := &cobra.Command{
		Use:   "link KEY [NAME] [flags]",
		Short: "join a chat elsewhere to one of your sessions",
		Long: `Join the chat, channel or thread with this KEY to the session with this NAME:
from now on, what is said there is said in that session, and skein chat
continues it. Without a NAME, print the session that the KEY is joined to.

A KEY is telegram:BOT:CHAT[:THREAD], discord:CHANNEL, slack:CHANNEL[:THREAD], or
the key of a signed request, such as email:THREAD. skein list --all --columns
key,title shows the keys of existing sessions. With --remove, the chat continues
in a session of its own again. /new in the chat begins a new session that is
linked instead.`,
		Example: `skein link telegram:ada_bot:4711 -
	skein link telegram:ada_bot:4711 --remove`,
		Args: job.Words(1, 2, "the KEY of a chat, and the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().BoolVar(&o.remove, "remove", false, "continue in a session of its own")
	job.JSONFlag(c, &o.json)
	return c
}

func (o *linkOptions) run(ctx context.Context, j *job.Job, args []string) error {
	key, now := args[0], skein.At(j.Now())
	if err := gateway.Check(key); err != nil {
		return err
	}
	switch {
	case o.remove && len(args) > 1:
		return fault.Usage("--remove takes no %q", args[1])
	case o.remove:
		if err := gateway.Unlink(ctx, j.Store, j.Owner(), key, now); err != nil {
			return fault.Advise(err, "see the session that it continues: skein link %s", key)
		}
		j.Say("%s is no longer linked to a session", key)
		return nil
	case len(args) > 1:
		s, err := sessions.Live(ctx, j, args[1])
		if err != nil {
			return err
		}
		if err := gateway.Link(ctx, j.Store, j.Owner(), key, s.ID, now); err != nil {
			return err
		}
		j.Say("%s continues in %s %q", key, sessions.ShortID(s.ID), sessions.Called(s))
	}
	s, err := gateway.Find(ctx, j.Store, j.Owner(), key)
	if err != nil {
		return fault.Advise(err, "join it to a session: skein link %s NAME", key)
	}
	if o.json {
		return sessions.Write(ctx, j, s.ID)
	}
	if len(args) == 1 {
		_, err = fmt.Fprintln(j.Stdout, s.ID)
	}
	return err
}
