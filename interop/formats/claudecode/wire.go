package claudecode

// line is a record as it is in a file; see the package comment. A field of an
// unexpected type reads as if it were missing: a later version may use it
// differently, and the record is kept whole anyway.
type line struct {
	Type             str         `json:"type"`
	UUID             str         `json:"uuid"`
	Parent           str         `json:"parentUuid"`
	LogicalParent    str         `json:"logicalParentUuid"`
	Session          str         `json:"sessionId"`
	Timestamp        str         `json:"timestamp"`
	Cwd              str         `json:"cwd"`
	Version          str         `json:"version"`
	Branch           str         `json:"gitBranch"`
	Entrypoint       str         `json:"entrypoint"`
	Request          str         `json:"requestId"`
	AgentID          str         `json:"agentId"`
	Slug             str         `json:"slug"`
	Subtype          str         `json:"subtype"`
	Level            str         `json:"level"`
	Error            str         `json:"error"`
	Summary          str         `json:"summary"`
	Leaf             str         `json:"leafUuid"`
	CustomTitle      str         `json:"customTitle"`
	AITitle          str         `json:"aiTitle"`
	PromptSource     str         `json:"promptSource"`
	ParentToolUse    str         `json:"parentToolUseID"`
	SourceToolUse    str         `json:"sourceToolUseID"`
	Sidechain        flag        `json:"isSidechain"`
	Meta             flag        `json:"isMeta"`
	CompactSummary   flag        `json:"isCompactSummary"`
	APIError         flag        `json:"isApiErrorMessage"`
	APIErrorStatus   number      `json:"apiErrorStatus"`
	Message          message     `json:"message"`
	Cost             dollars     `json:"costUSD"` // of the request; only older versions wrote it
	ToolUseResult    raw         `json:"toolUseResult"`
	Origin           origin      `json:"origin"`
	Attachment       attachment  `json:"attachment"`
	Data             progress    `json:"data"`
	Compact          compactMeta `json:"compactMetadata"`
	Retracted        strs        `json:"retractedMessageUuids"`
	Supersedes       strs        `json:"supersedesUuids"`
	SnapshotOf       str         `json:"messageId"`
	Snapshot         raw         `json:"snapshot"`
	SourceAssistant  str         `json:"sourceToolAssistantUUID"`
	VisibleOnlyInLog flag        `json:"isVisibleInTranscriptOnly"`
}

type message struct {
	ID      str    `json:"id"`
	Model   str    `json:"model"`
	Content raw    `json:"content"`
	Stop    str    `json:"stop_reason"`
	Usage   *usage `json:"usage"`
}

type usage struct {
	Input      number `json:"input_tokens"`
	Output     number `json:"output_tokens"`
	CacheWrite number `json:"cache_creation_input_tokens"`
	CacheRead  number `json:"cache_read_input_tokens"`
	Created    cached `json:"cache_creation"`
	Tier       str    `json:"service_tier"`
	Speed      str    `json:"speed"` // fast, standard
}

// cached divides the tokens written to the cache.
type cached struct {
	Minutes number `json:"ephemeral_5m_input_tokens"`
	Hour    number `json:"ephemeral_1h_input_tokens"`
}

// block is one block of a message's content.
type block struct {
	Type      str         `json:"type"`
	Text      raw         `json:"text"`
	Thinking  raw         `json:"thinking"`
	ID        str         `json:"id"`
	Name      str         `json:"name"`
	Input     raw         `json:"input"`
	ToolUseID str         `json:"tool_use_id"`
	Content   raw         `json:"content"`
	IsError   flag        `json:"is_error"`
	Source    *blobSource `json:"source"`
	Title     str         `json:"title"`
}

type blobSource struct {
	Type  str  `json:"type"` // base64, url, text, file
	Media str  `json:"media_type"`
	Data  text `json:"data"`
	URL   str  `json:"url"`
}

// toolUseResult has the facts of a tool's rich result that are kept.
type toolUseResult struct {
	AgentID     str    `json:"agentId,omitzero"`
	Status      str    `json:"status,omitzero"`
	FilePath    str    `json:"filePath,omitzero"`
	Persisted   str    `json:"persistedOutputPath,omitzero"`
	Background  str    `json:"backgroundTaskId,omitzero"`
	Exit        number `json:"exitCode,omitzero"`
	Code        number `json:"code,omitzero"`
	Interrupted flag   `json:"interrupted,omitzero"`
	Searches    number `json:"searchCount,omitzero"`
}

type origin struct {
	Kind str `json:"kind"`
}

type attachment struct {
	Type   str `json:"type"`
	Prompt raw `json:"prompt"`
	Mode   str `json:"commandMode"`
}

type progress struct {
	Type    str `json:"type"`
	AgentID str `json:"agentId"`
}

type compactMeta struct {
	Trigger    str    `json:"trigger"`
	PreTokens  number `json:"preTokens"`
	PostTokens number `json:"postTokens"`
}

// agentMeta is the file agent-<id>.meta.json beside a sub-agent's.
type agentMeta struct {
	Type        str `json:"agentType"`
	Description str `json:"description"`
	ToolUse     str `json:"toolUseId"`
	Parent      str `json:"parentAgentId"`
}
