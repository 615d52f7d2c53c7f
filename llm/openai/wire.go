package openai

import "encoding/json"

// A request is the body of a request to the Responses API, as far as it is used
// here.
type request struct {
	Model        string     `json:"model"`
	Stream       bool       `json:"stream"`
	Store        bool       `json:"store"`
	Instructions string     `json:"instructions,omitempty"`
	Input        []any      `json:"input"` // *item, or json.RawMessage from an answer
	MaxTokens    int        `json:"max_output_tokens,omitempty"`
	Tools        []function `json:"tools,omitempty"`
	Include      []string   `json:"include,omitempty"`
	Reasoning    *reasoning `json:"reasoning,omitempty"`
}

type reasoning struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
}

// A function is a tool, with its schema unchanged.
type function struct {
	Type       string          `json:"type,omitempty"`
	Name       string          `json:"name"`
	Doc        string          `json:"description,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Strict     *bool           `json:"strict,omitempty"`
}

// An item is an input item; without a type, it is a message.
type item struct {
	Type      string  `json:"type,omitempty"`
	Role      string  `json:"role,omitempty"`
	Content   any     `json:"content,omitempty"` // a string or []content
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Arguments *string `json:"arguments,omitempty"`
	Output    any     `json:"output,omitempty"` // a string or []content
}

type content struct {
	Type   string  `json:"type"`
	Text   *string `json:"text,omitempty"`
	Image  string  `json:"image_url,omitempty"`
	Detail string  `json:"detail,omitempty"`
	Data   string  `json:"file_data,omitempty"`
	URL    string  `json:"file_url,omitempty"`
	Name   string  `json:"filename,omitempty"`
}

// An event is an event of the stream of the Responses API.
type event struct {
	Type     string          `json:"type"`
	Output   int64           `json:"output_index"`
	Content  int64           `json:"content_index"`
	Summary  int64           `json:"summary_index"`
	Delta    string          `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Response json.RawMessage `json:"response"`
	Error    json.RawMessage `json:"error"`
}

// A made is an item that the model made.
type made struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
	Content   []struct {
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

type response struct {
	Model  string `json:"model"`
	Status string `json:"status"`
	Tier   string `json:"service_tier"`
	Usage  *usage `json:"usage"`
	Why    struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

type usage struct {
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	In     details `json:"input_tokens_details"`
	Out    details `json:"output_tokens_details"`
}

type details struct {
	Cached     int64 `json:"cached_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`
}
