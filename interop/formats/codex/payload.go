package codex

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
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
