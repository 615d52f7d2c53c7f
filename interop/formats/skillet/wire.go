package skillet

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

// An item is the content of item_json: in the spelling of the Agents SDK or, in rows
// after a compaction, of the Responses API.
type item struct {
	Type      string         `json:"type"` // "" is a message
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	CallID    string         `json:"callId"`
	CallWire  string         `json:"call_id"`
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Status    string         `json:"status"`
	Content   jsontext.Value `json:"content"`

	Arguments jsontext.Value `json:"arguments"`
	Action    jsontext.Value `json:"action"`
	Operation jsontext.Value `json:"operation"`
	Output    jsontext.Value `json:"output"`
	Tools     jsontext.Value `json:"tools"`

	RawContent    jsontext.Value `json:"rawContent"`
	Summary       jsontext.Value `json:"summary"`
	Encrypted     jsontext.Value `json:"encryptedContent"`
	EncryptedWire jsontext.Value `json:"encrypted_content"`
	Provider      jsontext.Value `json:"providerData"`
}

// call returns the ID that pairs a call with its result.
func (it *item) call() string { return cmp.Or(it.CallID, it.CallWire, it.ID) }

// wire reports whether a message is in the spelling of the API: the SDK gives
// a user's message no status.
func (it *item) wire() bool { return it.Role != "assistant" && it.Status != "" }

// reasoned is what providerData has of a reasoning item.
type reasoned struct {
	Summary   jsontext.Value `json:"summary"`
	Encrypted jsontext.Value `json:"encryptedContent"`
	Wire      jsontext.Value `json:"encrypted_content"`
}

// A piece is an element of a content list, or the output of a tool.
type piece struct {
	Type     string         `json:"type"`
	Text     *skein.Text    `json:"text"`
	Refusal  *skein.Text    `json:"refusal"`
	Image    jsontext.Value `json:"image"`     // a URL, or {"id": …}
	ImageURL jsontext.Value `json:"image_url"` // as Image, in the API's spelling
	File     jsontext.Value `json:"file"`      // base64, a URL, {"id": …} or {"url": …}
	FileData jsontext.Value `json:"file_data"`
	FileURL  jsontext.Value `json:"file_url"`
	FileName string         `json:"filename"`
	Audio    jsontext.Value `json:"audio"` // base64, or {"id": …}
	Format   string         `json:"format"`
	Data     jsontext.Value `json:"data"` // of a computer call's screenshot
	Provider jsontext.Value `json:"providerData"`
}

// A logged is a line of a log.
type logged struct {
	Kind  string         `json:"kind"`
	Input jsontext.Value `json:"userInput"`
	Step  *step          `json:"stepResult"`
	Final *final         `json:"finalResult"`
	Time  string         `json:"timestamp"`
	Model string         `json:"model"` // PROVIDER/MODEL
}

// A step is what an agent did.
type step struct {
	Type      string     `json:"type"`
	Agent     string     `json:"agentName"`
	To        string     `json:"toAgentName"`
	Tool      string     `json:"toolName"`
	Arguments skein.Text `json:"toolArgumentsStr"`
	Result    skein.Text `json:"result"`
	Text      skein.Text `json:"text"`
}

type final struct {
	Text skein.Text `json:"text"`
}
