package skein

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Facts are what a store needs to know about an event besides its bytes, computed
// from the payload in one place for all stores.
type Facts struct {
	Created   *Created   // of a created event
	Message   *Message   // of a said event
	Tool      *ToolState // of a tool event
	Step      *Step
	Titled    *Titled // and so on
	Changed   *Changed
	Compacted *Compacted
	Rewound   *Rewound
	Amended   *Amended
	Ended     *Program

	Role   Role     // of a said event; "" otherwise
	Text   string   // UTF-8: what search finds in the event; the parts' texts, reasoning, tool inputs and outputs, one after the other
	Spans  []Span   // where each piece of Text comes from
	Parts  []int    // for each part of a message, how many Spans it and the parts before it have
	Tools  []string // names of the tools that are called, and those that results name
	Calls  []string // IDs of the Call parts
	Answer []string // IDs of the calls that Result parts answer
	Failed bool     // a tool failed, or the message or step has an error
	Paths  []string // file paths in tool inputs and file parts
	Blobs  []Hash   // blobs that the payload refers to
	Charge *Charge  // nil if it cost nothing
}

// A Span is a piece of [Facts.Text].
type Span struct {
	Kind       PartKind // text, reasoning, call, result, summary, file, other
	Start, End int      // bytes of Facts.Text
}

// FactsOf computes the facts of e. An event of a kind that this version does not
// know has no facts.
//
// The error wraps [ErrInvalid]: the payload is not a JSON object, is longer than
// [MaxPayload], or does not fit the kind; the kind is empty, longer than 64 bytes
// or not UTF-8; the time is not in the years 0 to 9999.
func FactsOf(e Event) (Facts, error) {
	if err := checkEvent(e); err != nil {
		return Facts{}, err
	}
	var f gatherer
	err := f.event(e)
	if err != nil && !json.Valid(e.Payload) {
		return Facts{}, notObject(e)
	}
	f.Text = strings.Join(f.texts, "\n")
	return f.Facts, err
}

// A gatherer computes facts. It joins their text at the end, because a message can
// have a hundred thousand parts.
type gatherer struct {
	Facts
	texts []string
	size  int // bytes of texts, with their separators
}

func (f *gatherer) event(e Event) (err error) {
	switch e.Kind {
	case KindCreated:
		f.Created, err = decodeTo[Created](e)
	case KindSaid:
		if f.Message, err = decodeTo[Message](e); err == nil {
			err = f.message(e, f.Message)
		}
	case KindTool:
		f.Tool, err = decodeTo[ToolState](e)
		f.Failed = err == nil && f.Tool.State == Failed
		if err == nil && f.Tool.Call == "" {
			err = Invalidf("tool event: it names no call")
		}
	case KindStep:
		if f.Step, err = decodeTo[Step](e); err == nil {
			s := f.Step
			f.Failed = s.Error != nil
			for _, hash := range []string{s.Prompt, s.Tools, s.Config} {
				if s.Kept && hash != "" {
					f.Blobs = append(f.Blobs, Hash(hash))
				}
			}
			f.charge(&Charge{Request: s.Request, Provider: s.Provider, Model: s.Model, Several: s.Several, Time: e.Time}, s.Tier, s.Usage)
		}
	case KindTitled:
		if f.Titled, err = decodeTo[Titled](e); err == nil {
			f.add(PartText, f.Titled.Title)
		}
	case KindChanged:
		if f.Changed, err = decodeTo[Changed](e); err == nil && f.Changed.Key != nil {
			err = checkName("key", *f.Changed.Key, false)
		}
	case KindCompacted:
		if f.Compacted, err = decodeTo[Compacted](e); err == nil {
			f.add(PartSummary, f.Compacted.Summary)
		}
	case KindRewound:
		f.Rewound, err = decodeTo[Rewound](e)
	case KindAmended:
		f.Amended, err = decodeTo[Amended](e)
	case KindEnded:
		f.Ended, err = decodeTo[Program](e)
	}
	return err
}

func decodeTo[T any](e Event) (*T, error) {
	v, err := Decode[T](e)
	return &v, err
}

func checkEvent(e Event) error {
	switch {
	case e.Kind == "" || len(e.Kind) > 64 || !utf8.ValidString(string(e.Kind)):
		return Invalidf("event: kind %.64q", string(e.Kind))
	case !e.Time.valid():
		return Invalidf("event of kind %q: time %d: year %d", e.Kind, int64(e.Time), e.Time.Std().Year())
	case len(e.Payload) > MaxPayload:
		return Invalidf("event of kind %q: payload of %d bytes, at most %d are allowed", e.Kind, len(e.Payload), MaxPayload)
	case !bytes.HasPrefix(e.Payload, []byte("{")) || !hasType(e.Kind) && !json.Valid(e.Payload):
		return notObject(e)
	}
	return checkName("client ID", string(e.ClientID), false)
}

