package pi

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// Lines as they are written, in the program's order.
type (
	headOut struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
		ID      string `json:"id"`
		Time    string `json:"timestamp"`
		Cwd     string `json:"cwd"`
		Parent  string `json:"parentSession,omitempty"`
	}
	entryOut struct {
		Type   string  `json:"type"`
		ID     string  `json:"id"`
		Parent *string `json:"parentId"`
		Time   string  `json:"timestamp"`
	}
	linearOut struct {
		Type string `json:"type"`
		Time string `json:"timestamp"`
	}
	messageOut struct {
		Message any `json:"message"`
	}
	customOut struct {
		Type    string `json:"customType"`
		Content []any  `json:"content"`
		Display bool   `json:"display"`
	}
	signOut struct {
		Type string `json:"customType"`
	}
	compactOut struct {
		Summary string `json:"summary"`
		Kept    string `json:"firstKeptEntryId"`
		Before  int64  `json:"tokensBefore"`
	}
	modelOut struct {
		Provider string `json:"provider"`
		Model    string `json:"modelId"`
	}
	infoOut struct {
		Name string `json:"name"`
	}
)

// Messages.
type (
	userOut struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
		Time    int64  `json:"timestamp"`
	}
	answerOut struct {
		Role     string   `json:"role"`
		Content  []any    `json:"content"`
		API      string   `json:"api"`
		Provider string   `json:"provider"`
		Model    string   `json:"model"`
		Usage    usageOut `json:"usage"`
		Stop     string   `json:"stopReason"`
		Error    string   `json:"errorMessage,omitempty"`
		Time     int64    `json:"timestamp"`
	}
	resultOut struct {
		Role    string `json:"role"`
		Call    string `json:"toolCallId"`
		Tool    string `json:"toolName"`
		Content []any  `json:"content"`
		Error   bool   `json:"isError"`
		Time    int64  `json:"timestamp"`
	}
	usageOut struct {
		Input      int64   `json:"input"`
		Output     int64   `json:"output"`
		CacheRead  int64   `json:"cacheRead"`
		CacheWrite int64   `json:"cacheWrite"`
		Total      int64   `json:"totalTokens"`
		Cost       costOut `json:"cost"`
	}
	costOut struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cacheRead"`
		CacheWrite float64 `json:"cacheWrite"`
		Total      float64 `json:"total"`
	}
)

// Blocks of a content.
type (
	textOut struct {
		Type string     `json:"type"`
		Text skein.Text `json:"text"`
	}
	thinkingOut struct {
		Type      string     `json:"type"`
		Thinking  skein.Text `json:"thinking"`
		Signature skein.Text `json:"thinkingSignature,omitempty"`
		Redacted  bool       `json:"redacted,omitempty"`
	}
	callBlock struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"arguments"`
	}
	imageOut struct {
		Type  string `json:"type"`
		Data  []byte `json:"data"`
		Media string `json:"mimeType"`
	}
)

func text(s string) textOut { return textOut{"text", skein.Text(s)} }
