package skein

// An Entry is a message as people and programs read it: the pieces of one
// message put together, what was amended in place.
type Entry struct {
	Seq       Seq     `json:"seq"`            // of its first event
	End       Seq     `json:"end"`            // of its last event; the same if it has one
	Time      Time    `json:"time"`           // of its first event
	Turn      int     `json:"turn,omitempty"` // 0 before the first
	Message   Message `json:"message"`
	Rewound   bool    `json:"rewound,omitempty"`
	Compacted bool    `json:"compacted,omitempty"` // it lies under the newest compaction
}
