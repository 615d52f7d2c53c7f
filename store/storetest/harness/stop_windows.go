package harness

// CanStop says that a process can be stopped and continued.
const CanStop = false

// Stop does nothing here; there are no errors.
func (p *Process) Stop() error { return nil }

// GoOn does nothing here; there are no errors.
func (p *Process) GoOn() error { return nil }
