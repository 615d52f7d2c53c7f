package notice

import (
	"bytes"
	"io"
	"net"
	"net/mail"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	gomail "github.com/wneessen/go-mail"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

// A postOffice is a mail server that keeps what it gets.
type postOffice struct {
	messages chan letter
}

type letter struct {
	user, from, to string
	data           []byte
}

func (p *postOffice) NewSession(*smtp.Conn) (smtp.Session, error) { return &delivery{office: p}, nil }

type delivery struct {
	letter
	office *postOffice
}

func (d *delivery) AuthMechanisms() []string { return []string{sasl.Plain} }
func (d *delivery) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != "open sesame" {
			return smtp.ErrAuthFailed
		}
		d.user = user
		return nil
	}), nil
}
func (d *delivery) Reset()        {}
func (d *delivery) Logout() error { return nil }
func (d *delivery) Mail(from string, _ *smtp.MailOptions) error {
	d.from = from
	return nil
}

func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	d.to = to
	return nil
}

func (d *delivery) Data(r io.Reader) (err error) {
	d.data, err = io.ReadAll(r)
	d.office.messages <- d.letter
	return err
}

// A notice comes as e-mail, whatever is in it, and only to a server that has the password.
func TestANoticeComesByMail(t *testing.T) {
	office := &postOffice{make(chan letter, 1)}
	s := smtp.NewServer(office)
	s.Domain, s.AllowInsecureAuth = "localhost", true
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l) //nolint:errcheck // it ends with the test
	t.Cleanup(func() { s.Close() })
	at := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	vars := map[string]string{"SMTP_PASSWORD": "open sesame"}
	j := &job.Job{Env: &config.Env{Now: func() time.Time { return at }, Getenv: func(n string) string { return vars[n] }, OS: runtime.GOOS}}
	j.Settings.Notify = config.OwnNotify{Email: "ada@example.org", SMTP: "smtp://ada@" + l.Addr().String()}
	all := Channels(j)
	if len(all) != 1 {
		t.Fatalf("there are %d channels, want 1", len(all))
	}
	n := Notice{About: "waiting", Title: "Tée\nBcc: eve@example.org", Text: ".\r\nMay it run rm -r «x»?", Session: "s"}
	if err := all[0].Send(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	got := <-office.messages
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
