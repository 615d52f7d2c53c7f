package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/store/memory"
)

// A talker answers with the text that it gets, and stores it.
type talker struct {
	store skein.Store
	wait  chan struct{} // if not nil, it waits for a value before it answers
	err   error

	mu   sync.Mutex
	said []string
}

func (k *talker) Talk(ctx context.Context, t gateway.Talk) (gateway.Answer, error) {
	if err := k.failing(); err != nil {
		return gateway.Answer{}, err
	}
	if k.wait != nil {
		select {
		case <-k.wait:
		case <-ctx.Done():
			return gateway.Answer{}, ctx.Err()
		}
	}
	b := skein.Batch{Session: t.Session}
	if t.Session == "" {
		b.Session = skein.NewSessionID(time.Now())
		b.Events = append(b.Events, skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: t.Key, Surface: t.Surface, Agent: "ada"}))
	}
	e := skein.Say(1, skein.UserSays(t.Text))
	e.ClientID = t.ID
	b.Events = append(b.Events, e)
	if _, err := k.store.Append(ctx, b); err != nil {
		return gateway.Answer{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.said = append(k.said, t.Text)
	return gateway.Answer{Session: b.Session, Text: "heard " + t.Text}, nil
}

// fail makes Talk fail from now on; nil ends that.
func (k *talker) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
}

func (k *talker) failing() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *talker) Personality(_ context.Context, _ gateway.Talk, name string) (string, error) {
	return "now " + name, nil
}

func (k *talker) Cost(context.Context, skein.Session) (string, error) { return "$0.01", nil }

// A place is a surface for tests.
type place struct {
	sent  chan string
	fails int // how many sends fail
}

func (p *place) Name() string { return "test" }

func (p *place) Run(ctx context.Context, _ func(context.Context, gateway.Message) error) error {
	<-ctx.Done()
	return nil
}

func (p *place) Send(_ context.Context, to, text string) error {
	if p.fails > 0 {
		p.fails--
		return errors.New("the network is down")
	}
	p.sent <- to + ": " + text
	return nil
}

// A rig is a running gateway.
type rig struct {
	*gateway.Gateway
	t      *testing.T
	o      gateway.Options
	talker *talker
	place  *place
	stop   context.CancelFunc
	ended  chan error
	n      int
}

// newRig runs a gateway in a bubble.
func newRig(t *testing.T) *rig {
	store := memory.New()
	g := &rig{t: t, talker: &talker{store: store}, place: &place{sent: make(chan string, 100)}}
	g.o = gateway.Options{
		Store: store, User: skein.Local, Talker: g.talker, Surfaces: []gateway.Surface{g.place},
		Allow: map[string][]string{"test": {"@Ada", "7"}}, Inbox: t.TempDir(), Secrets: redact.New(),
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	g.start()
	return g
}

func (g *rig) start() {
	g.t.Helper()
	g.open()
	g.run()
}

// open creates the gateway without running it.
func (g *rig) open() {
	g.t.Helper()
	var err error
	if g.Gateway, err = gateway.New(g.o); err != nil {
		g.t.Fatal(err)
	}
}

func (g *rig) run() {
	var ctx context.Context
	ctx, g.stop = context.WithCancel(context.Background())
	g.ended = make(chan error, 1)
	go func() { g.ended <- g.Run(ctx) }()
	synctest.Wait()
}

func (g *rig) end() {
	g.stop()
	if err := <-g.ended; err != nil {
		g.t.Errorf("Run: %v", err)
	}
}

// say sends a new message under a key and waits until all is quiet.
func (g *rig) say(key, text string) gateway.Message {
	g.t.Helper()
	g.n++
	m := gateway.Message{Surface: "test", Key: key, ID: fmt.Sprint(g.n), From: []string{"42", "@ada"}, To: "room", Text: text}
	g.take(m)
	return m
}

func (g *rig) take(m gateway.Message) {
	g.t.Helper()
	if err := g.Take(g.t.Context(), m); err != nil {
		g.t.Errorf("Take(%q): %v", m.Text, err)
	}
	synctest.Wait()
}

// wantSent compares what was sent since the last call.
func (g *rig) wantSent(want ...string) {
	g.t.Helper()
	var got []string
	for len(g.place.sent) > 0 {
		got = append(got, <-g.place.sent)
	}
	for i := range want {
		want[i] = "room: " + want[i]
	}
	if !slices.Equal(got, want) {
		g.t.Errorf("sent %q, want %q", got, want)
	}
}

func (g *rig) wantSaid(want ...string) {
	g.t.Helper()
	if !slices.Equal(g.talker.said, want) {
		g.t.Errorf("said %q, want %q", g.talker.said, want)
	}
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, test func(g *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		test(g)
		g.end()
	})
}

