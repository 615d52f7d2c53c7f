package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/accounts"
)

type shareOptions struct {
	folder          string
	link, list      bool
	end, seen, site string
	days            int
	from, to        int64
	only            string
	show            []string
	without         []int64
}

// NewShare returns the command share.
func NewShare(f *job.Frame) *cobra.Command {
	var o shareOptions
	c := &cobra.Command{
		Use:   "share [NAME] [flags]",
		Short: "share a session, without secrets, as a link or as pages",
		Long: `Share a session, or a part of it, to read. With -o, share writes a folder of
pages that any web server can serve and a browser can open from disk. With
--link, it makes a link that anybody can open who can reach skein serve, until
it expires or --end ends it.

Secrets are hidden, and so are e-mail addresses, names of users and of internal
hosts, network addresses, long random text, attached files, the reasoning of
models, and what programs put into prompts; --show shows a kind of these. First,
share lists what is hidden and what looks suspicious, and asks. Without a
terminal to ask on, it prints a code: repeat the command with --seen CODE.`,
		Example: `skein share 4f1d22a0 -o fixing-the-parser
	skein share 4f1d22a0 --only talk --from 10 --link --days 30
	skein share --list`,
		Args: job.Words(0, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVarP(&o.folder, "output", "o", "", "write pages to the new `FOLDER`")
	c.Flags().BoolVar(&o.link, "link", false, "make a link")
	c.Flags().BoolVar(&o.list, "list", false, "list the links that there are")
	c.Flags().StringVar(&o.end, "end", "", "end the link with this `ID`")
	c.Flags().IntVar(&o.days, "days", 7, "with --link: it works for this many `DAYS`")
	c.Flags().StringVar(&o.site, "site", "http://"+usualAddress, "with --link: the `URL` by which others reach skein serve")
	c.Flags().Int64Var(&o.from, "from", 0, "share from the message with this `SEQ` on")
	c.Flags().Int64Var(&o.to, "to", 0, "share up to the message with this `SEQ`")
	c.Flags().StringVar(&o.only, "only", "", "share only a `KIND` of content: talk, prompts or changes")
	c.Flags().StringSliceVar(&o.show, "show", nil, "do not hide this `KIND`: "+strings.Join(share.Shown(), ", "))
	c.Flags().Int64SliceVar(&o.without, "without", nil, "leave out the message with this `SEQ`; can be repeated")
	c.Flags().StringVar(&o.seen, "seen", "", "do not ask: share what has this `CODE`")
	c.MarkFlagsMutuallyExclusive("output", "link", "list", "end")
	return c
}

func (o *shareOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if (o.list || o.end != "") == (len(args) > 0) {
		return fault.Usage("share needs the NAME of a session, or --list or --end alone")
	}
	if o.list || o.end != "" {
		shares, err := sharesOf(j)
		if err != nil {
			return err
		}
		if o.list {
			return listShares(ctx, j, shares)
		}
		switch err := shares.RemoveShare(ctx, j.Owner(), o.end); {
		case errors.Is(err, skein.ErrNotFound):
			return fault.Advise(fault.Missing("no link %q", o.end), "list the links: skein share --list")
		case err != nil:
			return err
		}
		j.Say("the link %s is ended", o.end)
		return nil
	}
	return o.share(ctx, j, args[0])
}

// sharesOf returns the links of the store.
func sharesOf(j *job.Job) (accounts.Shares, error) {
	if shares, ok := skein.PartOf[accounts.Shares](j.Whole); ok {
		return shares, nil
	}
	return nil, fault.Advise(fault.Usage("this store keeps no links"), "make the link in the dashboard of its server, or share pages: skein share NAME -o FOLDER")
}

// shows returns what the flags choose.
func (o *shareOptions) shows() (share.SharedPart, error) {
	q := url.Values{"show": o.show, "mode": {o.only}}
	if o.only != "" && transcript.ModeOf(o.only) == transcript.ModeAll {
		return share.SharedPart{}, fault.Usage("--only %s: want talk, prompts or changes", o.only)
	}
	for name, n := range map[string]int64{"from": o.from, "to": o.to} {
		if n != 0 {
			q.Set(name, strconv.FormatInt(n, 10))
		}
	}
	for _, n := range o.without {
		q.Add("without", strconv.FormatInt(n, 10))
	}
	return share.Parse(q)
}

func (o *shareOptions) share(ctx context.Context, j *job.Job, name string) error {
	if _, err := siteOf("site", o.site); err != nil {
		return err
	}
	one, err := sessions.Named(ctx, j, name)
	if err != nil {
		return err
	}
	shows, err := o.shows()
	if err != nil {
		return err
	}
	p, err := share.Look(ctx, j.Store, one, shows, redact.New())
	if err != nil {
		return err
	}
	tellPreview(j, p)
	if !o.link && o.folder == "" {
		j.Say("nothing is shared yet: -o FOLDER writes pages, --link makes a link")
		return nil
	}
	if may, err := o.agreed(ctx, j, p); err != nil || !may {
		return err
	}
	if o.link {
		return o.makeLink(ctx, j, one, p)
	}
	return o.write(ctx, j, one, p)
}

// agreed reports whether the person agrees to share p.
func (o *shareOptions) agreed(ctx context.Context, j *job.Job, p *share.Preview) (bool, error) {
	switch {
	case o.seen == p.Seen():
		return true, nil
	case o.seen != "":
		return false, fault.Advise(fault.Usage("nothing was shared: --seen %s is the code of something else than what would be shared now", o.seen), "look at the list above; its code is %s", p.Seen())
	case !j.Terminal.In:
		return false, fault.Advise(fault.Usage("nothing was shared: without a terminal to ask on, this needs --seen"), "look at the list above, then add --seen %s", p.Seen())
	}
	answer, err := j.Ask(ctx, job.Question{Text: "Share it?"})
	if err == nil && answer != job.Yes {
		j.Say("nothing was shared")
	}
	return answer == job.Yes, err
}

// tellPreview says what would be shared.
func tellPreview(j *job.Job, p *share.Preview) {
	j.Say("%s: %s", p.Title, terminal.Count(p.Messages, "message"))
	for _, h := range p.Hidden {
		j.Say("  hidden: %s, %s%s", h.Kind, terminal.Count(h.Times, "time"), places(h.Seqs))
	}
	for _, l := range p.LeftOut {
		j.Say("  left out: %s, %s", l.What, terminal.Count(l.Times, "time"))
	}
	if p.Unread > 0 {
		j.Say("  left out: %s that cannot be read", terminal.Count(p.Unread, "message"))
	}
	for _, s := range p.Suspicious {
		j.Say("  look at #%d: %s: %s", s.Seq, s.Kind, render.Clip(s.Before+s.Text+s.After, 90))
	}
	if p.More > 0 {
		j.Say("  and %d more to look at", p.More)
	}
}

// places returns where something is, for people.
func places(seqs []skein.Seq) string {
	var all []string
	for _, seq := range seqs[:min(len(seqs), 5)] {
		all = append(all, fmt.Sprintf("#%d", seq))
	}
	if len(all) == 0 {
		return ""
	}
	return " in " + strings.Join(all, ", ")
}

func (o *shareOptions) makeLink(ctx context.Context, j *job.Job, one skein.Session, p *share.Preview) error {
	shares, err := sharesOf(j)
	if err != nil {
		return err
	}
	links := share.Links{Shares: shares, Now: j.Now}
	a, path, err := links.Add(ctx, one, p, p.Seen(), "skein share", o.days)
	if err != nil {
		return err
	}
	j.Say("it works until %s, while skein serve runs; skein share --end %s ends it", a.Expires.Std().Local().Format("2006-01-02 15:04"), a.ID)
	_, err = fmt.Fprintln(j.Stdout, strings.TrimSuffix(o.site, "/")+path)
	return err
}

func (o *shareOptions) write(ctx context.Context, j *job.Job, one skein.Session, p *share.Preview) error {
	dir, err := j.Absolute(o.folder)
	if err != nil {
		return err
	}
	b := share.Bundle{Dir: dir, Order: share.StyleNames(), Styles: map[string][]byte{}}
	for _, name := range b.Order {
		if b.Styles[name], err = web.Style(name); err != nil {
			return err
		}
	}
	first, err := b.Write(ctx, j.Store, one.ID, p)
	if errors.Is(err, fs.ErrExist) {
		return fault.Advise(err, "name a folder that does not exist yet")
	}
	if err != nil {
		return err
	}
	j.Say("open %s to see it, before you publish the folder", j.Tilde(first))
	_, err = fmt.Fprintln(j.Stdout, filepath.Clean(first))
	return err
}

// listShares lists the links of this user.
func listShares(ctx context.Context, j *job.Job, shares accounts.Shares) error {
	all, err := shares.Shares(ctx, j.Owner(), "")
	if err != nil {
		return err
	}
	t := &terminal.Table{Columns: []terminal.Column{{Title: "LINK", Paint: j.Paint.Cyan}, {Title: "SESSION", Rank: 1}, {Title: "UNTIL", Rank: 2}, {Title: "OPENED", Rank: 3, Right: true}, {Title: "MADE BY", Rank: 4}}}
	for i := range all {
		a := &all[i]
		until := a.Expires.Std().Local().Format("2006-01-02 15:04")
		if a.Expires <= skein.At(j.Now()) {
			until = "expired"
		}
		t.Rows = append(t.Rows, []string{a.ID, sessions.ShortID(a.Session), until, strconv.FormatInt(a.Views, 10), render.Line(a.By)})
	}
	return j.Table(j.Stdout, t)
}