func notObject(e Event) error {
	return Invalidf("event of kind %q: payload is not a JSON object: %.40q", e.Kind, []byte(e.Payload))
}

// hasType reports whether FactsOf decodes payloads of this kind, and so checks that
// they are JSON.
func hasType(k Kind) bool {
	switch k {
	case KindCreated, KindSaid, KindTool, KindStep, KindTitled, KindChanged, KindCompacted, KindRewound, KindAmended, KindEnded:
		return true
	}
	return false
}

func (f *gatherer) message(e Event, m *Message) error {
	if m.Role == "" {
		return Invalidf("message: it has no role")
	}
	f.Role, f.Failed, f.Parts = m.Role, m.Error != nil, make([]int, 0, len(m.Parts))
	for i := range m.Parts {
		if err := f.part(i, &m.Parts[i]); err != nil {
			return err
		}
		f.Parts = append(f.Parts, len(f.Spans))
	}
	if m.Error != nil {
		f.add(PartOther, m.Error.Message)
	}
	request := m.Request
	if request == "" {
		request = m.ID
	}
	f.charge(&Charge{Request: request, Provider: m.Provider, Model: m.Model, Time: e.Time}, m.Tier, m.Usage)
	return nil
}

func (f *gatherer) part(i int, p *Part) error {
	if p.Kind == "" {
		return Invalidf("message: part %d has no kind", i)
	}
	f.add(p.Kind, p.Text.UTF8())
	switch {
	case p.Kind == PartCall && p.Call == nil, p.Kind == PartResult && p.Result == nil, p.Kind == PartFile && p.File == nil:
		return Invalidf("message: part %d of kind %q lacks its %[2]s", i, p.Kind)
	case p.Kind == PartCall:
		f.Tools, f.Calls = append(f.Tools, p.Call.Name), append(f.Calls, p.Call.ID)
		f.add(PartCall, p.Call.Name)
		f.strings(p.Call.Input)
	case p.Kind == PartResult:
		r := p.Result
		f.Answer, f.Failed = append(f.Answer, r.CallID), f.Failed || r.Failed
		if r.Name != "" {
			f.Tools = append(f.Tools, r.Name)
		}
		f.add(PartResult, r.Text.UTF8())
		for i := range r.Files {
			f.file(&r.Files[i])
		}
	case p.Kind == PartFile:
		f.file(p.File)
	}
	return nil
}

func (f *gatherer) file(file *File) {
	f.add(PartFile, file.Name)
	if file.Name != "" {
		f.Paths = append(f.Paths, file.Name)
	}
	if file.Blob != "" {
		f.Blobs = append(f.Blobs, file.Blob)
	}
}

func (f *gatherer) add(k PartKind, s string) {
	if s == "" {
		return
	}
	if len(f.texts) > 0 {
		f.size++
	}
	f.Spans = append(f.Spans, Span{k, f.size, f.size + len(s)})
	f.texts, f.size = append(f.texts, s), f.size+len(s)
}

// pathKeys are the names of tool parameters that are a file's path.
var pathKeys = map[string]bool{"path": true, "file_path": true, "filepath": true, "filename": true, "file": true, "notebook_path": true}

// strings adds the strings that are values in a tool's input, in order.
func (f *gatherer) strings(input json.RawMessage) {
	key := ""
	for literal, isName := range literals(input) {
		s := unquoted(literal)
		if isName {
			key = s
			continue
		}
		f.add(PartCall, s)
		if pathKeys[strings.ToLower(key)] && len(s) < 4096 && !strings.ContainsAny(s, "\n\x00") {
			f.Paths = append(f.Paths, s)
		}
		f.Paths = append(f.Paths, patchPaths(s)...)
	}
}

// unquoted returns a string as encoding/json reads it, from its JSON.
func unquoted(literal []byte) string {
	if s, ok := Unquote(literal); ok && utf8.ValidString(s) {
		return s
	}
	var s string
	if json.Unmarshal(literal, &s) != nil { // it is part of what was decoded
		return ""
	}
	return s
}

// patchMarks are the prefixes of a path in the patches that several agents pass to
// their tools: lines of text between "*** Begin Patch" and "*** End Patch".
func patchMarks() []string {
	return []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}
}

// maxPatchPaths limits how many paths of one patch are kept.
const maxPatchPaths = 1000

// patchPaths returns the paths of the files that a patch in text changes.
func patchPaths(text string) (paths []string) {
	_, text, found := strings.Cut(text, "*** Begin Patch\n")
	if !found {
		return nil
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, mark := range patchMarks() {
			path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark)
			if ok && path != "" && len(path) < 4096 && len(paths) < maxPatchPaths {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// charge makes c the charge of u, unless u is nil or zero.
func (f *gatherer) charge(c *Charge, service string, u *Usage) {
	if u == nil || *u == (Usage{}) {
		return
	}
	c.Usage = *u
	c.Usage.Requests = 1
	c.Tier = c.tier(service, c.Usage)
	f.Charge = c
}