func TestMessagesOfAPlaceAreTurnsOfOneSession(t *testing.T) {
	bubble(t, func(g *rig) {
		g.say("test:1", "one")
		g.say("test:1", "two")
		g.say("test:2", "three")
		g.wantSent("heard one", "heard two", "heard three")
		s, err := gateway.Find(g.t.Context(), g.o.Store, skein.Local, "test:1")
		if err != nil || s.Messages != 2 || s.Surface != "test" || s.Key != "test:1" {
			g.t.Errorf("Find(test:1) = %+v, %v, want a session with two messages", s, err)
		}
	})
}

func TestStrangersGetNothing(t *testing.T) {
	bubble(t, func(g *rig) {
		for _, from := range [][]string{nil, {""}, {"43", "@eve"}, {"@ada2"}} {
			g.take(gateway.Message{Surface: "test", Key: "test:1", ID: "s" + strings.Join(from, ""), From: from, Text: "/help"})
		}
		g.take(gateway.Message{Surface: "other", Key: "other:1", ID: "o", From: []string{"@ada"}, Text: "hello"})
		g.wantSent()
		g.wantSaid()
		g.take(gateway.Message{Surface: "test", Key: "test:1", ID: "7", From: []string{"7"}, To: "room", Text: "me"})
		g.wantSent("heard me")
	})
}

func TestAMessageThatComesTwiceIsAnsweredOnce(t *testing.T) {
	bubble(t, func(g *rig) {
		m := g.say("test:1", "one")
		g.take(m)
		g.end()
		g.start()
		g.take(m)
		g.wantSent("heard one")
		g.wantSaid("one")
	})
}

func TestARestartTakesUpWhatWasNotAnswered(t *testing.T) {
	bubble(t, func(g *rig) {
		g.talker.wait = make(chan struct{})
		g.say("test:1", "one")
		g.say("test:1", "two")
		g.end()
		g.wantSent()
		g.talker.wait = nil
		g.start()
		g.wantSent("heard one", "heard two")
		g.wantSaid("one", "two")
	})
}

func TestMessagesOfOnePlaceQueueAndOthersDoNot(t *testing.T) {
	bubble(t, func(g *rig) {
		g.talker.wait = make(chan struct{}, 1)
		g.say("test:1", "one")
		g.say("test:1", "two")
		g.wantSaid()
		g.talker.wait <- struct{}{}
		synctest.Wait()
		g.wantSaid("one")
		close(g.talker.wait)
		synctest.Wait()
		g.wantSaid("one", "two")
	})
}

func TestTheSameAnswerIsNotSentTwiceWithin30Seconds(t *testing.T) {
	bubble(t, func(g *rig) {
		g.say("test:1", "one")
		g.say("test:1", "one")
		g.say("test:2", "one")
		g.wantSent("heard one", "heard one")
		<-time.After(29 * time.Second) // of the bubble's clock
		g.say("test:1", "one")
		g.wantSent()
		<-time.After(time.Second)
		g.say("test:1", "one")
		g.wantSent("heard one")
		g.say("test:1", "/new")
		g.say("test:1", "one")
		g.wantSent("This is a new conversation; the old one is kept.", "heard one")
	})
}

func TestNewGoesOnUnderTheKeyAndTheTime(t *testing.T) {
	bubble(t, func(g *rig) {
		g.say("test:1", "/new")
		g.say("test:1", "one")
		g.say("test:1", "/new@my_bot")
		ms := time.Now().UnixMilli()
		g.end()
		g.start()
		g.say("test:1", "two")
		g.wantSent("This conversation is already new.", "heard one", "This is a new conversation; the old one is kept.", "heard two")
		s, err := gateway.Find(g.t.Context(), g.o.Store, skein.Local, "test:1")
		if want := fmt.Sprintf("test:1:%d", ms); err != nil || s.Key != want || s.Messages != 1 || s.Agent != "ada" {
			g.t.Errorf("Find(test:1) after /new = %+v, %v, want the key %s, one message, the same agent", s, err, want)
		}
		g.say("test:1", "/personality bob")
		g.say("test:1", "/usage")
		g.say("test:1", "/what")
		g.wantSent("now bob", "- requests: 0\n- input: 0 tokens\n- output: 0 tokens\n- cost: $0.01\n- messages: 1 in 1 turn\n- session: `"+string(s.ID)+"`",
			"There is no command `/what`; `/help` lists the commands.")
	})
}

