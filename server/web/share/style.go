package share

// StyleNames returns the names of the style sheets that the pages of links need.
func StyleNames() []string { return []string{"style.css", "views.css", "session.css", "share.css"} }
