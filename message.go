package skein

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Role says who speaks in a message.
type Role string

// The roles. Tool results come in messages of their own. A steer is what a
// person or program said to an agent in the middle of its turn.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleSystem    Role = "system"
	RoleSteer     Role = "steer"
)

// A Message is one utterance of one speaker, and the payload of a said event.
// Several events with the same ID are pieces of one message: [Entries] puts
// them together.
type Message struct {
	ID          string          `json:"id,omitempty"` // "" if the event is the whole message
	Role        Role            `json:"role"`
	Parts       []Part          `json:"parts"`
	Provider    string          `json:"provider,omitempty"`
	Model       string          `json:"model,omitempty"`   // model that wrote it, as its vendor names it; "" for people
	Agent       string          `json:"agent,omitempty"`   // agent that spoke, where it differs from the session's
	Request     string          `json:"request,omitempty"` // provider request ID: usage with the same one is counted once
	Tier        string          `json:"tier,omitempty"`    // as [ServiceTier]; "" for the usual one
	Usage       *Usage          `json:"usage,omitempty"`   // what the request cost; nil if not known
	Stop        string          `json:"stop,omitempty"`    // why the model ended, in its vendor's word
	Error       *ErrorInfo      `json:"error,omitempty"`
	Synthetic   bool            `json:"synthetic,omitempty"`   // inserted by a program, neither typed by a person nor said by a model
	Interrupted bool            `json:"interrupted,omitempty"` // it broke off; Parts is what came before
	Meta        json.RawMessage `json:"meta,omitempty"`
}

// JSONWith returns v as [MustJSON] does. m is a part of v: unless it has a long text, it
// makes no difference. encoding/json would copy such a text three times, and keep one
// of the copies.
func (m *Message) JSONWith(v any) json.RawMessage {
	rest, texts, err := m.jsonAround(v)
	if err != nil {
		panic("skein: " + err.Error())
	}
	if len(texts) == 0 {
		return rest[0]
	}
	size := 0
	for i, t := range texts {
		size += len(rest[i]) + QuotedLen(t)
	}
	out := make([]byte, 0, size+len(rest[len(texts)]))
	for i, t := range texts {
		out = AppendQuoted(append(out, rest[i]...), t)
	}
	return append(out, rest[len(texts)]...)
}

// jsonAround returns the long texts of m, which is a part of v, and the JSON of v
// without them: what comes before each, and after the last. The error is that of
// encoding/json.
func (m *Message) jsonAround(v any) (rest [][]byte, texts []string, err error) {
	if !m.long() {
		all, err := marshal(v)
		return [][]byte{all}, nil, err
	}
	mark := rand.Text()
	take := func(t *Text) {
		if len(*t) >= longText {
			texts = append(texts, string(*t))
			*t = Text(mark)
		}
	}
	defer func(was []Part) { m.Parts = was }(m.Parts)
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts { // in the order of the JSON
		p := &m.Parts[i]
		take(&p.Text)
		if p.Result != nil && len(p.Result.Text) >= longText {
			r := *p.Result
			take(&r.Text)
			p.Result = &r
		}
	}
	all, err := marshal(v)
	return bytes.SplitN(all, []byte(`"`+mark+`"`), len(texts)+1), texts, err
}

// quotedPieces yields what [AppendQuoted] appends, in pieces that are valid until the
// next one.
func quotedPieces(s string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var b []byte
		for first := true; first || len(s) > 0; first = false {
			end := min(len(s), longText)
			for back := 0; back < utf8.UTFMax && end < len(s) && end > 0 && !utf8.RuneStart(s[end]); back++ {
				end--
			}
			b = AppendQuoted(b[:0], s[:end])
			s = s[end:]
			piece := b
			if !first {
				piece = piece[1:]
			}
			if len(s) > 0 {
				piece = piece[:len(piece)-1]
			}
			if !yield(piece) {
				return
			}
		}
	}
}

// long reports whether m has a long text.
func (m *Message) long() bool {
	return slices.ContainsFunc(m.Parts, func(p Part) bool { return len(p.Text) >= longText || p.Result != nil && len(p.Result.Text) >= longText })
}

// An ErrorInfo is an error that a model, a provider or a tool reported.
type ErrorInfo struct {
	Kind    string `json:"kind,omitempty"`
	Message string `json:"message"`
	Status  int    `json:"status,omitempty"` // HTTP status; 0 if none
}

