package codex

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// An item is the payload of a response_item line, of any of its types.
type item struct {
	ID               string         `json:"id"`
	Role             string         `json:"role"`
	Content          jsontext.Value `json:"content"` // message: a string or a list of piece; reasoning: a list of piece or null
	Summary          jsontext.Value `json:"summary"` // reasoning: a list of piece
	EncryptedContent jsontext.Value `json:"encrypted_content"`
	Phase            string         `json:"phase"` // assistant message: commentary, final_answer
	Name             string         `json:"name"`
	Namespace        string         `json:"namespace"`
	CallID           string         `json:"call_id"`
	Arguments        jsontext.Value `json:"arguments"` // function_call: JSON in a string; tool_search_call: an object
	Input            jsontext.Value `json:"input"`     // custom_tool_call: text
	Output           jsontext.Value `json:"output"`    // a string, a list of piece, or an object
	Status           string         `json:"status"`
	Action           jsontext.Value `json:"action"` // local_shell_call, web_search_call
	Tools            jsontext.Value `json:"tools"`  // tool_search_output
	Result           jsontext.Value `json:"result"` // image_generation_call: base64
	RevisedPrompt    jsontext.Value `json:"revised_prompt"`
	Author           string         `json:"author"`    // agent_message
	Recipient        string         `json:"recipient"` // agent_message
}

// A piece is an element of a content list.
type piece struct {
	Type             string         `json:"type"` // input_text, output_text, input_image, input_file, summary_text, reasoning_text, text, …
	Text             *skein.Text    `json:"text"`
	ImageURL         jsontext.Value `json:"image_url"` // a string: data: or https:
	FileData         string         `json:"file_data"`
	FileName         string         `json:"filename"`
	FileURL          string         `json:"file_url"`
	EncryptedContent jsontext.Value `json:"encrypted_content"`
}

// A meta is the payload of a session_meta line.
type meta struct {
	ID             string         `json:"id"`
	Timestamp      jsontext.Value `json:"timestamp"`
	Cwd            string         `json:"cwd"`
	Git            jsontext.Value `json:"git"` // git, or null
	Originator     string         `json:"originator"`
	Version        string         `json:"cli_version"`
	Source         jsontext.Value `json:"source"` // a word, or {"subagent": …}
	ModelProvider  string         `json:"model_provider"`
	HistoryMode    string         `json:"history_mode"` // legacy; paginated: lines have ordinals
	ForkedFrom     string         `json:"forked_from_id"`
	ParentThread   string         `json:"parent_thread_id"`
	AgentNickname  string         `json:"agent_nickname"`
	AgentRole      string         `json:"agent_role"`
	AgentType      string         `json:"agent_type"` // earlier name of agent_role
	BaseInstr      jsontext.Value `json:"base_instructions"`
	OldInstruction jsontext.Value `json:"instructions"`
}

// A git is what a session_meta says about the folder's repository when the thread
// began.
type git struct {
	Commit     string `json:"commit_hash"`
	Branch     string `json:"branch"`
	Repository string `json:"repository_url"` // of the remote
}

// checkout returns what a meta says about the repository.
func (m *meta) checkout() skein.Checkout {
	g, err := unmarshal[git](m.Git)
	if err != nil || len(m.Git) == 0 { // of another shape: it says nothing
		return skein.Checkout{}
	}
	return interop.Recorded(g.Repository, g.Branch, g.Commit)
}

// turnContext is the payload of a turn_context line.
type turnContext struct {
	TurnID string `json:"turn_id"`
	Cwd    string `json:"cwd"`
	Model  string `json:"model"`
}

// compacted is the payload of a compacted line.
type compacted struct {
	Message            *skein.Text    `json:"message"`
	ReplacementHistory jsontext.Value `json:"replacement_history"` // items
}

// note is the payload of an event_msg line, for the types that say more than the
// items do.
type note struct {
	TurnID     string         `json:"turn_id"`
	CallID     string         `json:"call_id"`
	EventID    string         `json:"event_id"`
	ExitCode   *int           `json:"exit_code"`
	Success    *bool          `json:"success"`
	Status     jsontext.Value `json:"status"`
	Item       jsontext.Value `json:"item"`   // item_completed
	Result     jsontext.Value `json:"result"` // mcp_tool_call_end: {"Ok": …} or {"Err": …}
	Invocation struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
	} `json:"invocation"`
	Info          *tokenInfo     `json:"info"`
	Message       skein.Text     `json:"message"`
	ErrorInfo     jsontext.Value `json:"codex_error_info"`
	Reason        string         `json:"reason"`
	NumTurns      int            `json:"num_turns"`
	ThreadID      string         `json:"thread_id"`
	ThreadName    *skein.Text    `json:"thread_name"`
	NewThreadID   string         `json:"new_thread_id"`
	AgentThreadID string         `json:"agent_thread_id"`
	Kind          string         `json:"kind"`
}

