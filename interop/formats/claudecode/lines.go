package claudecode

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// Lines as they are written, in the program's order.
type (
	lineOut struct {
		Parent     *string         `json:"parentUuid"`
		Logical    string          `json:"logicalParentUuid,omitempty"`
		Sidechain  bool            `json:"isSidechain"`
		User       string          `json:"userType"`
		Cwd        string          `json:"cwd"`
		Session    string          `json:"sessionId"`
		Version    string          `json:"version"`
		Branch     string          `json:"gitBranch"`
		Agent      string          `json:"agentId,omitempty"`
		Type       string          `json:"type"`
		Subtype    string          `json:"subtype,omitempty"`
		Content    string          `json:"content,omitempty"`
		Message    *messageOut     `json:"message,omitempty"`
		Attachment *steerOut       `json:"attachment,omitempty"`
		Meta       bool            `json:"isMeta,omitempty"`
		LogOnly    bool            `json:"isVisibleInTranscriptOnly,omitempty"`
		Summary    bool            `json:"isCompactSummary,omitempty"`
		Request    string          `json:"requestId,omitempty"`
		APIError   bool            `json:"isApiErrorMessage,omitempty"`
		Status     int             `json:"apiErrorStatus,omitempty"`
		Error      string          `json:"error,omitempty"`
		UUID       string          `json:"uuid"`
		Time       skein.Time      `json:"timestamp"`
		Level      string          `json:"level,omitempty"`
		Compact    *compactOut     `json:"compactMetadata,omitempty"`
		Result     json.RawMessage `json:"toolUseResult,omitempty"`
		Source     string          `json:"sourceToolAssistantUUID,omitempty"`
	}
	messageOut struct {
		ID       string    `json:"id,omitempty"`
		Type     string    `json:"type,omitempty"`
		Role     string    `json:"role"`
		Model    string    `json:"model,omitempty"`
		Content  any       `json:"content"`
		*stopOut           // of answers
		Usage    *usageOut `json:"usage,omitempty"`
	}
	stopOut struct {
		Stop     *string `json:"stop_reason"`
		Sequence *string `json:"stop_sequence"`
	}
	usageOut struct {
		Input      int64 `json:"input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		Output     int64 `json:"output_tokens"`
		*cachedOut
		Tier string `json:"service_tier,omitempty"`
	}
	cachedOut struct {
		Created struct {
			Minutes int64 `json:"ephemeral_5m_input_tokens"`
			Hour    int64 `json:"ephemeral_1h_input_tokens"`
		} `json:"cache_creation"`
	}
	steerOut struct {
		Type   string `json:"type"`
		Prompt any    `json:"prompt"`
		Mode   string `json:"commandMode"`
	}
	titleOut struct {
		Type    string `json:"type"`
		Custom  string `json:"customTitle,omitempty"`
		AI      string `json:"aiTitle,omitempty"`
		Session string `json:"sessionId"`
	}
	lastPromptOut struct {
		Type    string `json:"type"`
		Prompt  string `json:"lastPrompt"`
		Leaf    string `json:"leafUuid"`
		Session string `json:"sessionId"`
	}
	compactOut struct {
		Trigger string `json:"trigger"`
		Before  int64  `json:"preTokens"`
		After   int64  `json:"postTokens,omitempty"`
	}
)

// meta is a line that a program inserted.
func meta(text string) lineOut {
	return lineOut{Type: "user", Meta: true, Message: &messageOut{Role: "user", Content: text}}
}

// usageOf returns a request's usage, as the program counts it.
func usageOf(u *skein.Usage, tier string) *usageOut {
	out := &usageOut{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output, Tier: tier}
	if u.CacheHour > 0 {
		out.cachedOut = &cachedOut{}
		out.Created.Minutes, out.Created.Hour = u.CacheWrite-u.CacheHour, u.CacheHour
	}
	return out
}
