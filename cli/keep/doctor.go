package keep

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/inspect"
)

type doctorOptions struct{ repair, quick, json bool }

// NewDoctor returns the command doctor.
func NewDoctor(f *job.Frame) *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor [--quick|--repair]",
		Short: "check that the store is intact",
		Long: `Check the whole store: its pages, every event, source record and blob, the
search index, the usage totals, leases, permissions, free disk space, and the
age of the newest backup; and check that the logs of the sessions that skein ran
match the store. With --quick, leave out what takes long in a large store, and
check only the newest events. With --repair, repair whatever can be repaired
without loss. If the file has damaged pages or can no longer be opened, a new
store is made of everything that can be read; the damaged file is kept beside
it, and what is lost is listed. The exit code is 1 if anything is damaged, or
stays damaged.`,
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(o.open),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().BoolVar(&o.quick, "quick", false, "check only what takes little time")
	c.Flags().BoolVar(&o.repair, "repair", false, "repair what can be repaired")
	c.MarkFlagsMutuallyExclusive("quick", "repair")
	job.JSONFlag(c, &o.json)
	return c
}

// open opens the store, from what can be salvaged if need be, and examines it.
func (o *doctorOptions) open(ctx context.Context, j *job.Job, _ []string) (err error) {
	var n findings
	err = j.Begin(ctx)
	var broken inspect.Salvager
	if o.repair && errors.As(err, &broken) {
		if err = o.tell(j, broken.Salvage(ctx), &n); err == nil {
			err = j.Begin(ctx)
		}
	}
	if err != nil {
		return job.Unopened(j, err)
	}
	defer func() { err = errors.Join(err, j.Whole.Close()) }()
	return o.run(ctx, j, &n)
}

func (o *doctorOptions) run(ctx context.Context, j *job.Job, n *findings) error {
	ex, ok := skein.PartOf[inspect.Examiner](j.Store)
	if !ok {
		return fmt.Errorf("doctor: the store %s cannot be checked", j.Place)
	}
	examiners := []inspect.Examiner{ex}
	if backups := j.BackupLook(); backups != nil {
		examiners = append(examiners, backups)
	}
	if logs := sessions.Logs(j, j.Store); logs != nil && !o.quick {
		examiners = append(examiners, logs)
	}
	for _, ex := range examiners {
		if err := o.tell(j, ex.Examine(ctx, inspect.Examination{Repair: o.repair, Quick: o.quick, Folder: j.Dirs.Owned()}), n); err != nil {
			return err
		}
	}
	j.Say("%s", n.advice())
	if o.quick {
		j.Say("to check every page and event: skein doctor")
	}
	if n.damaged > 0 {
		return fault.ErrSilent
	}
	return nil
}

// tell shows the findings, and counts them in n.
func (o *doctorOptions) tell(j *job.Job, found iter.Seq2[inspect.Finding, error], n *findings) error {
	for f, err := range found {
		if errors.Is(err, skein.ErrCorrupt) {
			err = fault.Advise(err, aboutDamage)
		}
		if err != nil {
			return err
		}
		n.add(f)
		if err := o.show(j, f); err != nil {
			return err
		}
	}
	return nil
}

// findings counts findings.
type findings struct {
	damaged, warnings, mendable, mended int

	lasting int // damaged, and cannot be repaired
}

func (n *findings) add(f inspect.Finding) {
	switch {
	case f.Mended:
		n.mended++
		return
	case f.Level == inspect.Damaged:
		n.damaged++
	case f.Level == inspect.Warning:
		n.warnings++
	}
	switch {
	case f.Mendable:
		n.mendable++
	case f.Level == inspect.Damaged:
		n.lasting++
	}
}

const aboutDamage = "what is not damaged can be read and exported; to go back to an earlier state: skein restore-backup FILE, or a database's own backups"

// advice says in one line what was found, and what to do next.
func (n *findings) advice() string {
	bad := n.damaged + n.warnings
	switch {
	case n.mendable > 0 && n.mendable == bad:
		return "repair it: skein doctor --repair"
	case n.mendable > 0 && n.lasting == 0:
		return fmt.Sprintf("repair %d of %d: skein doctor --repair", n.mendable, bad)
	case n.mendable > 0:
		return fmt.Sprintf("repair %d of %d: skein doctor --repair\n%s", n.mendable, bad, aboutDamage)
	case n.lasting > 0:
		return aboutDamage
	case n.mended > 0 && bad == 0:
		return "repaired; all is well now"
	case n.warnings > 0:
		return "nothing is damaged"
	}
	return "all is well"
}

func (o *doctorOptions) show(j *job.Job, f inspect.Finding) error {
	if o.json {
		return job.WriteJSON(j.Stdout, f)
	}
	p := j.Paint
	mark := map[inspect.Level]string{inspect.Fine: p.Green("ok     "), inspect.Warning: p.Yellow("warning"), inspect.Damaged: p.Red("damaged")}[f.Level]
	if f.Mended {
		mark = p.Green("mended ")
	}
	width, lead, head := j.Terminal.Columns(), strings.Repeat(" ", 22), fmt.Sprintf("%-13s", f.Area)
	if width > 0 && width < narrow {
		lead, head = "    ", f.Area+"\n    "
	}
	lines := findingLines(f)
	if width > 0 {
		for i := range lines {
			lines[i] = terminal.Fill(lines[i], width-len(lead), lead)
		}
	}
	_, err := fmt.Fprintf(j.Stdout, "%s  %s%s\n", mark, p.Bold(head), strings.Join(lines, "\n"+lead))
	return err
}

// maxLines is how many lines of one finding are shown to people.
const maxLines = 5

// findingLines returns the text of f, cleaned and shortened: SQLite's message about
// a damaged file can go on for pages.
func findingLines(f inspect.Finding) []string {
	text := f.Text
	if f.Session != "" {
		text = fmt.Sprintf("session %s: %s", f.Session, text)
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if n := len(lines) - maxLines; n > 1 {
		lines = append(lines[:maxLines], fmt.Sprintf("… %d more lines; --json has them", n))
	}
	for i := range lines {
		lines[i] = render.Line(lines[i])
	}
	return lines
}

// narrow is the width of a terminal, in columns, below which a finding starts on a
// line of its own.
const narrow = 60
