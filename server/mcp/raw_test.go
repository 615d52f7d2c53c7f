package mcp_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/mcp"
)

// raw is what testdata/client.py sees on a server with one session.
const raw = `server skein 2025-06-18
tools session_list session_now session_read session_search session_tree session_usage
list s1
search s1/2
read 4 5 6
nowhere True
resource skein://session/s1
redacted True False
`

// python returns the client, which implements the protocol without an SDK.
func python(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("the raw client needs Python 3 (apt-get install python3): %v", err)
	}
	c := exec.CommandContext(t.Context(), path, append([]string{"testdata/client.py"}, args...)...)
	var said bytes.Buffer
	c.Stderr = &said
	return c, &said
}

func TestAClientWithoutAnSDK(t *testing.T) {
	t.Run("over stdin and stdout", func(t *testing.T) {
		c, said := python(t)
		in, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		served := mcp.Serve(t.Context(), mcp.Options{Version: "test", Now: time.Now, Store: store(t)}, in, out)
		if err := c.Wait(); err != nil || served != nil || said.String() != raw {
			t.Errorf("the client ends with %v, the server with %v; the client saw\n%s\nwant\n%s", err, served, said, raw)
		}
	})
	t.Run("over HTTP", func(t *testing.T) {
		url, _, ada, _ := site(t, false, store(t))
		c, said := python(t, url+"/mcp")
		c.Env = append(os.Environ(), "TOKEN="+ada)
		if err := c.Run(); err != nil || said.String() != raw {
			t.Errorf("the client ends with %v; it saw\n%s\nwant\n%s", err, said, raw)
		}
	})
}
