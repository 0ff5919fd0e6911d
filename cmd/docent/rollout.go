package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gopkg.in/yaml.v3"

	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

type rolloutCmd struct {
	List    rolloutListCmd    `cmd:"" help:"The newest rollouts, and the releases that kiosks may show."`
	Show    rolloutShowCmd    `cmd:"" help:"How far a rollout is, with each kiosk."`
	Start   rolloutStartCmd   `cmd:"" help:"Roll out a release that is published."`
	Approve rolloutApproveCmd `cmd:"" help:"Let the group begin that waits for it."`
	Pause   rolloutPauseCmd   `cmd:"" help:"Let no further kiosk begin."`
	Resume  rolloutResumeCmd  `cmd:"" help:"Go on, in spite of the failures there were."`
	Abort   rolloutAbortCmd   `cmd:"" help:"Stop for good: kiosks that are not done keep what they had."`
	Back    rolloutBackCmd    `cmd:"" help:"Bring the release before back to all kiosks of the newest rollout."`
}

// rolloutPlan are the flags that say by which plan kiosks get a release.
type rolloutPlan struct {
	Rollout  string `help:"YAML file with the groups of kiosks that get the release one after the other. Without it all get it at once." type:"existingfile" placeholder:"FILE" xor:"plan"`
	Canary   string `help:"These try the release before all others: a share such as 10%, or names as SITE/KIOSK,SITE/KIOSK." placeholder:"WHICH" xor:"plan"`
	Approval bool   `help:"With --canary: the others wait for docent rollout approve."`
}

// plan is the plan as JSON, empty where none was asked for.
func (p rolloutPlan) plan() (json.RawMessage, error) {
	switch {
	case p.Rollout != "":
		return readPlan(p.Rollout)
	case p.Canary != "":
		return canaryPlan(p.Canary, p.Approval)
	case p.Approval:
		return nil, usageError{fmt.Errorf("--approval goes with --canary")}
	}
	return nil, nil
}

// readPlan reads a plan from a file of YAML.
func readPlan(path string) (json.RawMessage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, rollout.MaxPlan+1))
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	var in map[string]any
	if err := yaml.Unmarshal(data, &in); err != nil || len(data) > rollout.MaxPlan {
		return nil, usageError{fmt.Errorf("read plan %s: %w", path, cmp.Or(err, rollout.ErrPlan))}
	}
	if in == nil { // a file that was cut short must not mean: all kiosks at once
		return nil, usageError{fmt.Errorf("read plan %s: there is no plan in it", path)}
	}
	plan, err := json.Marshal(in)
	if err == nil {
		_, err = rollout.DecodePlan(plan)
	}
	if err != nil {
		return nil, usageError{fmt.Errorf("read plan %s: %w", path, err)}
	}
	return plan, nil
}

// canaryPlan is a plan of some kiosks first and then all others.
func canaryPlan(which string, approval bool) (json.RawMessage, error) {
	first := rollout.Group{Name: "canary"}
	if share, is := strings.CutSuffix(which, "%"); is {
		n, err := strconv.Atoi(share)
		if err != nil || n < 1 {
			return nil, usageError{fmt.Errorf("--canary: %q is no share: whole numbers from 1%% to 100%% are", which)}
		}
		first.Percent = n
	} else {
		for name := range strings.SplitSeq(which, ",") {
			var k rollout.Kiosk
			if err := k.UnmarshalText([]byte(strings.TrimSpace(name))); err != nil {
				return nil, usageError{fmt.Errorf("--canary: %w", err)}
			}
			first.Kiosks = append(first.Kiosks, k)
		}
	}
	p := rollout.Everybody()
	p.Groups[0].Approval = approval
	p.Groups = append([]rollout.Group{first}, p.Groups...)
	if err := p.Validate(); err != nil {
		return nil, usageError{fmt.Errorf("--canary: %w", err)}
	}
	return json.Marshal(p)
}

// asked is who and where a command about rollouts comes from.
type asked struct {
	hubPage
	By string `help:"Who asks; the rollout's history names them. The name of this account, unless said otherwise." placeholder:"NAME"`
}

