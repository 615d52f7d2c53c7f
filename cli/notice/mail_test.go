package notice

import (
	"bytes"
	"encoding/base64"
	"net"
	"net/mail"
	"net/textproto"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

// A letter is what a mail server got.
type letter struct {
	user, from, to string
	data           []byte
}

// servePost is a mail server without encryption (RFC 5321, and AUTH PLAIN of RFC 4954)
// for users who have the password "open sesame". It ends with the test.
func servePost(t *testing.T) (addr string, got <-chan letter) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	letters, ended := make(chan letter, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			deliver(textproto.NewConn(c), letters)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return l.Addr().String(), letters
}

// deliver speaks with one client until it quits or hangs up.
func deliver(c *textproto.Conn, letters chan<- letter) {
	defer c.Close()
	say := func(text string) { c.PrintfLine("%s", text) } //nolint:errcheck // then the next line cannot be read
	var x letter
	say("220 localhost")
	for {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		command, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(command) {
		case "EHLO":
			say("250-localhost\r\n250 AUTH PLAIN")
		case "AUTH":
			_, initial, _ := strings.Cut(rest, " ")
			b, err := base64.StdEncoding.DecodeString(initial)
			if f := strings.Split(string(b), "\x00"); err == nil && len(f) == 3 && f[2] == "open sesame" {
				x.user = f[1]
				say("235 welcome")
			} else {
				say("535 authentication failed")
			}
		case "MAIL":
			x.from = between(rest)
			say("250 ok")
		case "RCPT":
			x.to = between(rest)
			say("250 ok")
		case "DATA":
			say("354 go on")
			if x.data, err = c.ReadDotBytes(); err != nil {
				return
			}
			letters <- x
			say("250 ok")
		case "NOOP", "RSET":
			say("250 ok")
		case "QUIT":
			say("221 goodbye")
			return
		default:
			say("502 unknown command")
		}
	}
}

// between returns what is between < and >.
func between(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}

// A notice comes as e-mail, whatever is in it, and only to a server that has the password.
func TestANoticeComesByMail(t *testing.T) {
	addr, letters := servePost(t)
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	vars := map[string]string{"SMTP_PASSWORD": "open sesame"}
	j := &job.Job{Env: &config.Env{Now: func() time.Time { return at }, Getenv: func(n string) string { return vars[n] }, OS: runtime.GOOS}}
	j.Settings.Notify = config.OwnNotify{Email: "ada@example.org", SMTP: "smtp://ada@" + addr}
	all := Channels(j)
	if len(all) != 1 {
		t.Fatalf("there are %d channels, want 1", len(all))
	}
	n := Notice{About: "waiting", Title: "Tée\nBcc: eve@example.org", Text: ".\r\nMay it run rm -r «x»?", Session: "s"}
	if err := all[0].Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	got := <-letters
	if got.user != "ada" || got.from != "ada@example.org" || got.to != "ada@example.org" {
		t.Errorf("the server got a message of user %q from %q to %q", got.user, got.from, got.to)
	}
	m, err := mail.ReadMessage(bytes.NewReader(got.data))
	if err != nil {
		t.Fatal(err)
	}
	if m.Header.Get("Bcc") != "" || !strings.Contains(m.Header.Get("Subject"), "=?UTF-8?q?T=C3=A9e") || m.Header.Get("Message-ID") == "" {
		t.Errorf("the headers are %v", m.Header)
	}
	if when, err := m.Header.Date(); err != nil || !when.Equal(at) {
		t.Errorf("the date is %v, %v, want %v", when, err, at)
	}
	vars["SMTP_PASSWORD"] = "wrong"
	if err := all[0].Send(t.Context(), n); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong password: %v, want an error that does not show it", err)
	}
	j.Settings.Notify.SMTP = "smtp://127.0.0.1:1"
	if err := all[0].Send(t.Context(), n); err == nil {
		t.Error("no error, and no server")
	}
}

// A server without a port is reached at that of its kind.
func TestMailServersHaveTheirPorts(t *testing.T) {
	for at, want := range map[string]string{
		"smtps://ada@mail.example.org": "mail.example.org:465", "smtp://mail.example.org": "mail.example.org:587",
		"smtp://mail.example.org:2525": "mail.example.org:2525", "smtps://mail.example.org:10465": "mail.example.org:10465",
		"smtp://localhost": "localhost:25",
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		how, _ := mailServer(u)
		c, err := gomail.NewClient(u.Hostname(), how...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ServerAddr(); got != want {
			t.Errorf("%s is reached at %s, want %s", at, got, want)
		}
	}
}