// A PartKind says which fields of a [Part] are set.
type PartKind string

// The kinds of part. A reader keeps parts of other kinds too.
const (
	PartText      PartKind = "text"      // Text
	PartReasoning PartKind = "reasoning" // Text, and Raw where the provider's item is opaque
	PartCall      PartKind = "call"      // Call
	PartResult    PartKind = "result"    // Result
	PartFile      PartKind = "file"      // File
	PartSummary   PartKind = "summary"   // Text: replaces what was compacted
	PartAgent     PartKind = "agent"     // Text: name of an agent that was called
	PartOther     PartKind = "other"     // Raw: something an importer found and kept unchanged
)

// A Part is a piece of a message.
type Part struct {
	Kind      PartKind        `json:"kind"`
	Text      Text            `json:"text,omitempty"`
	Call      *Call           `json:"call,omitempty"`
	Result    *Result         `json:"result,omitempty"`
	File      *File           `json:"file,omitempty"`
	Raw       json.RawMessage `json:"raw,omitempty"`
	Synthetic bool            `json:"synthetic,omitempty"`
	Start     Time            `json:"start,omitzero"`
	End       Time            `json:"end,omitzero"`
	Meta      json.RawMessage `json:"meta,omitempty"`
}

// A Call is a model's request to run a tool.
type Call struct {
	ID    string          `json:"id"` // pairs the call with its result
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"` // JSON, as the model wrote it; a string if it was not JSON
}

// A Result is what a tool answered.
type Result struct {
	CallID string          `json:"call_id"`
	Name   string          `json:"name,omitempty"` // of the tool, where known
	Text   Text            `json:"text,omitempty"`
	Files  []File          `json:"files,omitempty"`
	Failed bool            `json:"failed,omitempty"` // the tool ran and failed
	Raw    json.RawMessage `json:"raw,omitempty"`    // content that is neither text nor file
}

// A File is an attachment: an image, a document, a piece of a source file.
type File struct {
	Name  string `json:"name,omitempty"` // path or file name
	Media string `json:"media,omitempty"`
	Blob  Hash   `json:"blob,omitempty"`  // its bytes, in a blob of the store; "" if they are elsewhere
	Size  int64  `json:"size,omitempty"`  // bytes; 0 if not known
	URL   string `json:"url,omitempty"`   // where the bytes are, if not in a blob; never fetched
	First int    `json:"first,omitempty"` // first line of a piece; 0 for the whole
	Last  int    `json:"last,omitempty"`  // last line of a piece
}

// TextPart returns a part of kind text.
func TextPart(s string) Part { return Part{Kind: PartText, Text: Text(s)} }

// UserSays returns a message that a person typed.
func UserSays(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{TextPart(text)}}
}

// Words returns the text of m's text parts that a person or model meant to be
// read, joined by blank lines. It leaves out reasoning, tools and synthetic parts.
func (m *Message) Words() string {
	if len(m.Parts) == 1 && m.Parts[0].Kind == PartText && !m.Parts[0].Synthetic {
		return string(m.Parts[0].Text) // nothing to copy
	}
	var b []byte
	for _, p := range m.Parts {
		if (p.Kind == PartText || p.Kind == PartSummary) && !p.Synthetic {
			if len(b) > 0 {
				b = append(b, "\n\n"...)
			}
			b = append(b, p.Text...)
		}
	}
	return string(b)
}

// A Hash names a blob: the SHA-256 of its bytes, 64 characters of lowercase
// hexadecimal.
type Hash string

// A Blob is the bytes of an attachment, such as an image or a document. It is
// stored with the batch whose events refer to it, and each blob is stored once.
type Blob struct {
	Hash Hash
	Data []byte
}

// NewBlob returns data as a Blob. It does not copy data.
func NewBlob(data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{Hash: Hash(hex.EncodeToString(sum[:])), Data: data}
}

// Check returns an error wrapping [ErrInvalid] if b's hash is not that of its data.
func (b Blob) Check() error {
	if want := NewBlob(b.Data).Hash; b.Hash != want {
		return Invalidf("blob %s: its bytes have the hash %s", b.Hash, want)
	}
	return nil
}

