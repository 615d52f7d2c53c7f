package roster

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// An API is a protocol for requests to models.
type API string

// The APIs.
const (
	Anthropic API = "anthropic" // Anthropic's Messages
	Responses API = "responses" // OpenAI's Responses
	Chat      API = "chat"      // OpenAI's Chat Completions, which many servers support
	Google    API = "google"    // Google's Gemini
)

// APIs returns all of them.
func APIs() []API { return []API{Anthropic, Responses, Chat, Google} }

// A Provider says where models are and which API reaches them.
type Provider struct {
	API     API
	BaseURL string   // "" for the vendor's default
	BaseEnv string   // environment variable that sets BaseURL; "" for none
	NotEnv  string   // variable that sets the URL of an API of the vendor's that is not supported here; "" for none
	KeyEnv  []string // environment variables that may have the key
	Keyless bool     // it works without a key
}

// known returns the providers that need no configuration.
func known() map[string]Provider {
	return map[string]Provider{
		"anthropic":  {API: Anthropic, BaseEnv: "ANTHROPIC_BASE_URL", KeyEnv: []string{"ANTHROPIC_API_KEY"}},
		"openai":     {API: Responses, BaseEnv: "OPENAI_BASE_URL", KeyEnv: []string{"OPENAI_API_KEY"}},
		"google":     {API: Google, BaseEnv: "GOOGLE_OPENAI_BASE_URL", NotEnv: "GOOGLE_GEMINI_BASE_URL", KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
		"openrouter": {API: Chat, BaseURL: "https://openrouter.ai/api/v1", BaseEnv: "OPENROUTER_BASE_URL", KeyEnv: []string{"OPENROUTER_API_KEY"}},
		"groq":       {API: Chat, BaseURL: "https://api.groq.com/openai/v1", BaseEnv: "GROQ_BASE_URL", KeyEnv: []string{"GROQ_API_KEY"}},
		"mistral":    {API: Chat, BaseURL: "https://api.mistral.ai/v1", BaseEnv: "MISTRAL_BASE_URL", KeyEnv: []string{"MISTRAL_API_KEY"}},
		"deepseek":   {API: Chat, BaseURL: "https://api.deepseek.com", BaseEnv: "DEEPSEEK_BASE_URL", KeyEnv: []string{"DEEPSEEK_API_KEY"}},
		"xai":        {API: Chat, BaseURL: "https://api.x.ai/v1", BaseEnv: "XAI_BASE_URL", KeyEnv: []string{"XAI_API_KEY"}},
		"ollama":     {API: Chat, BaseURL: "http://localhost:11434/v1", BaseEnv: "OLLAMA_HOST", KeyEnv: []string{"OLLAMA_API_KEY"}, Keyless: true},
		"vllm":       {API: Chat, BaseURL: "http://localhost:8000/v1", BaseEnv: "VLLM_BASE_URL", KeyEnv: []string{"VLLM_API_KEY"}, Keyless: true},
		"lmstudio":   {API: Chat, BaseURL: "http://localhost:1234/v1", BaseEnv: "LMSTUDIO_BASE_URL", KeyEnv: []string{"LMSTUDIO_API_KEY"}, Keyless: true},
	}
}

// Providers returns the names of all providers whose models can be reached,
// sorted; echo and replay are not among them.
func (r *Roster) Providers() []string { return slices.Sorted(maps.Keys(r.providers)) }

// Provider returns the provider of this name, with the base URL from the
// environment if it is set there, and reports whether there is one.
func (r *Roster) Provider(name string) (Provider, bool) {
	p, ok := r.providers[name]
	if ok && p.BaseEnv != "" {
		if at := r.Getenv(p.BaseEnv); at != "" {
			p.BaseURL = at
		}
		if p.BaseEnv == "OLLAMA_HOST" {
			p.BaseURL = ollamaURL(p.BaseURL)
		}
	}
	return p, ok
}

// ollamaURL returns the base URL for the value of OLLAMA_HOST: a host, perhaps
// with a port and a scheme.
func ollamaURL(host string) string {
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	at, path, _ := strings.Cut(rest, "/")
	if name, port, ok := strings.Cut(at, ":"); name == "0.0.0.0" || name == "" {
		at = "localhost" // the value is a listen address
		if ok {
			at += ":" + port
		}
	}
	if !strings.Contains(at, ":") && scheme == "http" {
		at += ":11434"
	}
	return scheme + "://" + at + "/" + cmp.Or(strings.Trim(path, "/"), "v1")
}

// merge returns p, with fields that p leaves empty taken from other.
func (p Provider) merge(other Provider) Provider {
	p.API = cmp.Or(p.API, other.API)
	p.BaseEnv = cmp.Or(p.BaseEnv, other.BaseEnv)
	p.NotEnv = cmp.Or(p.NotEnv, other.NotEnv)
	if p.BaseURL == "" {
		p.BaseURL = other.BaseURL
	} else {
		p.BaseEnv = "" // the configured URL takes precedence
	}
	if len(p.KeyEnv) == 0 {
		p.KeyEnv = other.KeyEnv
		p.Keyless = p.Keyless || other.Keyless
	}
	return p
}
