package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
)

type openOptions struct{ print bool }

func newOpen(f *frame) *cobra.Command {
	var o openOptions
	c := &cobra.Command{
		Use:   "open [NAME] [flags]",
		Short: "open the dashboard in a browser and log in with a click",
		Long: `Open the dashboard of the running server in a browser or, with NAME, the page of
that session. A button there logs the browser in. If the browser supports it,
the dashboard gets a window of its own. If there is no browser, or with --print,
print the link, which logs in once and expires after ten minutes.`,
		Example: "skein open\n\tskein open last",
		Args:    words(0, 1, "the NAME of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.plain(o.run)(c, args)
			}
			return f.withStore(o.run)(c, args)
		},
	}
	c.Flags().BoolVar(&o.print, "print", false, "print the link instead of opening it")
	return c
}

func (o *openOptions) run(ctx context.Context, j *job, args []string) error {
	at, err := j.server()
	if err != nil {
		return err
	}
	next := "/"
	if len(args) > 0 {
		s, err := j.session(ctx, args[0])
		if err != nil {
			return err
		}
		next = "/sessions/" + url.PathEscape(string(s.ID))
	}
	link, err := j.loginLink(ctx, at, next)
	if err != nil {
		return err
	}
	browser := j.browser()
	if o.print || browser == nil {
		_, err := fmt.Fprintln(j.Stdout, link)
		return err
	}
	page, err := j.leadingPage(link)
	if err != nil {
		return err
	}
	if err := browser(page).Start(); err != nil {
		return advise(fmt.Errorf("open a browser: %w", err), "open it by hand: skein open --print")
	}
	j.say("opening %s; if no window comes: skein open --print", at)
	return nil
}

// serverFile is the file in which a running server stores its address; the server
// holds the lock beside it while it runs. After it ends, another program could
// listen on its port, so the address is used only if the lock is held.
func (j *job) serverFile() string { return filepath.Join(j.dirs.State, "server") }

// recordServer stores the address of this server, unless another running server has
// stored its own. forget undoes that.
func (j *job) recordServer(at string) (forget func(), err error) {
	if err := os.MkdirAll(j.dirs.State, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(j.serverFile()+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return func() {}, err
	}
	if err := os.WriteFile(j.serverFile(), []byte(at+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() {
		_ = os.Remove(j.serverFile()) //nolint:errcheck // without the lock it says nothing
		_ = lock.Close()              //nolint:errcheck // the process ends
	}, nil
}

// server returns the address of the running server.
func (j *job) server() (string, error) {
	none := advise(missing("no server is running"), "start it: skein serve")
	lock := flock.New(j.serverFile()+".lock", flock.SetPermissions(0o600))
	if _, err := os.Stat(lock.Path()); err != nil {
		return "", none
	}
	free, err := lock.TryLock()
	if err != nil {
		return "", err
	}
	if free {
		return "", errors.Join(none, lock.Close())
	}
	at, err := os.ReadFile(j.serverFile())
	if errors.Is(err, fs.ErrNotExist) {
		return "", none
	}
	return strings.TrimSpace(string(at)), err
}

// loginLink asks the server for a link that logs in, once, and leads to the page
// next.
func (j *job) loginLink(ctx context.Context, at, next string) (string, error) {
	tokens, err := j.tokens()
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
func (j *job) leadingPage(link string) (string, error) {
	path := filepath.Join(j.dirs.State, "open.html")
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
func (j *job) browser() func(page string) *exec.Cmd {
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