func TestALinkJoinsAPlaceToASession(t *testing.T) {
	bubble(t, func(g *rig) {
		id, other := skein.SessionID("terminal"), skein.SessionID("other")
		for _, id := range []skein.SessionID{id, other} {
			if _, err := skein.Add(g.t.Context(), g.o.Store, id, skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "cli:" + string(id)})); err != nil {
				g.t.Fatal(err)
			}
		}
		g.say("test:1", "before")
		for _, to := range []skein.SessionID{other, id} {
			if err := gateway.Link(g.t.Context(), g.o.Store, skein.Local, "test:1", to, 2); err != nil {
				g.t.Fatal(err)
			}
		}
		g.say("test:1", "after")
		s, err := g.o.Store.Session(g.t.Context(), id)
		if err != nil || s.First != "after" {
			g.t.Errorf("the linked session: %+v, %v, want it to begin with %q", s, err, "after")
		}
		if s, err := g.o.Store.Session(g.t.Context(), other); err != nil || len(s.Tags) > 0 {
			g.t.Errorf("the session that was linked before: tags %v, %v, want none", s.Tags, err)
		}
		if err := gateway.Unlink(g.t.Context(), g.o.Store, skein.Local, "test:1", 3); err != nil {
			g.t.Fatal(err)
		}
		if s, err := gateway.Find(g.t.Context(), g.o.Store, skein.Local, "test:1"); err != nil || s.First != "before" {
			g.t.Errorf("Find after Unlink: %+v, %v, want the session that begins with %q", s, err, "before")
		}
		if err := gateway.Unlink(g.t.Context(), g.o.Store, skein.Local, "test:1", 3); !errors.Is(err, skein.ErrNotFound) {
			g.t.Errorf("Unlink again: error %v, want %v", err, skein.ErrNotFound)
		}
	})
}

func TestErrorsAreTold(t *testing.T) {
	bubble(t, func(g *rig) {
		g.talker.fail(fmt.Errorf("%w: no model", skein.ErrInvalid))
		g.say("test:1", "one")
		g.talker.fail(&skein.LockedError{Session: "x", Holder: skein.Holder{Program: "skein chat", PID: 7}})
		g.say("test:1", "two")
		g.say("test:1", "  ")
		g.wantSent("That did not work: no model")
		<-time.After(5 * time.Minute)
		want := "Another program is working on this conversation: " + (skein.Holder{Program: "skein chat", PID: 7}).String() + ". Send your message again when that program has ended."
		g.wantSent(want, "Only text messages can be read here.")
	})
}

// TestAMessageWaitsForALockedSession unlocks the session after a while.
func TestAMessageWaitsForALockedSession(t *testing.T) {
	bubble(t, func(g *rig) {
		g.talker.fail(&skein.LockedError{Session: "x", Holder: skein.Holder{Program: "skein chat", PID: 7}})
		g.say("test:1", "one")
		<-time.After(50 * time.Second)
		g.wantSent()
		g.talker.fail(nil)
		<-time.After(10 * time.Second)
		g.wantSent("heard one")
		g.talker.fail(skein.ErrLocked)
		g.say("test:1", "two")
		g.end() // while it waits
		g.talker.fail(nil)
		g.start()
		g.wantSent("heard two")
	})
}

// TestTwoGatewaysDoNotShareAnInbox opens an inbox that is in use.
func TestTwoGatewaysDoNotShareAnInbox(t *testing.T) {
	bubble(t, func(g *rig) {
		if _, err := gateway.New(g.o); !errors.Is(err, skein.ErrLocked) {
			g.t.Errorf("New on an inbox that is in use = %v, want %v", err, skein.ErrLocked)
		}
		g.say("test:1", "one")
		g.wantSent("heard one")
		g.end()
		again, err := gateway.New(g.o)
		if err != nil {
			g.t.Errorf("New after Run has ended = %v", err)
		} else if err := again.Close(); err != nil {
			g.t.Error(err)
		}
		g.start()
	})
}

