package anthropic

import "encoding/json"

// A request is the body of a request, as far as it is used here.
type request struct {
	Model     string    `json:"model"`
	MaxTokens int64     `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	System    []*block  `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []*tool   `json:"tools,omitempty"`
	Thinking  *thinking `json:"thinking,omitempty"`
	Output    *output   `json:"output_config,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // *block, or json.RawMessage from an answer
}

// A block is a content block of any type.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Failed    bool            `json:"is_error,omitempty"`
	Content   []*block        `json:"content,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Cache     *mark           `json:"cache_control,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type,omitempty"`
	Data  string `json:"data,omitempty"`
	URL   string `json:"url,omitempty"`
}

type tool struct {
	Name   string          `json:"name"`
	Doc    string          `json:"description,omitempty"`
	Schema json.RawMessage `json:"input_schema"`
	Cache  *mark           `json:"cache_control,omitempty"`
}

// A mark says that the request is to be cached up to there.
type mark struct {
	Type string `json:"type"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int64  `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type output struct {
	Effort string `json:"effort,omitempty"`
}

// A thought is reasoning as received and sent back.
type thought struct {
	Type      string  `json:"type"`
	Thinking  *string `json:"thinking,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Data      string  `json:"data,omitempty"`
}

// An event is an event of the stream.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage *usage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		Data      string `json:"data"`
		ID        string `json:"id"`
		Name      string `json:"name"`
	} `json:"content_block"`
	Delta delta  `json:"delta"`
	Usage *usage `json:"usage"`
}

type delta struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	Thinking   string `json:"thinking"`
	Signature  string `json:"signature"`
	Input      string `json:"partial_json"`
	StopReason string `json:"stop_reason"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Written    struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Tier    string `json:"service_tier"`
	Speed   string `json:"speed"` // fast, standard
	Details struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}
