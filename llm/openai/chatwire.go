package openai

import "encoding/json"

// A chatRequest is the body of a request to the Chat Completions API, as far as
// it is used here.
type chatRequest struct {
	Model        string        `json:"model"`
	Messages     []chatMessage `json:"messages"`
	Stream       bool          `json:"stream"`
	Options      streamOptions `json:"stream_options"`
	Effort       string        `json:"reasoning_effort,omitempty"`
	MaxTokens    int           `json:"max_tokens,omitempty"`
	MaxNewTokens int           `json:"max_completion_tokens,omitempty"`
	Tools        []chatTool    `json:"tools,omitempty"`
	Extra        any           `json:"extra_body,omitempty"`
}

type streamOptions struct {
	Usage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content any             `json:"content,omitempty"` // a string or []chatPart
	Calls   []chatCall      `json:"tool_calls,omitempty"`
	CallID  string          `json:"tool_call_id,omitempty"`
	Extra   json.RawMessage `json:"extra_content,omitempty"`
}

type chatCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatPart struct {
	Type  string     `json:"type"`
	Text  *string    `json:"text,omitempty"`
	Image *chatImage `json:"image_url,omitempty"`
	Audio *chatAudio `json:"input_audio,omitempty"`
}

type chatImage struct {
	URL string `json:"url"`
}

type chatAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// A chunk is an event of the stream.
type chunk struct {
	Model   string          `json:"model"`
	Tier    string          `json:"service_tier"`
	Usage   *chatUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta chatDelta `json:"delta"`
		Why   string    `json:"finish_reason"`
	} `json:"choices"`
}

type chatDelta struct {
	Content   string          `json:"content"`
	Refusal   string          `json:"refusal"`
	Reasoning string          `json:"reasoning_content"`
	Thought   string          `json:"reasoning"`
	Extra     json.RawMessage `json:"extra_content"`
	Calls     []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    int64           `json:"index"`
	ID       string          `json:"id"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type chatUsage struct {
	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Total      int64   `json:"total_tokens"`
	In         details `json:"prompt_tokens_details"`
	Out        details `json:"completion_tokens_details"`
}