type tokenInfo struct {
	Total *tokens `json:"total_token_usage"`
	Last  *tokens `json:"last_token_usage"`
}

// tokens are counts as Codex gives them: the input includes cached tokens, the output
// includes reasoning.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_output_tokens"`
	All        int64 `json:"total_tokens"`
}

// usage returns t as a [skein.Usage].
func (t tokens) usage() skein.Usage {
	return skein.Usage{
		Input:      max(0, t.Input-t.Cached-t.CacheWrite),
		CacheRead:  t.Cached,
		CacheWrite: t.CacheWrite,
		Output:     t.Output,
		Reasoning:  t.Reasoning,
	}
}

// minus returns the difference of t and u.
func (t tokens) minus(u tokens) tokens {
	return tokens{t.Input - u.Input, t.Cached - u.Cached, t.CacheWrite - u.CacheWrite, t.Output - u.Output, t.Reasoning - u.Reasoning, t.All - u.All}
}

// The generations differ only in the envelope. A line of the first, up to August
// 2025, is the item itself; since then it is wrapped.
const (
	typeMeta    = "session_meta"
	typeItem    = "response_item"
	typeEvent   = "event_msg"
	typeContext = "turn_context"
	typeCompact = "compacted"
	typeAgents  = "inter_agent_communication"
	typeState   = "state"
)

// A line is a record without its envelope.
type line struct {
	Time    skein.Time     // 0 in the first generation, or if the stamp is invalid
	Type    string         // session_meta, response_item, event_msg, turn_context, compacted, …
	Sub     string         // payload's own type; "" if it has none
	Payload jsontext.Value // unchanged in the record; the record itself if there is no envelope
	Bare    bool           // there was no envelope
	Run     bool           // see interop.Line
}

// envelope has the fields of both generations' lines.
type envelope struct {
	Timestamp  jsontext.Value `json:"timestamp"`
	Type       jsontext.Value `json:"type"`
	Payload    jsontext.Value `json:"payload"`
	ID         jsontext.Value `json:"id"`
	RecordType jsontext.Value `json:"record_type"`
}

// unmarshal reads b as T, a struct with only the members that are used.
func unmarshal[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v, loose.Options())
	return v, err
}

var errNoObject = errors.New("it is not a JSON object")

// split removes the envelope of a record, which is one JSON value.
func split(body []byte) (line, error) {
	if len(body) == 0 || body[0] != '{' {
		return line{}, errNoObject
	}
	env, err := unmarshal[envelope](body)
	if err != nil {
		return line{}, plain(err)
	}
	l := line{Time: loose.Stamp(env.Timestamp), Type: loose.Str(env.Type), Payload: env.Payload}
	switch {
	case env.Payload != nil:
		if l.Payload[0] == '{' {
			l.Sub = subtype(l.Payload)
		}
		return l, nil
	case l.Type == typeCompact || l.Type == typeMeta || l.Type == typeContext || l.Type == typeEvent || l.Type == typeItem:
		return l, fmt.Errorf("a line of type %q without a payload", l.Type)
	}
	return bare(l, env, body), nil
}

// bare reads a line of the first generation: the meta has an ID and a time
// but no type, items have a type.
func bare(l line, env envelope, body []byte) line {
	l.Payload, l.Bare = body, true
	switch {
	case l.Type != "":
		l.Type, l.Sub = typeItem, l.Type
	case len(env.RecordType) > 0:
		l.Type = loose.Str(env.RecordType)
	case len(env.ID) > 0 && len(env.Timestamp) > 0:
		l.Type = typeMeta
	}
	return l
}

func subtype(payload []byte) string {
	t, err := unmarshal[struct {
		Type jsontext.Value `json:"type"`
	}](payload)
	if err != nil {
		return ""
	}
	return loose.Str(t.Type)
}

// plain rewords err without naming Go types.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("invalid JSON at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Errorf("%s is a JSON %s", semantic.JSONPointer, semantic.JSONKind)
	}
	return err
}
