package claudecode

// Inputs of Claude Code's tools.
type (
	bashIn struct {
		Command     string `json:"command"`
		Timeout     int64  `json:"timeout,omitempty"` // milliseconds
		Description string `json:"description,omitempty"`
	}
	readIn struct {
		Path   string `json:"file_path"`
		Offset int64  `json:"offset,omitempty"`
		Limit  int64  `json:"limit,omitempty"`
	}
	writeIn struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
	}
	editIn struct {
		Path string `json:"file_path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
		All  bool   `json:"replace_all,omitempty"`
	}
	globIn struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path,omitempty"`
	}
	grepIn struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path,omitempty"`
		Glob    string `json:"glob,omitempty"`
		Mode    string `json:"output_mode,omitempty"`
		NoCase  bool   `json:"-i,omitempty"`
		Around  int64  `json:"-C,omitempty"`
	}
	fetchIn struct {
		URL    string `json:"url"`
		Prompt string `json:"prompt"`
	}
	searchIn struct {
		Query string `json:"query"`
	}
	taskIn struct {
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Type        string `json:"subagent_type"`
	}
	todoIn struct {
		Todos []todo `json:"todos"`
	}
	todo struct {
		Content string `json:"content"`
		Status  string `json:"status"`
		Active  string `json:"activeForm"`
	}
)
