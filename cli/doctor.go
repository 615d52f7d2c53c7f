package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

type doctorOptions struct{ repair, json bool }

func newDoctor(f *frame) *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor [--repair]",
		Short: "look whether the store is whole",
		Long: `Look at the store from the file up: its pages, every event and blob, the search
index, the sums of usage, leases, rights and the room on the disk. With --repair
mend what can be mended without losing anything. It fails if something is
damaged.`,
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),
	}
	c.Flags().BoolVar(&o.repair, "repair", false, "mend what can be mended")
	jsonFlag(c, &o.json)
	return c
}

func (o *doctorOptions) run(ctx context.Context, j *job, _ []string) error {
	ex, ok := j.store.(skein.Examiner)
	if !ok {
		return fmt.Errorf("doctor: the store %s cannot examine itself", j.place.Path)
	}
	damaged, mendable := 0, 0
	for f, err := range ex.Examine(ctx, skein.Examination{Repair: o.repair}) {
		if err != nil {
			return err
		}
		if f.Level == skein.Damaged && !f.Mended {
			damaged++
		}
		if f.Mendable && !f.Mended {
			mendable++
		}
		if err := o.show(j, f); err != nil {
			return err
		}
	}
	switch {
	case mendable > 0:
		j.say("skein doctor --repair mends %s of it", count(mendable, "finding"))
	case damaged > 0:
		j.say("all else can be read and exported; skein restore-backup brings back an earlier state")
	}
	if damaged > 0 {
		return errSilent
	}
	return nil
}

func (o *doctorOptions) show(j *job, f skein.Finding) error {
	if o.json {
		return writeJSON(j.Stdout, f)
	}
	p := j.paint
	mark := map[skein.Level]string{skein.Fine: p.green("ok     "), skein.Warning: p.yellow("warning"), skein.Damaged: p.red("damaged")}[f.Level]
	if f.Mended {
		mark = p.green("mended ")
	}
	text := f.Text
	if f.Session != "" {
		text = fmt.Sprintf("session %s: %s", f.Session, text)
	}
	_, err := fmt.Fprintf(j.Stdout, "%s  %s  %s\n", mark, p.bold(f.Area+strings.Repeat(" ", max(0, 11-len(f.Area)))), render.Line(text))
	return err
}