// A Usage is what model requests used. Token counts are the provider's own; a
// count that it does not report is 0.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read, not counting CacheRead and CacheWrite
	Output     int64 `json:"output,omitempty"`      // tokens written, Reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // part of Output
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens written to it
	CacheHour  int64 `json:"cache_hour,omitempty"`  // part of CacheWrite: kept for an hour, which costs more than for five minutes
	Requests   int64 `json:"requests,omitempty"`    // model requests; set by the fold
	Reported   int64 `json:"reported,omitempty"`    // cost that the source reported, in billionths of a US dollar; 0 if it did not
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheHour:  u.CacheHour + v.CacheHour,
		Requests:   u.Requests + v.Requests,
		Reported:   u.Reported + v.Reported,
	}
}

// Minus returns u minus v, field by field.
func (u Usage) Minus(v Usage) Usage {
	return u.Plus(Usage{-v.Input, -v.Output, -v.Reasoning, -v.CacheRead, -v.CacheWrite, -v.CacheHour, -v.Requests, -v.Reported})
}

// recorded returns u if it is of a request whose cost the source reported, else
// nothing.
func (u Usage) recorded() Usage {
	if u.Reported == 0 {
		return Usage{}
	}
	return u
}

// Merge returns the usage of one request for which first u, then v was reported:
// the larger output, since it grows while an answer streams, and, of every other
// counter, the later value that is not 0. CacheHour stays a part of CacheWrite.
func (u Usage) Merge(v Usage) Usage {
	later := func(a, b int64) int64 {
		if b != 0 {
			return b
		}
		return a
	}
	return Usage{
		Input:      later(u.Input, v.Input),
		Output:     max(u.Output, v.Output),
		Reasoning:  max(u.Reasoning, v.Reasoning),
		CacheRead:  later(u.CacheRead, v.CacheRead),
		CacheWrite: later(u.CacheWrite, v.CacheWrite),
		CacheHour:  min(later(u.CacheHour, v.CacheHour), later(u.CacheWrite, v.CacheWrite)),
		Requests:   max(u.Requests, v.Requests),
		Reported:   max(u.Reported, v.Reported),
	}
}

// Tokens returns all tokens of u: read, written and cached.
func (u Usage) Tokens() int64 { return u.Prompt() + u.Output }

// Prompt returns all tokens of the prompt: new, read from the cache, and written to it.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// A Charge is what one event says about the cost of one request.
type Charge struct {
	Request  string // provider request ID; the store counts each once per user
	Provider string
	Model    string
	Tier     Tier // by this event alone; [Added.Tier] also considers the events before
	Several  bool // Usage is of several requests, of whose prompts nothing is known
	Time     Time
	Usage    Usage // Requests is 1
}

// tier returns the tier of the request if its usage is u.
func (c *Charge) tier(service string, u Usage) Tier {
	if c.Several {
		return TierOf(service, 0)
	}
	return TierOf(service, u.Prompt())
}

// A Tier is what, besides the model, determines the price of a request: its service
// tier and the length of its prompt. It is the service tier (batch, flex, priority
// or fast; "" for the usual one) and, if the prompt exceeded one of the lengths
// above which some provider charges more, ">" and the greatest such length that it
// exceeded: "", "batch", ">200000", "batch>200000".
type Tier string

// longPrompts are the lengths in tokens above which prompts cost more, for any
// provider. A test of the prices checks that they use no others.
var longPrompts = []int64{128_000, 199_999, 200_000, 271_999, 272_000, 512_000}

// ServiceTier returns the service tier that a provider calls word: batch, flex,
// priority or fast; "" for the usual one, which providers call standard or
// default, and for words that are not known to change the price.
func ServiceTier(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "batch", "flex", "priority", "fast":
		return word
	}
	return ""
}

// TierOf returns the tier of a request with this service tier, as its provider
// calls it, and a prompt of this many tokens.
func TierOf(service string, prompt int64) Tier {
	service = ServiceTier(service)
	above := int64(0)
	for _, n := range longPrompts {
		if prompt > n {
			above = n
		}
	}
	if above == 0 {
		return Tier(service)
	}
	return Tier(service + ">" + strconv.FormatInt(above, 10))
}

// Service returns the service tier: batch, flex, priority or fast; "" for the
// usual one.
func (t Tier) Service() string {
	service, _, _ := strings.Cut(string(t), ">")
	return service
}

// Above returns the greatest length above which some provider charges more and
// that the prompt exceeded; 0 if there is none.
func (t Tier) Above() int64 {
	_, above, _ := strings.Cut(string(t), ">")
	n, err := strconv.ParseInt(above, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
