package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
)

// A Message is something that somebody said elsewhere.
type Message struct {
	Surface string   `json:"surface"` // name of the one that it came from: telegram
	Key     string   `json:"key"`     // of the place, as [Key] makes it
	ID      string   `json:"id"`      // its own on that surface: the same each time that it comes
	From    []string `json:"from"`    // what an allow list may call its writer: an ID, @name
	To      string   `json:"to"`      // where the answer goes, in the surface's own words
	Text    string   `json:"text"`
}

// name is what a message is known by: short, and safe as a file's name.
func (m *Message) name() string {
	sum := sha256.Sum256([]byte(m.Surface + "\x00" + m.ID))
	return hex.EncodeToString(sum[:16])
}

// client is the ID that it is stored in its session under.
func (m *Message) client() skein.ClientID {
	return skein.ClientID("gateway-" + m.name())
}

// A Surface is where messages come from and answers go to.
type Surface interface {
	// Name is what the surface is called in messages, keys and settings.
	Name() string

	// Run hands every message that comes to take until ctx ends, then waits
	// for its goroutines. It tells the sender that a message arrived only
	// after take returned nil. It goes on after what may pass, such as a
	// network that is down; the error says what will not, such as a token
	// that is refused.
	Run(ctx context.Context, take func(context.Context, Message) error) error

	// Send sends an answer, Markdown, to where a message said. It waits as
	// long as the surface's limits want it to. The error says why it did not
	// arrive, with no secret in it.
	Send(ctx context.Context, to, text string) error
}

// A Worker is a Surface that can show that an answer is being worked on.
type Worker interface {
	// Working shows it for some seconds. Errors are no matter.
	Working(ctx context.Context, to string)
}

// Key returns the key of a place: its pieces with colons between them.
// In a piece, what would not be safe in a key, a tag or a URL is escaped with
// percent signs. Empty pieces at the end are left out.
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
