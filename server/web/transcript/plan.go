package transcript

// Plan returns the newest list of tasks in t; nil if it has none.
func (t *Transcript) Plan() (tasks []taskItem) {
	for _, item := range t.Items {
		if item.Message == nil {
			continue
		}
		for _, b := range item.Message.Blocks {
			if b.Call != nil && len(b.Call.Tasks) > 0 {
				tasks = b.Call.Tasks
			}
		}
	}
	return tasks
}

// Done returns how many tasks of the plan are done.
func (t *Transcript) Done() (n int) {
	for _, task := range t.Plan() {
		if task.State == "done" {
			n++
		}
	}
	return n
}

// Doing returns the task of the plan that is in progress; "" if none is.
func (t *Transcript) Doing() string {
	for _, task := range t.Plan() {
		if task.State == "doing" {
			return task.Text
		}
	}
	return ""
}