func TestSecretsAreNotSent(t *testing.T) {
	bubble(t, func(g *rig) {
		secret := "ghp_" + strings.Repeat("aB3dE6gH9k", 4)[:36]
		g.say("test:1", secret)
		if got := <-g.place.sent; strings.Contains(got, secret) {
			g.t.Errorf("sent %q, want it without the secret", got)
		}
	})
}

func TestAnAnswerThatDoesNotArriveIsSentAgain(t *testing.T) {
	bubble(t, func(g *rig) {
		g.place.fails = 3
		g.say("test:1", "one")
		<-time.After(time.Minute)
		g.wantSent("heard one")
		g.place.fails = 5
		g.say("test:1", "two")
		<-time.After(time.Hour)
		g.wantSent()
		g.end()
		g.start()
		g.wantSent("heard two")
	})
}

func TestAskWaitsForTheAnswer(t *testing.T) {
	bubble(t, func(g *rig) {
		m := gateway.Message{Surface: "test", Key: "test:1", ID: "1", From: []string{"7"}, Text: "one"}
		for range 2 {
			if a, err := g.Ask(g.t.Context(), m); err != nil || a.Text != "heard one" || a.Session == "" {
				g.t.Errorf("Ask = %+v, %v, want %q", a, err, "heard one")
			}
		}
		g.wantSent()
	})
}

// A server may listen a moment before its gateway runs.
func TestWhatComesBeforeTheRunIsAnsweredInIt(t *testing.T) {
	bubble(t, func(g *rig) {
		g.talker.wait = make(chan struct{})
		g.say("test:1", "one")
		g.end()
		g.talker.wait = nil
		g.open()
		g.say("test:1", "two")
		asked := make(chan string, 1)
		go func() {
			a, err := g.Ask(g.t.Context(), gateway.Message{Surface: "test", Key: "test:1", ID: "x", From: []string{"7"}, Text: "three"})
			asked <- fmt.Sprint(a.Text, err)
		}()
		synctest.Wait()
		g.wantSent()
		g.run()
		g.wantSent("heard one", "heard two")
		if got := <-asked; got != "heard three<nil>" {
			g.t.Errorf("Ask before the run = %s", got)
		}
		g.wantSaid("one", "two", "three")
	})
}

func TestWhoAskedIsToldOfAGatewayThatIsNotRun(t *testing.T) {
	bubble(t, func(g *rig) {
		g.end()
		g.open()
		asked := make(chan error, 1)
		go func() {
			_, err := g.Ask(g.t.Context(), gateway.Message{Surface: "test", Key: "test:1", ID: "x", From: []string{"7"}, To: "room", Text: "one"})
			asked <- err
		}()
		synctest.Wait()
		if err := g.Close(); err != nil {
			g.t.Error(err)
		}
		if err := <-asked; !errors.Is(err, skein.ErrClosed) {
			g.t.Errorf("Ask of a gateway that is closed = %v, want %v", err, skein.ErrClosed)
		}
		g.start()
		g.wantSent("heard one")
	})
}

func TestKeys(t *testing.T) {
	for _, c := range []struct {
		pieces []string
		want   string
	}{
		{[]string{"telegram", "my_bot", "-1001", ""}, "telegram:my_bot:-1001"},
		{[]string{"slack", "C1", "171.5"}, "slack:C1:171.5"},
		{[]string{"email", "a b:c,d@e.f"}, "email:a%20b%3Ac%2Cd@e.f"},
	} {
		got := gateway.Key(c.pieces...)
		if got != c.want || gateway.Check(got) != nil {
			t.Errorf("Key(%q) = %q (%v), want %q", c.pieces, got, gateway.Check(got), c.want)
		}
	}
	for _, bad := range []string{"", "telegram", "telegram:", ":x", "a:b c", "a:b,c", "a:" + strings.Repeat("x", 128)} {
		if err := gateway.Check(bad); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Check(%q) = %v, want %v", bad, err, skein.ErrInvalid)
		}
	}
}
