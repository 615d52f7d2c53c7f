package loose

import "strings"

// Request returns a name for the request to which a provider gave an ID; "" if it gave
// none. Short numbers are not unique: Ollama draws those of chatcmpl-86 and resp_123456
// (middleware/openai.go), and several proxies take the second. The name then has where,
// too, which tells such requests apart.
func Request(id, where string) string {
	n, chat := strings.CutPrefix(id, "chatcmpl-")
	if !chat {
		n, chat = strings.CutPrefix(id, "resp_")
	}
	if chat && len(n) <= len("1767000000") && strings.Trim(n, "0123456789") == "" {
		return id + "/" + where
	}
	return id
}