func (a asked) by() string {
	if a.By != "" {
		return a.By
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// toldRollout is what the hub tells of a rollout.
type toldRollout struct {
	rollout.Rollout
	Tallies []rollout.Tally               `json:"tallies"`
	Kiosks  []rollout.Member              `json:"kiosks"`
	Unknown []rollout.Kiosk               `json:"unknown"`         // of Kiosks, those that the hub does not know
	Doing   map[rollout.Kiosk]wire.Deploy `json:"doing,omitempty"` // of Kiosks, what those that are at it said last
}

// next is a command to type next, for the same hub.
func (p hubPage) next(command string) string {
	if p.Hub == "" || p.Hub == defaultHub {
		return command
	}
	return command + " --hub " + p.Hub
}

// defaultHub is the default of hubPage's address.
const defaultHub = "http://127.0.0.1:8081"

type rolloutListCmd struct {
	hubPage
	JSON string `name:"json" help:"Write the list to this file, - for standard output." placeholder:"FILE"`
}

func (c rolloutListCmd) Run(ctx context.Context, t *terminal) error {
	var in struct {
		Rollouts []toldRollout     `json:"rollouts"`
		Releases []rollout.Release `json:"releases"`
		Lacking  []rollout.Release `json:"lacking"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/v1/rollouts", nil, &in); err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, in); err != nil || !inWords {
		return err
	}
	if len(in.Rollouts) == 0 {
		_, err := fmt.Fprintln(t.out, "No release has been rolled out yet. Publish one: "+c.next("docent gallery publish BUNDLE"))
		return err
	}
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROLLOUT\tRELEASE\tSTATE\tSHOWN BY\tFAILED\tAT IT\tWAITING\tBEGAN")
	for _, r := range in.Rollouts {
		sum := total(r.Tallies)
		name := r.Release.ID
		if r.Back {
			name += " (back)"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d of %d\t%d\t%d\t%d\t%s\n", r.ID, name, r.State.Words(), sum.Succeeded, sum.Total(), sum.Failed, sum.Running, sum.Waiting, r.CreatedAt.Local().Format(time.DateTime))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(t.out, "\nReleases that kiosks may show: %s\n", cmp.Or(numbers(in.Releases), "none")); err != nil {
		return err
	}
	if len(in.Lacking) > 0 {
		_, err := fmt.Fprintf(t.out, "Signed too, but this hub does not have all of them: %s. Publish their bundles again: %s\n",
			numbers(in.Lacking), c.next("docent gallery publish BUNDLE"))
		return err
	}
	return nil
}

func numbers(releases []rollout.Release) string {
	var all []string
	for _, r := range releases {
		all = append(all, fmt.Sprint(r.Number))
	}
	return strings.Join(all, ", ")
}

func total(tallies []rollout.Tally) (sum rollout.Tally) {
	for _, t := range tallies {
		sum.Merge(t)
	}
	return sum
}

// find is the rollout of an id, or the newest where none is given.
func (p hubPage) find(ctx context.Context, id string) (string, error) {
	if id != "" {
		return url.PathEscape(id), nil
	}
	var in struct {
		Rollouts []toldRollout `json:"rollouts"`
	}
	if err := p.call(ctx, http.MethodGet, "/api/v1/rollouts", nil, &in); err != nil {
		return "", err
	}
	if len(in.Rollouts) == 0 {
		return "", fmt.Errorf("no release has been rolled out yet")
	}
	return in.Rollouts[0].ID, nil
}

type rolloutShowCmd struct {
	hubPage
	ID   string `arg:"" optional:"" help:"Name of the rollout; the newest unless given."`
	JSON string `name:"json" help:"Write it to this file, - for standard output." placeholder:"FILE"`
}

func (c rolloutShowCmd) Run(ctx context.Context, t *terminal) error {
	id, err := c.find(ctx, c.ID)
	if err != nil {
		return err
	}
	var r toldRollout
	if err := c.call(ctx, http.MethodGet, "/api/v1/rollouts/"+id, nil, &r); err != nil {
		return err
	}
	if inWords, err := t.report(c.JSON, r); err != nil || !inWords {
		return err
	}
	c.printRollout(t.out, r)
	table := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nKIOSK\tGROUP\tSTATE\tWHY")
	for _, m := range r.Kiosks {
		state, why := r.saysOf(m)
		fmt.Fprintf(table, "%s/%s\t%s\t%s\t%s\n", m.Kiosk.Site, m.Kiosk.Kiosk, r.Plan.Groups[m.Group].Name, state, why)
	}
	fmt.Fprintln(table, "\nWHEN\tWHAT\tBY\t")
	for _, e := range r.History {
		fmt.Fprintf(table, "%s\t%s %s\t%s\t%s\n", e.At.Local().Format(time.DateTime), e.What, e.Group, e.By, inWords(e.Reason))
	}
	return table.Flush()
}

// saysOf is how far a kiosk is, and why.
func (r toldRollout) saysOf(m rollout.Member) (state, why string) {
	state = string(m.State)
	if m.State == rollout.Going && m.BegunAt.IsZero() {
		state = "told, no answer yet"
	}
	if m.Late != "" && string(m.Late) != state {
		state += ", then " + string(m.Late)
	}
	why = strings.Trim(m.Code+": "+m.Detail, ": ")
	if d, ok := r.Doing[rollout.Kiosk(m.Kiosk)]; ok {
		why = doing(d)
	}
	if slices.Contains(r.Unknown, rollout.Kiosk(m.Kiosk)) {
		why = strings.TrimPrefix(why+"; this hub does not know this kiosk", "; ")
	}
	return state, why
}

// doing says what a kiosk is at, and what it waits for.
func doing(d wire.Deploy) string {
	said := strings.ReplaceAll(string(d.Status), "_", " ")
	switch {
	case d.Status == wire.DeployPauseBeforeInstall:
		said = "waits until nobody is there"
	case d.Status == wire.DeployDownloading && d.Of > 0:
		said = fmt.Sprintf("%s, %d %%", said, 100*d.Done/d.Of)
	}
	return strings.TrimSuffix(said+": "+strings.Trim(d.Code+": "+d.Detail, ": "), ": ")
}

// printRollout says how far a rollout is.
func (p hubPage) printRollout(w io.Writer, r toldRollout) {
	fmt.Fprintf(w, "Rollout %s of release %s is %s", r.ID, r.Release.ID, r.State.Words())
	if why := inWords(r.Reason); why != "" {
		fmt.Fprintf(w, ": %s", why)
	}
	fmt.Fprintln(w, ".")
	for i, t := range r.Tallies {
		state := "has not begun"
		switch {
		case i < r.Begun:
			state = fmt.Sprintf("%d of %d show it, %d failed, %d at it", t.Succeeded, t.Total(), t.Failed, t.Running)
			if t.Away > 0 {
				state += fmt.Sprintf(", %d never answered", t.Away)
			}
			if t.Aborted > 0 {
				state += fmt.Sprintf(", %d aborted", t.Aborted)
			}
		case i == r.Begun && r.State == rollout.Waiting:
			state = "waits for " + p.next("docent rollout approve")
		}
		fmt.Fprintf(w, "  %s: %s\n", r.Plan.Groups[i].Name, state)
	}
}

// inWords says why a rollout is paused or stopped.
func inWords(r rollout.Reason) string {
	switch r.Code {
	case "":
		return ""
	case rollout.TooManyFailed:
		return fmt.Sprintf("%d of the %d kiosks of group %s failed", r.N, r.Of, r.Group)
	case rollout.TooFewSucceed:
		return fmt.Sprintf("only %d of the %d kiosks of group %s show it", r.N, r.Of, r.Group)
	case rollout.NobodyTried:
		return fmt.Sprintf("no kiosk of group %s was there to try it", r.Group)
	case rollout.Superseded:
		return "rollout " + r.Text + " took over"
	case rollout.NotPublished:
		return "its release was not published"
	}
	return strings.TrimSuffix(strings.TrimSpace("by "+cmp.Or(r.By, "staff")+": "+r.Text), ":")
}

type rolloutStartCmd struct {
	asked
	rolloutPlan
	Number int `help:"Number of the release; the newest unless given. A lower one takes kiosks back." placeholder:"N"`
}

func (c rolloutStartCmd) Run(ctx context.Context, t *terminal) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	in := map[string]any{"by": c.by(), "number": c.Number}
	if plan != nil {
		in["plan"] = plan
	}
	var r toldRollout
	if err := c.call(ctx, http.MethodPost, "/api/v1/rollouts", in, &r); err != nil {
		return err
	}
	c.printRollout(t.out, r)
	return nil
}

// rolloutWord asks the hub to do something with a rollout.
type rolloutWord struct {
	asked
	ID string `arg:"" optional:"" help:"Name of the rollout; the newest unless given."`
}

func (c rolloutWord) do(ctx context.Context, t *terminal, word, reason string) error {
	id, err := c.find(ctx, c.ID)
	if err != nil {
		return err
	}
	var r toldRollout
	if err := c.call(ctx, http.MethodPost, "/api/v1/rollouts/"+id+"/"+word, map[string]any{"by": c.by(), "reason": reason}, &r); err != nil {
		return err
	}
	c.printRollout(t.out, r)
	return nil
}

type (
	rolloutApproveCmd struct{ rolloutWord }
	rolloutPauseCmd   struct {
		rolloutWord
		Reason string `help:"Why, for those who look later." placeholder:"TEXT"`
	}
	rolloutResumeCmd struct{ rolloutWord }
	rolloutAbortCmd  struct {
		rolloutWord
		Reason string `help:"Why, for those who look later." placeholder:"TEXT"`
	}
	rolloutBackCmd struct{ rolloutWord }
)

func (c rolloutApproveCmd) Run(ctx context.Context, t *terminal) error {
	return c.do(ctx, t, "approve", "")
}
func (c rolloutPauseCmd) Run(ctx context.Context, t *terminal) error {
	return c.do(ctx, t, "pause", c.Reason)
}
func (c rolloutResumeCmd) Run(ctx context.Context, t *terminal) error {
	return c.do(ctx, t, "resume", "")
}
func (c rolloutAbortCmd) Run(ctx context.Context, t *terminal) error {
	return c.do(ctx, t, "abort", c.Reason)
}
func (c rolloutBackCmd) Run(ctx context.Context, t *terminal) error { return c.do(ctx, t, "back", "") }
