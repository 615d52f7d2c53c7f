package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// A Message is something that somebody said elsewhere.
type Message struct {
	Surface string   `json:"surface"` // name of the surface that it came from: telegram
	Key     string   `json:"key"`     // of the place, as made by [Key]
	ID      string   `json:"id"`      // the surface's own ID: the same each time that the message comes
	From    []string `json:"from"`    // names that an allow list may have for the writer: an ID, @name
	To      string   `json:"to"`      // where the answer goes, in the surface's own notation
	Text    string   `json:"text"`
}

// name returns the inbox's name for the message: short, and safe in a file
// name.
func (m *Message) name() string {
	sum := sha256.Sum256([]byte(m.Surface + "\x00" + m.ID))
	return hex.EncodeToString(sum[:16])
}

// client returns the client ID that the message is stored under.
func (m *Message) client() skein.ClientID {
	return skein.ClientID("gateway-" + m.name())
}

// A Surface is where messages come from and answers go.
type Surface interface {
	// Name is what the surface is called in messages, keys and settings.
	Name() string

	// Run passes every message that comes to take until ctx ends, then waits
	// for its goroutines. It acknowledges a message to the sender only after
	// take returned nil. It continues after temporary failures, such as a network
	// that is down; the error is a permanent one, such as a refused token.
	Run(ctx context.Context, take func(context.Context, Message) error) error

	// Send sends an answer, in Markdown, to the To of a message. It waits for
	// as long as the surface's rate limits demand. The error says why the
	// answer did not arrive, with no secret in it.
	Send(ctx context.Context, to, text string) error
}

// A Worker is a Surface that can show that an answer is being worked on.
type Worker interface {
	// Working shows that for some seconds. Errors are ignored.
	Working(ctx context.Context, to string)
}

// Key returns the key of a place: its pieces, joined by colons. In a piece,
// characters that are not safe in a key, a tag or a URL are percent-encoded.
// Empty pieces at the end are left out.
func Key(pieces ...string) string {
	for len(pieces) > 0 && pieces[len(pieces)-1] == "" {
		pieces = pieces[:len(pieces)-1]
	}
	escaped := make([]string, len(pieces))
	for i, p := range pieces {
		escaped[i] = strings.NewReplacer("+", "%20", "%40", "@").Replace(url.QueryEscape(p))
	}
	return strings.Join(escaped, ":")
}

// A ServiceError is an answer of a service's API that is not a success.
type ServiceError struct {
	Code  int // as HTTP's statuses
	Text  string
	After time.Duration // how long to wait before the next request; 0 if it is not said
}

// Error implements error.
func (r *ServiceError) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Text) }
